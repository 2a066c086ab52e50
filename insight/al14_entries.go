package insight

import (
	"fmt"
	"slices"

	"loupe/value/stack"
)

// entryLines is how many different lines have to call what builds an entry, each once in a run, to be told as a list of
// entries. Chosen: fewer are parts of one thing.
const entryLines = 8

// entriesOnce finds the lines that call the function of the heaviest line, where each does so once in a run: below
// main.main, and with no loop around it up to there. It is how a registry is filled at the start of main; the first
// of them is one that samples show.
func entriesOnce(h *hit) (n int, first stack.Frame) {
	v, at, lines := h.in.view(h.p), h.lines[0].Caller, map[stack.Frame]bool{}
	for id, w := range h.p.Samples(h.index) {
		frames := v.t.Frames(id)
		i := slices.IndexFunc(frames, func(f stack.FrameID) bool {
			x := v.t.Frame(f)
			return x.File == at.File && x.Line == at.Line
		})
		if w <= 0 || i < 0 {
			continue
		}
		if !slices.ContainsFunc(frames, func(f stack.FrameID) bool { return v.t.Frame(f).Func == "main.main" }) {
			return 0, stack.Frame{}
		}
		call := stack.Frame{}
		for j := nextUser(v, frames, i+1); j >= 0; j = nextUser(v, frames, j+1) {
			f := v.t.Frame(frames[j])
			if call.Func == "" && f.Func == at.Func {
				continue // it calls itself
			}
			if lineInOwnLoop(h.in.code, f) != loopNo {
				return 0, stack.Frame{}
			}
			if call.Func == "" {
				call = stack.Frame{Func: f.Func, File: f.File, Line: f.Line}
			}
		}
		if call.Func != "" && !lines[call] {
			if lines[call] = true; first.Func == "" || call.File < first.File || call.File == first.File && call.Line < first.Line {
				first = call
			}
		}
	}
	return len(lines), first
}

// tellEntries advises to build the entries of a registry on first use; false where there is none.
func tellEntries(h *hit, f *Finding) bool {
	n, first := entriesOnce(h)
	if n < entryLines {
		return false
	}
	f.Summary += fmt.Sprintf("; %d different lines lead there, each once in a run, the first %s:%d", n, baseName(first.File), first.Line)
	f.Advice = "Each of these lines builds an entry of its own, once. If one run does not need all of them, build each on first use: register how it is built (a function in sync.OnceValue), and build it where it is looked up."
	f.Doubts = append(f.Doubts, "if each run needs all of them, doing it later saves nothing")
	return true
}
