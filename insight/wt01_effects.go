package insight

import (
	"slices"

	"loupe/value/stack"
)

// What is done under a lock may have an effect, whose order the lock keeps: then it is not to be done without it.

// keepsOrder is what to do about a lock that is held while something is written.
const keepsOrder = "Something is written under the lock, which keeps the writes in the order of the changes: do not just move it out. Let one write carry what several have (collect under the lock, write once for all), or let one goroutine write what the others put in a queue; where only the writes need the order, give them a lock of their own, so that readers do not wait for them."

// effectAdvice is what to do about a lock while whose holder makes what changes something reach a disk or a peer; empty
// where nothing says that it does.
func effectAdvice(c *code, t *traced, w *waiting) string {
	if len(w.causes) == 0 {
		return ""
	}
	cause := &w.causes[0]
	frames := t.Frames(workAt(w.group, cause))
	switch kind := cause.Cause.Kind.Key(); {
	case syncs(frames):
		return syncAdvice + " Do not just move it out of the lock: what is written could then come in another order than the changes."
	case kind == "network_write", kind == "file_call" && slices.Contains([]fileCall{fileWrites, fileMakes}, fileCallOf(frames)):
		return keepsOrder
	}
	var way []stack.Frame
	for _, f := range frames {
		if !t.Scope.IsUser(f) {
			continue
		}
		way = append(way, f)
		if f.Func == w.site.Frame.Func {
			break
		}
	}
	if len(way) == 0 {
		return ""
	}
	if how := changesBy(c, frames, way); how != "" {
		return "What is done under the lock changes something (" + how + "): find out whether the lock keeps these changes in order. If it does, let one call carry what several have (a batch), or let one goroutine send what the others put in a queue. If not, unlock before the call."
	}
	return ""
}
