package media

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"benchtop/internal/assert"
)

// painted is a picture made of a formula.
func painted(w, h int, at func(x, y int) color.RGBA) []byte {
	samples := make([]byte, 0, 3*w*h)
	for i := range w * h {
		c := at(i%w, i/w)
		samples = append(samples, c.R, c.G, c.B)
	}
	return samples
}

// psnr is how close a JPEG is to the samples that it was made of, in dB.
func psnr(t testing.TB, file, samples []byte, w, h int) float64 {
	t.Helper()
	picture, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatalf("%d by %d: %v", w, h, err)
	}
	if got := picture.Bounds(); got != image.Rect(0, 0, w, h) ||
		picture.(*image.YCbCr).SubsampleRatio != image.YCbCrSubsampleRatio420 {
		t.Fatalf("%d by %d: got %v", w, h, got)
	}
	sum := 0.0
	for i := range w * h {
		r, g, b, _ := picture.At(i%w, i/w).RGBA()
		for k, got := range [3]uint32{r, g, b} {
			d := float64(got>>8) - float64(samples[3*i+k])
			sum += d * d
		}
	}
	return 10 * math.Log10(255*255*float64(3*w*h)/max(sum, 1e-9))
}

// standard is a file of image/jpeg.
func standard(t testing.TB, samples []byte, w, h int) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(picture.Pix[4*i:], samples[3*i:3*i+3])
		picture.Pix[4*i+3] = 0xff
	}
	var b bytes.Buffer
	assert.Fine(t, jpeg.Encode(&b, picture, &jpeg.Options{Quality: jpegQuality}))
	return b.Bytes()
}

// Files are as good as those of image/jpeg, at about the same length, whatever the picture and its size.
func TestJPEG(t *testing.T) {
	noise := rand.New(rand.NewPCG(1, 2))
	pictures := map[string]func(x, y int) color.RGBA{
		"black": func(x, y int) color.RGBA { return color.RGBA{} },
		"white": func(x, y int) color.RGBA { return color.RGBA{255, 255, 255, 255} },
		"red":   func(x, y int) color.RGBA { return color.RGBA{255, 0, 0, 255} },
		"blue":  func(x, y int) color.RGBA { return color.RGBA{0, 0, 255, 255} },
		"noise": func(x, y int) color.RGBA {
			v := noise.Uint32()
			return color.RGBA{byte(v), byte(v >> 8), byte(v >> 16), 255}
		},
		"black and white noise": func(x, y int) color.RGBA {
			v := -byte(noise.Uint32() & 1)
			return color.RGBA{v, v, v, 255}
		},
		"gradient": func(x, y int) color.RGBA { return color.RGBA{byte(x * 2), byte(y * 2), byte(x + y), 255} },
		"board":    func(x, y int) color.RGBA { v := -byte((x ^ y) & 1); return color.RGBA{v, v, v, 255} },
		"edges":    func(x, y int) color.RGBA { v := -byte(x >> 2 & 1); return color.RGBA{v, v ^ 0xff, v, 255} },
		"photo": func(x, y int) color.RGBA {
			f := func(a, b float64) byte { return byte(128 + 60*math.Sin(float64(x)/a) + 60*math.Cos(float64(y)/b)) }
			return color.RGBA{f(7, 11), f(13, 5), f(3, 17), 255}
		},
	}
	var e jpegEncoder // as in use, for all
	for name, at := range pictures {
		for _, size := range [][2]int{{1, 1}, {2, 3}, {8, 8}, {15, 17}, {16, 16}, {17, 15}, {33, 64}, {100, 1},
			{1, 100}, {160, 120}} {
			w, h := size[0], size[1]
			samples := painted(w, h, at)
			got, want := e.appendJPEG(nil, samples, w, h), standard(t, samples, w, h)
			if ours, theirs := psnr(t, got, samples, w, h), psnr(t, want, samples, w, h); min(ours,
				45) < min(theirs, 45)-0.3 {
				t.Errorf("%s, %d by %d: %.2f dB, image/jpeg has %.2f", name, w, h, ours, theirs)
			}
			if float64(len(got)) > 1.02*float64(len(want))+16 {
				t.Errorf("%s, %d by %d: %d bytes, image/jpeg takes %d", name, w, h, len(got), len(want))
			}
		}
	}
}

func BenchmarkJPEG(b *testing.B) {
	noise := rand.New(rand.NewPCG(1, 2))
	samples := make([]byte, 3*1920*1080)
	for i := range samples {
		samples[i] = byte(noise.Uint32())
	}
	b.Run("ours", func(b *testing.B) {
		var e jpegEncoder
		var dst []byte
		for b.Loop() {
			dst = e.appendJPEG(dst[:0], samples, 1920, 1080)
		}
		b.ReportMetric(float64(len(dst)), "bytes")
	})
	b.Run("standard", func(b *testing.B) {
		for b.Loop() {
			standard(b, samples, 1920, 1080)
		}
	})
}

func FuzzJPEG(f *testing.F) {
	f.Add(uint16(17), uint16(33), []byte("seed"), uint8(0))
	f.Add(uint16(1), uint16(1), []byte{255, 0, 0}, uint8(1))
	f.Add(uint16(64), uint16(48), []byte{255, 255, 255, 0, 0, 0}, uint8(2))
	var e jpegEncoder
	f.Fuzz(func(t *testing.T, width, height uint16, seed []byte, smooth uint8) {
		w, h := int(width%200)+1, int(height%200)+1
		if len(seed) == 0 {
			return
		}
		samples := make([]byte, 3*w*h)
		for i := range samples { // the seed over and over, each time a little other
			samples[i] = seed[i%len(seed)] + byte(i/len(seed))*(smooth&7)
		}
		got := e.appendJPEG([]byte("before"), samples, w, h)
		ours, theirs := psnr(t, got[len("before"):], samples, w, h), psnr(t, standard(t, samples, w, h), samples, w, h)
		// few steps may be rounded with more luck or less; a wrong one costs far more
		if min(ours, 40) < min(theirs, 40)-3 {
			t.Errorf("%d by %d: %.2f dB, image/jpeg has %.2f", w, h, ours, theirs)
		}
	})
}
