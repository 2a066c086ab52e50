package insight

import (
	"fmt"
	"strings"

	"loupe/recording"
	"loupe/value/stack"
)

// Holding is what holds memory that a line has allocated, as far as the recording and the
// sources tell.
type Holding struct {
	// By names the place: "the global variable shop.All.open (map[int]*shop.order)"; empty
	// without a core that shows it.
	By string
	// Advice says what to do, Evidence where that can be seen.
	Advice   string
	Evidence []Evidence
	Doubts   []string
	// Keeps tells that the first evidence is the line that keeps it, by the source, which takes nothing out there.
	Keeps bool
	// Bounded tells that the source takes something out when a length is reached, so that it
	// may be a cache that is still filling.
	Bounded bool
}

// HoldingOf asks the sources and the core of a recording what holds what a line allocates.
// The frames are those of a stack that leads there, the leaf first.
func HoldingOf(in *Input, at stack.Frame, frames []stack.Frame) Holding {
	f := Finding{Severity: Warning}
	tellHolder(in, &f, at, frames, heldBy)
	h := Holding{Bounded: f.Severity == Info}
	own := userFrames(in.code, at, frames)
	if made := f.expires; made.File != "" {
		made.Text = "the source has a bound here: each is held until its time is over"
		h.Bounded = true
		f.Evidence = append(f.Evidence, made)
	} else if f.bounds.File != "" {
		f.Evidence = append(f.Evidence, in.code.shownAt(f.bounds.File, f.bounds.Line, "the source has a bound here: something is taken out"))
	} else if _, known := boundedAt(in.code, own); !known && len(own) > 0 && !f.counted { // that one may have failed
		if e, found := nearBound(in.code, own); found {
			h.Bounded = true
			f.Evidence = append(f.Evidence, e)
		}
	}
	if !h.Bounded && f.lets.File != "" {
		h.Bounded = true
		f.Evidence = append(f.Evidence, in.code.shownAt(f.lets.File, f.lets.Line, "the source has a bound here: something is removed"))
	}
	tellHeap(in, &f, at)
	if _, by, ok := strings.Cut(f.Summary, "; held by "); ok {
		h.By = by
	}
	shorten(in, []Finding{f})
	h.Advice, h.Evidence, h.Doubts, h.Keeps = f.Advice, f.Evidence, f.Doubts, f.keeps
	return h
}

// SeenAt is evidence of an entry at a frame of a stack, with the text of its line.
func SeenAt(in *Input, entry recording.Entry, at stack.Frame, frames []stack.Frame, format string, args ...any) Evidence {
	all := []Finding{{Evidence: []Evidence{in.fileAt(entry, at, frames, "%s", fmt.Sprintf(format, args...))}}}
	shorten(in, all)
	return all[0].Evidence[0]
}

// WaitsOutside tells that a goroutine is on the network, in a system call or asleep: somebody
// else decides when it goes on.
func WaitsOutside(frames []stack.Frame) bool { return waitsOutside(frames) }

// Proved tells whether a finding rests on Go's own search for goroutines that nothing can
// wake up.
func Proved(f Finding) bool {
	for _, e := range f.Evidence {
		if strings.HasSuffix(e.Text, bySearch) {
			return true
		}
	}
	return false
}
