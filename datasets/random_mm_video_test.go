package datasets

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"benchtop/internal/hf/media"
)

// A request holds its images and videos in the order in which they were drawn. The first video that fails ends the data
// set.
func TestRandomMMVideos(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	program := func(script string) {
		t.Helper()
		fine(t, os.WriteFile(filepath.Join(folder, "ffmpeg"), []byte("#!/bin/sh\n"+script), 0o755))
	}
	program(`cat >/dev/null; for file; do :; done; echo "a video" >"$file"`)
	o := tiny()
	o.Prompts, o.BaseItems, o.ItemsRatio, o.Buckets = 12, 2, 0,
		media.Buckets{bucket(2, 2, 1, 0.5), bucket(4, 2, 3, 0.5)}
	drawn := must(newRandomMM(o, newToy(t, "identity", 97, nil, 0)))(t)
	source := must(mmFlow(o, newToy(t, "identity", 97, nil, 0)))(t)
	for _, got := range drain(t, source) {
		want := ""
		must(drawn.draw(func(b media.Bucket) {
			drawn.prompts.gen.Bytes(b.Size())
			want += b.Modality() + " "
		}))(t)
		var parts []struct {
			Type     string
			VideoURL struct{ URL string } `json:"video_url"`
		}
		fine(t, json.Unmarshal(fmt.Appendf(nil, "[%s]", got.Turns[0].Media), &parts))
		kinds := ""
		for _, part := range parts {
			kinds += strings.TrimSuffix(part.Type, "_url") + " "
			if part.Type == "video_url" {
				same(t, "video", part.VideoURL.URL,
					"data:video/mp4;base64,"+base64.StdEncoding.EncodeToString([]byte("a video\n")))
			}
		}
		same(t, "media", kinds, want)
	}
	same(t, "end of the description", source.About[strings.Index(source.About, "with 2"):],
		"with 2 random images or videos each of 2 by 2 pixels (50 %) or 4 by 2 pixels and 3 frames (50 %)")

	program("echo it is broken >&2; exit 1")
	source = must(mmFlow(o, newToy(t, "identity", 97, nil, 0)))(t)
	var err error
	for err == nil {
		_, err = source.Next()
	}
	complains(t, err, "dataset random-mm, request mm-", "a video of 4 by 2 pixels and 3 frames: ffmpeg: it is broken")
	_, again := source.Next()
	same(t, "error", again.Error(), err.Error())

	t.Setenv("PATH", t.TempDir())
	complains(t, failure(openKind(t, "random-mm", Common{Prompts: 1},
		given{"random-mm-bucket-config": "{(4, 4, 2): 1}"})),
		"dataset random-mm: --random-mm-bucket-config: videos are encoded by ffmpeg, which is not on the PATH; "+
			"install it",
		"or set the weight of buckets with more than one frame to 0")
}
