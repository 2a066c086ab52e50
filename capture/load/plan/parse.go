package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"loupe/value/unit"
)

// ParseRate reads a rate in requests a second: "1000", "5k/s", "300/m",
// "2.5k", "1M/h", or a number for any time, "50/100ms", as vegeta has it.
func ParseRate(s string) (float64, error) {
	bad := func(why string) (float64, error) {
		return 0, fmt.Errorf("cannot read rate %q: %s (want a form like 1000, 5k/s or 300/m)", s, why)
	}
	number, per, divided := strings.Cut(strings.TrimSpace(s), "/")
	seconds := 1.0
	if divided {
		switch per = strings.TrimSpace(per); per {
		case "s", "sec", "second":
		case "m", "min", "minute":
			seconds = 60
		case "h", "hour":
			seconds = 3600
		default:
			d, err := time.ParseDuration(per)
			if err != nil || d <= 0 {
				return bad(fmt.Sprintf("%q is not a time", per))
			}
			seconds = d.Seconds()
		}
	}
	number = strings.TrimSpace(number)
	scale := 1.0
	if n := len(number); n > 0 {
		switch number[n-1] {
		case 'k', 'K':
			scale, number = 1e3, number[:n-1]
		case 'm', 'M':
			scale, number = 1e6, number[:n-1]
		}
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil || math.IsNaN(x) || strings.ContainsAny(number, "xXpPiI") {
		return bad(fmt.Sprintf("%q is not a number", number))
	}
	rate := x * scale / seconds
	switch {
	case x < 0:
		return bad("it is negative")
	case rate > maxRate:
		return bad("it is more than a thousand million a second")
	}
	return rate, nil
}

// maxStages bounds a list of stages.
const maxStages = 10_000

// ParseStages reads stages, each a length and the rate at its end: in
// "30s:1k,1m:5k,30s:0" the rate rises from 0 to 1,000 a second, on to 5,000,
// and falls to 0. A length of 0 is a jump: "0:1k,1m:1k" is 1,000 for a minute.
func ParseStages(s string) ([]Stage, error) {
	var out []Stage
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		length, rate, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("cannot read stage %q: want LENGTH:RATE (a form like 30s:1k,1m:5k,30s:0)", part)
		}
		d, err := unit.ParseDuration(strings.TrimSpace(length))
		if err != nil {
			return nil, fmt.Errorf("cannot read stage %q: %w", part, err)
		}
		r, err := ParseRate(rate)
		if err != nil {
			return nil, fmt.Errorf("cannot read stage %q: %w", part, err)
		}
		if len(out) == maxStages {
			return nil, fmt.Errorf("cannot read more than %d stages", maxStages)
		}
		out = append(out, Stage{Length: d, Rate: r})
	}
	return out, nil
}

// ParseArrival reads the name of an arrival.
func ParseArrival(s string) (Arrival, error) {
	switch strings.ToLower(s) {
	case "", "uniform":
		return Uniform, nil
	case "poisson":
		return Poisson, nil
	}
	return 0, fmt.Errorf("unknown arrival %q: there are uniform and poisson", s)
}
