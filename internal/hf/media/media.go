// Package media is images, videos and recordings in prompts: their parts of a chat message, random ones as vLLM draws
// them, and those that files name, loaded. Videos are encoded by the program ffmpeg.
package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"benchtop/internal/jsonscan"
)

// Image and Video turn a file's "image" or "video" into a content part of the chat API.
func Image(raw []byte) (json.RawMessage, error) {
	source, err := Source("image", raw)
	return URLPart("image", ImageURL(source)), err
}

// Video is Image for a video.
func Video(raw []byte) (json.RawMessage, error) {
	source, err := Source("video", raw)
	return URLPart("video", address(source, "http://", "https://", "file://")), err
}

// Source is the address or path that the field of that name has as its value.
func Source(field string, value []byte) (string, error) {
	if !jsonscan.IsString(value) {
		return "", fmt.Errorf("expected %q to be a URL or a path: got %s", field, jsonscan.Kind(value))
	}
	return jsonscan.Text(value), nil
}

// ImageURL is the address of an image's source.
func ImageURL(source string) string {
	return address(source, "http://", "https://", "file://", "data:image/")
}

// address is that of a source. A string that is no address of a known scheme names a file on the server.
func address(source string, schemes ...string) string {
	for _, scheme := range schemes {
		if strings.HasPrefix(source, scheme) {
			return source
		}
	}
	return "file://" + source
}

// URLPart is a content part that gives the address of an image or a video.
func URLPart(kind, url string) json.RawMessage {
	return fmt.Appendf(nil, `{"type":"%s_url","%[1]s_url":{"url":%s}}`, kind, jsonscan.Quote(url))
}

// AppendPart appends a content part to others, with a comma between them.
func AppendPart(parts, part []byte) []byte {
	if len(parts) > 0 && len(part) > 0 {
		parts = append(parts, ',')
	}
	return append(parts, part...)
}

// Load reads the file or the address that a source names. The error does not name it.
func Load(ctx context.Context, client *http.Client, source string) ([]byte, error) {
	if strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://") {
		return fetch(ctx, client, source)
	}
	path, isURL := strings.CutPrefix(source, "file://")
	if isURL {
		if unescaped, err := url.PathUnescape(path); err == nil {
			path = unescaped
		}
	}
	return load(path, maxBytes)
}

func fetch(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	var response *http.Response
	if err == nil {
		response, err = client.Do(request)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return nil, outer.Err // without the method and the address, which the caller names
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", response.Status)
	}
	return readBounded(response.Body, maxBytes)
}

// readBounded reads all there is, and fails if that is more than limit bytes.
func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than %d MiB", limit>>20)
	}
	return data, err
}
