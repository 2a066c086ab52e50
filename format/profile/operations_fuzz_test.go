package profile_test

import (
	"io"
	"regexp"
	"runtime"
	"testing"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// FuzzOperations decodes anything and does with it whatever the bits of ops
// say, one after the other: no panic, and memory in proportion to the input.
func FuzzOperations(f *testing.F) {
	opt := profiletest.Options{Raw: true, Types: pictureOptions.Types}
	for _, ops := range []uint16{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 0xffff} {
		f.Add(profiletest.Encode(picture, opt), ops, "main|parse", "kind")
	}
	f.Add([]byte("main;f;g 3\nmain;f 1.6\n"), uint16(0xffff), "f", "")
	f.Add([]byte("heap profile: 1: 16 [2: 32] @ heap/1048576\n1: 16 [2: 32] @ 0x1 0x2\n"), uint16(0xfff), "", "bytes")
	f.Fuzz(func(t *testing.T, data []byte, ops uint16, expression, key string) {
		re, err := regexp.Compile(expression)
		if err != nil || len(data) > 1<<16 || len(key) > 100 {
			return
		}
		p, err := profile.Decode(data, profile.Options{MaxBytes: 1 << 18})
		if err != nil {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		operate(p, ops, re, key)
		runtime.ReadMemStats(&after)
		size := uint64(p.Len()+len(p.Locations)) * uint64(8+len(p.SampleTypes))
		if p.Stacks != nil {
			for _, id := range p.StackIDs {
				size += uint64(len(p.Stacks.Frames(id)))
			}
			size += uint64(p.Stacks.NumFrames())
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<24+4000*uint64(len(data))+2000*size {
			t.Errorf("%d bytes with %d samples and locations: the operations %b have allocated %d", len(data), size, ops, used)
		}
	})
}

// operate applies operations, the lowest bit first.
func operate(p *profile.Profile, ops uint16, re *regexp.Regexp, key string) {
	for bit := range 16 {
		if ops>>bit&1 == 0 {
			continue
		}
		switch bit {
		case 0:
			p, _ = p.FilterNames(profile.NameFilter{Focus: re})
		case 1:
			p, _ = p.FilterNames(profile.NameFilter{Hide: re})
		case 2:
			p, _ = p.FilterNames(profile.NameFilter{Show: re, Ignore: re})
		case 3:
			p, _ = p.ShowFrom(re)
		case 4:
			p = p.PruneFrom(re)
		case 5:
			p, _, _ = p.LabelFrames([]string{key}, []string{key, "bytes"}, func(l profile.Label) string { return l.Str })
		case 6:
			if sum, err := profile.Merge(p, p.Negate(), p); err == nil {
				p = sum
			}
		case 7:
			if q, err := p.RemoveUninteresting(); err == nil {
				p = q
			}
		case 8:
			p = p.WithoutInlines(false)
		case 9:
			p = p.FilterLabels(func(k string) bool { return k != key })
		case 10:
			p = p.WithLabel(key, "true")
		case 11:
			p = p.WithMappings(true, func(m []profile.Mapping) { m[0].File = key })
		case 12:
			if q, err := p.Normalize(p); err == nil {
				p = q
			}
		case 13:
			p.LabelUnits()
			p.HasLabels(key)
		case 14:
			_ = p.WriteRaw(io.Discard) // to nowhere
		case 15:
			_ = p.Encode(io.Discard)
		}
	}
}
