package insight

import (
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

// heapGrowth is the memory in use over the looks of a growth phase: those of one process, each
// after a collection of its own.
func heapGrowth(r *Rule, in *Input) *facts.Growth {
	return in.Facts.Growth(recording.Heap, "inuse_space", r.param("looks")).Judged(true, r.param("looks"))
}

// mayLookAgain tells whether a recording with the phase growth would show more: not of a program that ends by itself, a whole run
// of which is looked at only once, and not where this recording was to have one.
func mayLookAgain(in *Input) bool {
	m := in.Session.Manifest()
	return !endsItself(in) && !slices.ContainsFunc(m.Phases, func(p recording.Phase) bool { return p.Name == "growth" }) &&
		!slices.ContainsFunc(m.Notes, func(n string) bool { return strings.HasPrefix(n, "no growth:") })
}

// lookAgain is what is added to a sentence about one look where a recording with several would show more.
func lookAgain(in *Input, text string) string {
	if !mayLookAgain(in) {
		return ""
	}
	return text
}

// growingLines are the lines of the user's code at which memory was allocated of
// which more and more is in use, at most three of them. What grows besides them is
// most often a consequence: what the runtime has for each goroutine.
func growingLines(r *Rule, in *Input) (all []Evidence) {
	g := heapGrowth(r, in)
	if g == nil {
		return nil
	}
	steepest := 0.0
	for _, s := range g.Sites {
		if !s.User || !s.Grows(r.param("p")) || facts.LevelledOff(g.Times, s.Values) {
			continue
		}
		if steepest = max(steepest, s.Slope.Estimate); len(all) == 3 || s.Slope.Estimate < 0.05*steepest {
			break
		}
		all = append(all, in.fileAt(g.Last, s.At, s.Frames, "memory in use that was allocated here: %s more in %s, %s MB a minute [%s, %s]",
			unit.BytesOf(s.Grew()), g.Length(), perMinute(s.Slope.Estimate), perMinute(s.Slope.Low), perMinute(s.Slope.High)))
	}
	return all
}

// perMinute prints bytes a second as MB a minute.
func perMinute(v float64) string { return unit.Number(v * 60 / (1 << 20)) }
