package serve

import (
	"context"
	"fmt"
	"strconv"

	"loupe/capture/scrape"
	"loupe/format/profile"
	"loupe/store"
	"loupe/store/intake"
)

// names are what the kinds of profiles are called in the store, as Pyroscope's clients call
// them.
var names = map[string]string{
	"cpu": "process_cpu", "allocs": "memory", "heap": "memory", "mutex": "mutex", "block": "block", "goroutine": "goroutine",
	"goroutineleak": "goroutineleak",
}

// take keeps a profile that was taken of a target.
func (s *serving) take(ctx context.Context, one *scrape.Scrape) (samples int64, err error) {
	p, err := profile.Decode(one.Data, profile.Options{MaxBytes: 1 << 30})
	if err != nil {
		return 0, fmt.Errorf("its profile %s: %w", one.Kind.Name, err)
	}
	if one.Kind.Name == "cpu" && len(p.Values) > 0 {
		for _, v := range p.Values[0] {
			samples += v
		}
	}
	var labels []store.Label
	for name, value := range one.Target.Labels {
		labels = append(labels, store.Label{Name: name, Value: value})
	}
	a := &intake.Arrival{
		Labels: store.MakeLabels(labels), Name: names[one.Kind.Name], Profile: p, At: one.Begin,
		ID: store.IDOf([]byte(one.Target.Key()), []byte(one.Kind.Name), []byte(strconv.FormatInt(one.Begin.UnixNano(), 10))),
	}
	if p.Duration > 0 {
		a.Duration = p.Duration
	}
	return samples, s.in.Add(ctx, a)
}
