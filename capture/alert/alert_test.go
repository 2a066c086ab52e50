package alert

import (
	"strings"
	"testing"
	"time"

	"loupe/value/timeline"
)

func TestParse(t *testing.T) {
	ok := func(text, metric string, value float64, percent, rate bool, held, over time.Duration) {
		t.Helper()
		r, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		if r.Metric.Name != metric || r.Value != value || r.Percent != percent || r.Rate != rate || r.For != held || r.Over != over {
			t.Errorf("%s: %+v", text, r)
		}
	}
	ok("rss>50%", "rss", 0.5, true, false, 0, DefaultOver)
	ok("rss > 50 %", "rss", 0.5, true, false, 0, DefaultOver)
	ok("goroutines>10000", "goroutines", 10000, false, false, 0, DefaultOver)
	ok("heap>1.5GB", "heap", 1.5*(1<<30), false, false, 0, DefaultOver)
	ok("cpu>90% for 30s", "cpu", 0.9, true, false, 30*time.Second, DefaultOver)
	ok("heap/s>1MB over 2m", "heap", 1<<20, false, true, 0, 2*time.Minute)
	ok("goroutines/s>=1", "goroutines", 1, false, true, 0, DefaultOver)

	wrong := func(text, want string) {
		t.Helper()
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	wrong("", "should be like")
	wrong("rss", "should be like")
	wrong("colour>5", `no "colour"; known are rss, cgroup`)
	wrong("goroutines>5%", "no whole")
	wrong("goroutines>5MB", "plain number")
	wrong("rss>5 for ever", "not a time")
	wrong("rss>5MB over 1m", "over belongs to rss/s")
	wrong("rss/s>5MB for 1m", "write over 1m")
	wrong("rss>5XB", "5XB")
	wrong("rss>1.2.3", "1.2.3")
}

// feed gives a rule a value a second and returns at which seconds it fires.
func feed(t *testing.T, text string, values ...float64) (at []int, why string) {
	t.Helper()
	r, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		now := Reading{
			At: timeline.Time(i) * timeline.Time(time.Second), Values: map[string]float64{r.Metric.Name: v},
			Wholes: map[string]float64{r.Metric.Name: 1000},
		}
		if w, fires := r.Check(now); fires {
			at, why = append(at, i), w
		}
	}
	return at, why
}

func TestCheck(t *testing.T) {
	f := func(text, want string, seconds []int, values ...float64) {
		t.Helper()
		at, why := feed(t, text, values...)
		if len(at) != len(seconds) || !strings.Contains(why, want) {
			t.Errorf("%s: fires at %v, %q", text, at, why)
			return
		}
		for i := range at {
			if at[i] != seconds[i] {
				t.Errorf("%s: fires at %v, want %v", text, at, seconds)
			}
		}
	}
	f("goroutines>10", "goroutines is 12", []int{2, 5}, 3, 10, 11, 12, 9, 12)
	f("goroutines>1", "goroutines is 1,500", []int{1}, 1, 1500)
	f("goroutines>=10", "goroutines is 10", []int{1}, 3, 10, 11)
	f("goroutines<=10", "goroutines is 10", []int{2}, 12, 11, 10, 9)
	f("goroutines<10", "goroutines is 9", []int{1}, 10, 9, 8)
	if _, why := feed(t, "threads>7", 1, 8); why != "threads is 8" {
		t.Errorf("%q", why)
	}
	f("rss>50%", "rss is 501 B, 50.1% of 1000 B", []int{1}, 500, 501, 900)
	f("goroutines>10 for 2s", "for 2.00 s", []int{5}, 11, 12, 3, 11, 12, 13, 14)

	var rising, noise []float64
	for i := range 90 {
		rising = append(rising, 100+float64(i)*2+float64(i%7))
		noise = append(noise, 100+float64(i*7919%13))
	}
	f("goroutines/s>1", "goroutines changes by 2", []int{48}, rising...)
	f("goroutines/s>1", "", nil, noise...)
	f("goroutines/s>3", "", nil, rising...)

	// What is not known fires nothing.
	r, _ := Parse("rss>50%")
	if _, fires := r.Check(Reading{At: 1, Values: map[string]float64{"heap": 1e12}}); fires {
		t.Error("fires without a figure")
	}
	if _, fires := r.Check(Reading{At: 1, Values: map[string]float64{"rss": 1e12}}); fires {
		t.Error("fires without a limit")
	}
}
