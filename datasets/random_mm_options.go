package datasets

import "math"

// RandomMMOptions describes random prompts with random images beside them.
type RandomMMOptions struct {
	RandomOptions

	BaseItems      int         `json:"base_items_per_request"`   // how many media a request holds
	ItemsRatio     float64     `json:"num_mm_items_range_ratio"` // how far their number strays, in [0, 1]
	Limits         MediaLimits `json:"limit_mm_per_prompt"`      // how many a request may hold of each modality
	Buckets        Buckets     `json:"bucket_config"`            // their shapes
	MultimodalChat bool        `json:"multimodal_chat"`          // send prompts as chat messages, with their media inside
}

// RandomMMDefaults are vLLM's: RandomDefaults with one image each.
func RandomMMDefaults() RandomMMOptions {
	return RandomMMOptions{RandomOptions: RandomDefaults(), BaseItems: 1, Limits: DefaultMediaLimits(), Buckets: DefaultBuckets()}
}

// Bounds on media. Those on images are what JPEG and memory can hold.
const (
	maxItems   = 1 << 16
	maxSide    = 1<<16 - 1
	maxSamples = 1 << 30 // of a request
)

// Validate reports every problem with the options.
func (o RandomMMOptions) Validate() error {
	p := o.RandomOptions.problems()
	if o.Batch > 1 {
		p.add("batch size %d must be 1: chat takes one prompt a request", o.Batch)
	}
	o.checkBuckets(p)
	if !(o.ItemsRatio >= 0 && o.ItemsRatio <= 1) {
		p.add("items range ratio %v must be between 0 and 1", o.ItemsRatio)
	}
	p.between("items per request", o.BaseItems, 0, maxItems)
	if len(*p) > 0 { // what follows from options that are wrong says nothing
		return p.of("random-mm")
	}
	m := newMediaDraws(o, p)
	for _, b := range m.buckets {
		if samples := float64(b.samples()) * float64(m.hi); samples > maxSamples {
			p.add("requests of %d items of %d by %d pixels hold %.3g bytes, more than memory should be asked for; ask for fewer or smaller ones",
				m.hi, b.Height, b.Width, samples)
		}
	}
	return p.of("random-mm")
}

// checkBuckets looks at each bucket, also at those that are never drawn.
func (o RandomMMOptions) checkBuckets(p *problems) {
	sum := 0.0
	for _, b := range o.Buckets {
		name := Buckets{b}.String()
		if b.Frames < 1 {
			p.add("bucket %s: the number of frames %d must be at least 1", name, b.Frames)
		} else if _, ok := o.Limits[b.modality()]; !ok {
			p.add("bucket %s: there is no limit for %ss; give one, 0 if there shall be none", name, b.modality())
		}
		if min(b.Height, b.Width) < 1 || max(b.Height, b.Width) > maxSide {
			p.add("bucket %s: height and width must be between 1 and %d", name, maxSide)
		}
		if !(b.Weight >= 0) {
			p.add("bucket %s: the weight %v must not be negative", name, b.Weight)
		}
		if b.Frames > 1 && b.Weight > 0 {
			p.add("bucket %s: videos cannot be made here; set the weight of %d-frame buckets to 0", name, b.Frames)
		}
		sum += b.Weight
	}
	switch {
	case sum == 0:
		p.add("no bucket has a weight above 0")
	case math.IsInf(sum, 1):
		p.add("the weights of all buckets together must be finite")
	}
	for modality, limit := range o.Limits {
		if limit < 0 || limit > math.MaxInt32 {
			p.add("limit %d for %s must be between 0 and %d", limit, modality, math.MaxInt32)
		}
	}
}
