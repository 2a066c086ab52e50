package insight

import (
	"fmt"
	"math"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// readings are what runtime/metrics told in the rounds; the answer says why there is
// nothing to judge.
func (r *Rule) readings(in *Input, names ...string) (all []*facts.Readings, none []Finding) {
	for _, one := range facts.ReadingsOf(in.Facts) {
		has := true
		for _, name := range names {
			has = has && len(one.Values(name)) > 0
		}
		if has {
			all = append(all, one)
		}
	}
	if len(all) == 0 {
		return nil, []Finding{r.answer(TooLittle, "runtime/metrics has no readings of %s in %s: the program's Go version is too old, or the time too short", names[0], in.where())}
	}
	return all, nil
}

// readFrom is evidence of runtime/metrics in a round.
func readFrom(from *facts.Readings, format string, args ...any) Evidence {
	return Evidence{Text: fmt.Sprintf(format, args...), Path: from.Entry.Path, Phase: from.Round.Phase.Name, Span: span(from.Round.Phase.Span)}
}

// mostCollecting is the collector's share of the busy time in the round in which it is largest;
// NaN where nothing tells. base says of what: "of the busy time".
func mostCollecting(in *Input) (share float64, source string, round *facts.Round) {
	share = math.NaN()
	for i := range in.Facts.Rounds {
		if s, from := gcShare(in, &in.Facts.Rounds[i]); !math.IsNaN(s) && !(s <= share) {
			share, source, round = s, from, &in.Facts.Rounds[i]
		}
	}
	return share, source, round
}

// limited tells, of the readings of a round, in which part of them the limit of memory and
// not GOGC decided when to collect: the goal is well below what GOGC alone makes of the
// live heap, the stacks and the globals (mgcpacer.go).
func limited(r *facts.Readings) (share float64) {
	goal, live := r.Values("/gc/heap/goal:bytes"), r.Values("/gc/heap/live:bytes")
	stacks, globals := r.Values("/gc/scan/stack:bytes"), r.Values("/gc/scan/globals:bytes")
	gogc, limit := r.Values("/gc/gogc:percent"), r.Values("/gc/gomemlimit:bytes")
	n := min(len(goal), len(live), len(stacks), len(globals), len(gogc), len(limit))
	of := 0
	for i := range n {
		if live[i] == 0 || limit[i] <= 0 || limit[i] > math.MaxInt64/2 {
			continue // before the first collection, or without a limit
		}
		of++
		off := gogc[i] > math.MaxInt32
		if off || goal[i] < 0.9*(live[i]+(live[i]+stacks[i]+globals[i])*gogc[i]/100) {
			share++
		}
	}
	return share / float64(max(1, of))
}

// limitIn is the limit of memory at the last reading, in bytes; 0 for none.
func limitIn(r *facts.Readings) float64 {
	if v := r.Last("/gc/gomemlimit:bytes"); v > 0 && v < math.MaxInt64/2 {
		return v
	}
	return 0
}

// mib prints bytes.
func mib(bytes float64) string { return unit.BytesOf(bytes) }
