package compare_test

import (
	"math"
	"slices"
	"testing"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// FuzzProfiles compares whatever decodes, in every way: nothing may panic, no
// interval may lie beside its estimate, and the call paths with the rest are
// the whole change.
func FuzzProfiles(f *testing.F) {
	heap := profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes", "inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10, Raw: true}
	f.Add(profiletest.Encode("main.f main.f\nmain.g main.h\n= 10 20\n= 640 1000000\n= 0 3\n= 0 192\n@ bytes=64 k=v", heap), profiletest.Encode("main.f\n= 1\n= 9\n= 1\n= 9", heap), uint8(0))
	plain := profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 1e9, Raw: true}
	f.Add(profiletest.Encode("main.f ?\nmain.f\n= 10 -20\n= 100 -200", plain), profiletest.Encode("main.f\n= 100\n= 1000", plain), uint8(7))
	f.Add([]byte("main.f;main.g 12\nmain.f 30\n"), []byte("main.f;main.h 50\n"), uint8(9))
	f.Fuzz(func(t *testing.T, first, second []byte, way uint8) {
		a, err := profile.Decode(first, profile.Options{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		b, err := profile.Decode(second, profile.Options{MaxBytes: 1 << 20})
		if err != nil {
			return
		}
		as, bs := one(a), one(b)
		if way&1 != 0 {
			as, bs = append(as, b), append(bs, a)
		}
		opt := compare.ProfileOptions{Cum: way&2 != 0, FoldGenerics: way&4 != 0}
		opt.By.By = []string{"function", "package", "file", "line", "label"}[way>>3%5]
		opt.By.Label = "bytes"
		for i := range 5 {
			x := opt
			x.Share, x.Normalize = i == 1, i == 2
			if i > 2 {
				x.Per = []string{"second", "sample"}[i-3]
			}
			d, err := compare.Profiles(as, bs, x)
			if err != nil {
				continue
			}
			sum := d.Rest
			for _, p := range d.Paths {
				sum += p.Difference.Estimate
			}
			if want := d.Total.Difference.Estimate; !negative(a, b) && math.Abs(sum-want) > 1e-6*(math.Abs(d.Total.A)+math.Abs(d.Total.B)) {
				t.Errorf("paths and rest make %g of %g", sum, want)
			}
			for _, r := range d.Rows {
				for _, x := range []compare.ProfileDelta{r.Flat, r.Cum} {
					slack := 1e-9 * (math.Abs(x.A) + math.Abs(x.B))
					if i := x.Difference; i.Low > i.Estimate+slack || i.High < i.Estimate-slack || x.P < 0 || x.P > 1 || x.Significance == "" {
						t.Errorf("%s: %+v", r.Name, x)
					}
				}
			}
		}
	})
}

// negative tells whether some value is: then the total is that of the absolute
// values, as in pprof, and no longer the sum.
func negative(profiles ...*profile.Profile) bool {
	for _, p := range profiles {
		for _, column := range p.Values {
			if len(column) > 0 && slices.Min(column) < 0 {
				return true
			}
		}
	}
	return false
}
