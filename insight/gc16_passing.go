package insight

import (
	"fmt"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// passingShare is how much of all that a line has allocated is in use at most where that comes and goes with what is done. Chosen: by then it was
// allocated anew several times.
const passingShare = 0.25

// bySourceUnknown is what the advice begins with where the source does not show what holds the memory.
const bySourceUnknown = "Decide whether it is meant to be kept."

// belowLine is what a line calls that is not of the program, and the function below that which allocated most of what the line has in use.
type belowLine struct {
	called, allocates string
	bytes, all        int64
}

// libraryAt finds the function of a dependency that allocated most of what a line has in use, be it through the standard library; not ok where none did.
func libraryAt(in *Input, look *facts.Look, at stack.Frame) (most belowLine, ok bool) {
	isUser := in.Session.Scope().IsUser
	sums, all := map[belowLine]int64{}, int64(0)
	for frames, w := range facts.EachStack(look.InUse) {
		if w <= 0 {
			continue
		}
		x := belowLine{}
		for i, f := range frames {
			if pkg := stack.Package(f.Func); !isUser(f) && x.allocates == "" && !stack.IsRuntime(pkg) && !stack.IsStandard(pkg) {
				x.allocates = f.Func
			}
			if !isUser(f) {
				continue
			}
			if f.File == at.File && f.Line == at.Line {
				if all += w; i > 0 && x.allocates != "" {
					x.called = frames[i-1].Func
					sums[x] += w
				}
			}
			break
		}
	}
	for x, w := range sums {
		if x.bytes = w; w > most.bytes || w == most.bytes && x.called+x.allocates < most.called+most.allocates {
			most = x
		}
	}
	most.all = all
	return most, float64(most.bytes) >= mostOf*float64(all) && most.bytes > 0
}

// tellPassing says which function of a library allocated what a line has in use, and of memory that comes and goes with the calls, as far as the recording
// shows, what to do about that: nothing keeps it.
func tellPassing(in *Input, all *facts.Retention, top *facts.Line, f *Finding) {
	lib, ok := libraryAt(in, all.Most, top.At)
	if ok {
		if name := stack.Short(lib.allocates); !strings.Contains(f.Summary, " in "+name) {
			f.Summary += fmt.Sprintf("; %s of what the line has in use was allocated in %s", unit.Percent(float64(lib.bytes)/float64(lib.all)), name)
			if lib.called != lib.allocates {
				f.Summary += ", below " + stack.Short(lib.called)
			}
		}
	}
	again := wentAgain(all, top)
	if f.Severity != Info || f.wastes != noWaste || !again && !strings.HasPrefix(f.Advice, bySourceUnknown) {
		return
	}
	kept, made := all.Most.InUse.At(top.At), all.Most.Allocated(top.At)
	low, fell := fellAgain(in, top.Weight)
	if !again && (made <= 0 || float64(kept) > passingShare*float64(made) || !fell) {
		return
	}
	if !again {
		f.Summary += fmt.Sprintf("; it comes and goes: all other %s that the line had allocated were released by then, and a collection later found %s live in all", unit.BytesOf(float64(made-kept)), unit.BytesOf(low))
		f.Advice = "Nothing shows that it is kept: it is in use while a call runs, or until what that returns is dropped. If the peak is too high, bound how much is in use at once: work in parts, or release each part when it is done (a slice keeps its whole backing array)."
	}
	if ok {
		f.Advice = fmt.Sprintf("Nothing shows that it is kept: it is in use while a call of %s runs, or until what that returns is dropped. If the peak is too high, give it smaller inputs, or parts of them; use another function or library that needs less memory for the same; or let fewer of these calls run at once, where several do.", stack.Short(lib.called))
	}
}

// fellAgain tells whether a collection found most of so many bytes gone that a former one had found, and the least that was live then, in bytes.
func fellAgain(in *Input, bytes int64) (low float64, fell bool) {
	for i := range in.Facts.Rounds {
		if in.Facts.Rounds[i].GC == nil {
			continue
		}
		most := 0.0
		for _, row := range in.Facts.Rounds[i].GC.Cycles {
			live := row.HeapLiveMB * (1 << 20)
			if most = max(most, live); most-live >= float64(bytes)/2 && (!fell || live < low) {
				low, fell = live, true
			}
		}
	}
	return low, fell
}
