package insight

import (
	"fmt"
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Parts of what a line keeps, or of all that is in use, from which on it is what package initialization
// has loaded; chosen: what else is there is too little to be told of.
const (
	loadedLine  = 0.9
	loadedWhole = 0.8
)

// tellLoaded says of what a line keeps that package initialization has allocated it: that happens once,
// and is no leak. It is false where that is not so.
func tellLoaded(in *Input, kept *facts.Look, top *facts.Line, f *Finding) bool {
	part := kept.Below(top.At, initializes...)
	if part < loadedLine {
		return false
	}
	f.Title = "What is loaded at the start holds most of the live heap"
	f.Summary += fmt.Sprintf("; %s of that by package initialization, before main begins", unit.Percent(part))
	if mainRan(in) {
		f.Summary += ", which runs once: it was filled at the start and does not grow"
	} else {
		f.Doubts = append(f.Doubts, "no profile shows main.main: if the program does its work in an init function, that may go on adding to it")
	}
	f.Advice = "It is no leak. If not each run needs all of it, build it on first use (sync.OnceValue, and of a table one for each entry); what is needed can be made smaller: no copies, indices instead of pointers."
	f.Verify = "Record again: the peak heap should be lower."
	return true
}

// mainRan tells whether a profile shows that the initialization of packages had come to its end.
func mainRan(in *Input) bool {
	for _, kind := range []recording.Kind{recording.CPU, recording.Allocs, recording.Heap} {
		p, _, err := in.Session.Profile(kind)
		if err != nil {
			continue
		}
		for id := range p.Stacks.NumFrames() {
			if isMain(p.Stacks.Frame(stack.FrameID(id)).Func) {
				return true
			}
		}
	}
	looks, _ := in.Facts.WaitsOf(recording.Goroutine)
	for _, w := range looks {
		for _, x := range w.All {
			if slices.ContainsFunc(x.Frames, func(f stack.Frame) bool { return isMain(f.Func) }) {
				return true
			}
		}
	}
	return false
}

// loadedAtStart says of a tool whose live heap has grown that most of what is in use was loaded by package
// initialization: then the growth was its start. It is empty where that is not known.
func loadedAtStart(in *Input) string {
	all, err := facts.RetentionIn(in.Facts)
	if all == nil || err != nil || !in.public().computes() || !mainRan(in) {
		return ""
	}
	kept, early := all.Most, 0.0
	for _, l := range kept.Lines() {
		early += float64(l.Weight) * kept.Below(l.At, initializes...)
	}
	part := early / float64(max(1, kept.Bytes))
	if part < loadedWhole {
		return ""
	}
	return fmt.Sprintf(", but %s of the %s in use in %s was loaded by package initialization, before main begins, which runs once", unit.Percent(part), unit.BytesOf(float64(kept.Bytes)), kept.Entry.Path)
}
