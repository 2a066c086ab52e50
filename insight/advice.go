package insight

import "loupe/value/unit"

// Advice must do no harm to who follows it mechanically. What holds only under a
// condition is given where the recording proves it, and else with the condition.

// reuse says what must hold before a buffer is used again. Where a heap profile
// shows what the line has made as still in use, somebody keeps it, and one buffer
// for all of them would make them all the same.
func reuse(in *Input, g *reasonLine) string {
	kept, known := int64(0), false
	if heap, err := in.Facts.Kept(); err == nil && !heap.Entry.Partial {
		kept, known = heap.At(g.at), true
	}
	switch {
	case known && kept > 0:
		return "Do not use one again for the next: " + unit.BytesOf(float64(kept)) + " of what this line has made were still in use in the heap profile, so somebody keeps them; one buffer for all would overwrite what is kept."
	case known:
		return "None of it was in use in the heap profile: if nothing that is called keeps the slice or a part of it (a string cut from it with unsafe, a field, a channel, a goroutine), the caller can bring one and use it again."
	}
	return "To use one again is safe only where nothing keeps the slice or a part of it (a field, a map, a channel, a goroutine, what is returned): else what is kept is overwritten. A heap profile (-phases heap) shows whether any is."
}

// whenDone stands behind every advice to put something into a sync.Pool: who puts back
// what is still in use gives it to two.
const whenDone = " Put each one back once, and only when nothing uses it or a part of it any more: what is returned, stored, sent or read by a goroutine later on would be overwritten by whoever takes it out next."
