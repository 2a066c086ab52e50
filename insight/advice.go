package insight

import (
	"loupe/recording"
	"loupe/unit"
)

// Advice must do no harm to who follows it mechanically. What holds only under a
// condition is given where the recording proves it, and else with the condition.

// reuse says what must hold before a buffer is used again. Where a heap profile
// shows what the line has made as still in use, somebody keeps it, and one buffer
// for all of them would make them all the same.
func reuse(in *Input, g *reasonLine) string {
	kept, known := in.keptAt(g)
	switch {
	case known && kept > 0:
		return "Do not use one again for the next: " + unit.BytesOf(float64(kept)) + " of what this line has made were still in use in the heap profile, so somebody keeps them; one buffer for all would overwrite what is kept."
	case known:
		return "None of it was in use in the heap profile: if nothing that is called keeps the slice or a part of it (a string cut from it with unsafe, a field, a channel, a goroutine), the caller can bring one and use it again."
	}
	return "To use one again is safe only where nothing keeps the slice or a part of it (a field, a map, a channel, a goroutine, what is returned): else what is kept is overwritten. A heap profile (-phases heap) shows whether any is."
}

// keptAt returns how much of what a line has made is in use in the heap profile.
func (in *Input) keptAt(g *reasonLine) (kept int64, known bool) {
	p, entry, err := in.Session.Profile(recording.Heap)
	if err != nil || entry.Partial {
		return 0, false
	}
	index, err := p.Index("inuse_space")
	if err != nil {
		return 0, false
	}
	for id, w := range p.Samples(index) {
		if w <= 0 {
			continue
		}
		for _, f := range p.Stacks.Frames(id) {
			if at := p.Stacks.Frame(f); at.File == g.at.File && at.Line == g.at.Line && at.Func == g.at.Func {
				kept += w
				break
			}
		}
	}
	return kept, true
}
