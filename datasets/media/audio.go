package media

import (
	"path/filepath"
	"strings"
	"time"
)

// Audio is a recording that a request carries as a file. It is shared between requests and must not be changed.
type Audio struct {
	Name     string // of the file, without its folders
	Type     string // MIME type
	Data     []byte // the whole file
	Duration time.Duration
}

// audioTypes are the MIME types of extensions as Python's mimetypes gives them, with the entries of Debian's mime.types for those that
// Python's own table lacks.
var audioTypes = map[string]string{
	".wav":  "audio/x-wav",
	".flac": "audio/flac",
	".mp3":  "audio/mpeg",
	".mpga": "audio/mpeg",
	".ogg":  "audio/ogg",
	".oga":  "audio/ogg",
	".opus": "audio/opus",
	".m4a":  "audio/mp4",
	".mp4":  "video/mp4",
}

// AudioType is the MIME type of a file with that name, as vLLM's client sends it.
func AudioType(name string) string {
	if t, known := audioTypes[strings.ToLower(filepath.Ext(name))]; known {
		return t
	}
	return "application/octet-stream"
}
