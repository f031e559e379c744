package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// imagePart and videoPart turn a file's "image" or "video" into a content part of the chat API. A string that is no
// address names a file on the server.
func imagePart(raw json.RawMessage) (json.RawMessage, error) {
	return mediaPart("image", raw, "http://", "https://", "file://", "data:image/")
}

func videoPart(raw json.RawMessage) (json.RawMessage, error) {
	return mediaPart("video", raw, "http://", "https://", "file://")
}

func mediaPart(kind string, raw json.RawMessage, schemes ...string) (json.RawMessage, error) {
	var url string
	if err := json.Unmarshal(raw, &url); err != nil {
		return nil, fmt.Errorf("expected %q to be a URL or a path: got %s", kind, jsonKind(raw))
	}
	address := false
	for _, scheme := range schemes {
		address = address || strings.HasPrefix(url, scheme)
	}
	if !address {
		url = "file://" + url
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"%s_url","%s_url":{"url":%s}}`, kind, kind, quoteJSON(url))), nil
}

// chatMessages is one user message that holds a text and, unless it is nil, a media part. The members stand in vLLM's order,
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
