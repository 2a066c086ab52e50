package insight

import "loupe/analysis/facts"

// What the source shows of what a wait is for.

// tellSource says it of a wait, as far as it is one of these.
func tellSource(in *Input, t *traced, w *waiting, reason string, f *Finding) {
	tellEvent(in, t, w, reason, f)
	tellUnflushed(in, t, w, reason, f)
	if reason == "file_call" {
		tellSynced(in, w.calledFrames(t), heldFor(w, reason), w.count, w.share(), f)
	}
	tellMisses(in, t, w, f)
	tellPartMade(in, t, w, f)
}

// inEach is the end of a sentence about how much of something each unit of a group has; there is none where the group is one.
func inEach(g facts.UnitGroup) string {
	if g.Wall.Count == 1 {
		return ""
	}
	return " in each"
}
