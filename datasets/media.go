package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// imagePart and videoPart turn a file's "image" or "video" into a content part of the chat API.
func imagePart(raw json.RawMessage) (json.RawMessage, error) {
	source, err := mediaSource("image", raw)
	if err != nil {
		return nil, err
	}
	return urlPart("image", imageURL(source)), nil
}

func videoPart(raw json.RawMessage) (json.RawMessage, error) {
	source, err := mediaSource("video", raw)
	if err != nil {
		return nil, err
	}
	return urlPart("video", mediaURL(source, "http://", "https://", "file://")), nil
}

func mediaSource(kind string, raw json.RawMessage) (string, error) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("expected %q to be a URL or a path: got %s", kind, jsonKind(raw))
	}
	return unquote(raw), nil
}

func imageURL(source string) string {
	return mediaURL(source, "http://", "https://", "file://", "data:image/")
}

// mediaURL is the address of a source. A string that is no address of a known scheme names a file on the server.
func mediaURL(source string, schemes ...string) string {
	for _, scheme := range schemes {
		if strings.HasPrefix(source, scheme) {
			return source
		}
	}
	return "file://" + source
}

// urlPart is a content part that gives the address of an image or a video.
func urlPart(kind, url string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"%s_url","%s_url":{"url":%s}}`, kind, kind, quoteJSON(url)))
}

// chatMessages is one user message that holds a text and, unless it is nil, a media part, or several. The members stand in vLLM's order,
// which here is another than in a message made of a bare prompt.
func chatMessages(text string, media json.RawMessage) json.RawMessage {
	if media != nil {
		media = append([]byte{','}, media...)
	}
	return json.RawMessage(fmt.Sprintf(`[{"role":"user","content":[{"text":%s,"type":"text"}%s]}]`, quoteJSON(text), media))
}

// quoteJSON is a JSON string with <, > and & left as they are.
func quoteJSON(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings always encode, and buffers always take them
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
