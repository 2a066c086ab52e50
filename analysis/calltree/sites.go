package calltree

import (
	"cmp"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Site is a line of the user's code and what it makes somebody else do.
type Site struct {
	// Caller is the frame of the user's code: its Line is the line of the
	// call. It is the zero Frame when no user code is on the stack.
	Caller stack.Frame
	// Callee is the function that was asked for. When nothing was asked for it
	// is the one that Caller calls, or "" where Caller itself is the leaf.
	Callee string

	Weight  int64 // of all stacks that go through the site
	Samples int64 // observations behind Weight
}

// SiteOptions say which stacks [Sites] looks at and whose code counts as the
// user's.
type SiteOptions struct {
	// Callee picks the function to look for, such as strings.ToLower. nil
	// means every stack, attributed to the user code nearest to its leaf.
	Callee func(stack.Frame) bool
	// User says whether a frame is the user's code. [stack.Scope] has methods
	// of this shape. nil means stack.Scope{}.IsUser.
	User func(stack.Frame) bool
	// Counts are the observations behind the weights, as in [Options].
	Counts Samples
}

// SiteReport is the answer of [Sites].
type SiteReport struct {
	Sites   []Site // the heaviest first
	Weight  int64  // of all stacks that were looked at
	Samples int64  // observations behind Weight
	Total   int64  // the whole: sum of the absolute weights of all samples
	All     int64  // observations behind Total
}

// Sites finds the stacks that contain a function and tells which lines of the
// user's code have called it: "strings.ToLower, called at rss.go:119 in
// search.rssSearch, allocates 54% of all bytes".
//
// Each stack counts once. When the function is on it several times, the one
// nearest to the leaf counts, and the site is the user frame that is nearest
// to it towards the root.
func Sites(t *stack.Table, samples Samples, opt SiteOptions) *SiteReport {
	w := weigh(t, Plain(samples), opt.Counts, false)
	user := opt.User
	if user == nil {
		user = stack.Scope{}.IsUser
	}
	isUser, isCallee := mark(t, user), mark(t, opt.Callee)

	r := &SiteReport{Total: w.whole(), All: w.observations}
	type key struct {
		caller Place
		callee string
	}
	sites := map[key]int{}
	for _, id := range w.live {
		callee, caller, ok := site(t.Frames(id), isCallee, isUser)
		if !ok {
			continue
		}
		s := Site{}
		if callee >= 0 {
			s.Callee = t.Frame(t.Frames(id)[callee]).Func
		}
		if caller >= 0 {
			s.Caller = t.Frame(t.Frames(id)[caller])
		}
		// Whether a call was inlined makes no other site.
		c := &s.Caller
		k := key{Place{Func: c.Func, File: c.File, Module: c.Module, Line: c.Line, StartLine: c.StartLine}, s.Callee}
		i, ok := sites[k]
		if !ok {
			i = len(r.Sites)
			sites[k] = i
			r.Sites = append(r.Sites, s)
		}
		r.Sites[i].Weight += w.sum[id]
		r.Sites[i].Samples += w.count[id]
		r.Weight += w.sum[id]
		r.Samples += w.count[id]
	}
	slices.SortFunc(r.Sites, func(a, b Site) int {
		return cmp.Or(cmp.Compare(abs(b.Weight), abs(a.Weight)),
			strings.Compare(a.Caller.File, b.Caller.File), cmp.Compare(a.Caller.Line, b.Caller.Line),
			strings.Compare(a.Caller.Func, b.Caller.Func), strings.Compare(a.Callee, b.Callee),
			strings.Compare(a.Caller.Module, b.Caller.Module), cmp.Compare(a.Caller.StartLine, b.Caller.StartLine))
	})
	return r
}

// site finds the callee nearest to the leaf and its user, as positions in the
// stack; -1 is none. A nil isCallee asks for the function that the user frame
// nearest to the leaf calls.
func site(frames []stack.FrameID, isCallee, isUser []bool) (callee, caller int, ok bool) {
	if isCallee != nil {
		callee = slices.IndexFunc(frames, func(f stack.FrameID) bool { return isCallee[f] })
		if callee < 0 {
			return -1, -1, false
		}
		caller = slices.IndexFunc(frames[callee+1:], func(f stack.FrameID) bool { return isUser[f] })
		if caller >= 0 {
			caller += callee + 1
		}
		return callee, caller, true
	}
	caller = slices.IndexFunc(frames, func(f stack.FrameID) bool { return isUser[f] })
	if caller < 0 {
		return len(frames) - 1, -1, true // the outermost function stands for the stack
	}
	return caller - 1, caller, true
}

// mark asks about every frame once. No question gives nil.
func mark(t *stack.Table, ask func(stack.Frame) bool) []bool {
	if ask == nil {
		return nil
	}
	marks := make([]bool, t.NumFrames())
	for id := range marks {
		marks[id] = ask(t.Frame(stack.FrameID(id)))
	}
	return marks
}
