package insight

import (
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/unit"
)

// heapGrowth is the memory in use over the looks of a growth phase: those of one process, each
// after a collection of its own.
func heapGrowth(r *Rule, in *Input) *facts.Growth {
	return in.Facts.Growth(recording.Heap, "inuse_space", r.param("looks")).Judged(true, r.param("looks"))
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
