package profile_test

import (
	"os"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// BenchmarkDecode reads a heap profile of 50,000 samples next to google/pprof,
// in one run, for only ratios from one run mean something. LOUPE_BENCH_PROFILE
// names a real file to use instead.
func BenchmarkDecode(b *testing.B) {
	data := profiletest.Synthetic(50000, 5000)
	if name := os.Getenv("LOUPE_BENCH_PROFILE"); name != "" {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("loupe", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := profile.Decode(data, profile.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("google", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := google.ParseData(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAllocations holds that samples cost no objects: ten times the samples
// may cost some larger slices, not ten times the allocations.
func TestAllocations(t *testing.T) {
	count := func(samples int) float64 {
		data := profiletest.Synthetic(samples, 200)
		return testing.AllocsPerRun(3, func() { mustDecode(t, data) })
	}
	if few, many := count(1000), count(10000); many > few+100 {
		t.Errorf("decoding allocates %v times for 1,000 samples and %v times for 10,000", few, many)
	}
	p := mustDecode(t, profiletest.Synthetic(1000, 200))
	if n := testing.AllocsPerRun(10, func() {
		for range p.Samples(1) {
		}
	}); n > 2 {
		t.Errorf("walking 1,000 samples allocates %v times", n)
	}
}
