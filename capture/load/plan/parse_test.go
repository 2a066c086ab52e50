package plan

import (
	"math"
	"strings"
	"testing"
)

func TestParseRate(t *testing.T) {
	f := func(in string, want float64) {
		t.Helper()
		if got, err := ParseRate(in); err != nil || math.Abs(got-want) > 1e-9*want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	f("1000", 1000)
	f("5k/s", 5000)
	f("300/m", 5)
	f("2.5K", 2500)
	f("1M/h", 1e6/3600)
	f(" 10 / s ", 10)
	f("50/1s", 50)
	f("50/100ms", 500)
	f("1_000", 1000)
	f("0", 0)
	f("0.5", 0.5)
	for _, bad := range []string{"", "k", "/s", "-1", "5/x", "5/0s", "5/-1s", "1e12", "NaN", "inf", "0x10", "5 per second"} {
		if got, err := ParseRate(bad); err == nil || !strings.Contains(err.Error(), "5k/s") {
			t.Errorf("ParseRate(%q) = %v, %v; want an error with an example", bad, got, err)
		}
	}
}

func TestParseStagesErrors(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got, err := ParseStages(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseStages(%q) = %v, %v; want an error with %q", in, got, err, want)
		}
	}
	f("", "want LENGTH:RATE")
	f("30s", `cannot read stage "30s"`)
	f("30s:1k,", `cannot read stage ""`)
	f("soon:1k", "cannot parse duration")
	f("30s:fast", `"fast" is not a number`)
	f(strings.Repeat("1s:1,", maxStages)+"1s:1", "more than")
}

func TestParseArrival(t *testing.T) {
	for in, want := range map[string]Arrival{"": Uniform, "uniform": Uniform, "Poisson": Poisson} {
		if got, err := ParseArrival(in); err != nil || got != want {
			t.Errorf("ParseArrival(%q) = %v, %v", in, got, err)
		}
	}
	if _, err := ParseArrival("bursts"); err == nil || !strings.Contains(err.Error(), "uniform and poisson") {
		t.Errorf("an unknown arrival: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("30s:1k,1m:5k,30s:0")
	f.Add("0:5k/s,1h:300/m")
	f.Add("1e300:1e300")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseStages(text)
		if err != nil {
			return
		}
		for _, a := range []Arrival{Uniform, Poisson} {
			p, err := Stages(list, Options{Requests: 100, Arrival: a})
			if err != nil {
				return
			}
			if p.String() == "" || p.Peak() <= 0 {
				t.Errorf("%q: %q, peak %v", text, p, p.Peak())
			}
			last := Turn{}
			turns := p.Part(0, 1)
			for turn, ok := turns.Next(); ok; turn, ok = turns.Next() {
				if turn.Due < last.Due {
					t.Errorf("%q: turns do not ascend: %v, %v", text, last, turn)
				}
				last = turn
			}
		}
	})
}
