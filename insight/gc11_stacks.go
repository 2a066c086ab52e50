package insight

import (
	"fmt"
	"go/ast"
	"slices"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var gc11 = &Rule{
	ID: "GC11", Title: "Goroutine stacks take much of the memory",
	About: "Each goroutine has a stack of 2 KiB or more, which grows to what its deepest call needs and shrinks only when the collector finds it mostly empty. " +
		"The collector scans all stacks.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"share", 0.20, "share of the runtime's memory", "research, GC11"},
		{"least", 16, "MB", "chosen: less is no reason to look"},
		{"each", 16, "KiB", "chosen: per goroutine, three doublings of the initial 2 KiB"},
		{"shallow", 16, "calls", "chosen: at most, where most goroutines wait: hardly any waiting goroutine needs that much"},
		{"smallest", 2.5, "KiB", "chosen: per goroutine: at least three quarters of the stacks are the smallest, 2 KiB"},
		{"warning", 0.4, "share of the runtime's memory", "chosen: for stacks that stay large"},
		{"items", 1_000, "goroutines", "chosen: at once, of which a loop started one for each item, and which end one after another"},
		{"held", 64, "MB", "chosen: that those have made, with all stacks; less is no reason to bound them"},
		{"most", 0.3, "share of what is in use", "chosen: that those have made, near the peak"},
		{"crowd", 10_000, "goroutines", "chosen, as for SC04 of a tool: at once, of which most wait to begin"},
	},
	Part:  true,
	Check: checkStacks,
}

func checkStacks(r *Rule, in *Input) []Finding {
	const name = "/memory/classes/heap/stacks:bytes"
	all, none := r.readings(in, name, "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	if none != nil {
		return none
	}
	if f, ok := checkItems(r, in, all); ok {
		return []Finding{f}
	}
	var worst *facts.Readings
	most, of, goroutines := 0.0, 1.0, 0.0
	for _, one := range all {
		inUse, count := one.InUse(), one.Values("/sched/goroutines:goroutines")
		for i, b := range one.Values(name) {
			if b > most && i < len(inUse) {
				worst, most, of = one, b, inUse[i]
				if i < len(count) {
					goroutines = count[i]
				}
			}
		}
	}
	share := most / max(1, of)
	if worst == nil || share < r.param("share") || most < r.param("least")*1e6 {
		return []Finding{r.answer(Fine, "stacks took at most %s, %s of the runtime's memory then", mib(most), unit.Percent(share))}
	}
	f := r.answer(Found, "stacks took %s, %s of the runtime's memory, with %s goroutines: %s each", mib(most), unit.Percent(share), unit.Count(int64(goroutines)), mib(most/max(1, goroutines)))
	f.Impact = exactly(share, "share of the runtime's memory")
	f.Severity, f.Score = Info, score(most, 64<<20, 1<<30)
	if most >= 256<<20 {
		f.Severity = Warning
	}
	f.Evidence = []Evidence{readFrom(worst, "%s of stacks out of %s in use", mib(most), mib(of))}
	depth := 0
	if looks, _ := in.Facts.WaitsOf(recording.Goroutine); len(looks) > 0 {
		if goroutines >= r.param("crowd") && most >= 64<<20 && waitToBegin(in, looks[0], &f) {
			return []Finding{f}
		}
		var at []Evidence
		at, depth = mostGoroutines(in, looks[0], goroutines)
		f.Evidence = append(f.Evidence, at...)
	}
	if depth > 0 && float64(depth) <= r.param("shallow") && most/max(1, goroutines) >= r.param("each")*1024 {
		staysLarge(r, &f, depth, share)
		return []Finding{f}
	}
	f.Verify = "Record again: /memory/classes/heap/stacks:bytes should fall."
	if most/max(1, goroutines) <= r.param("smallest")*1024 {
		f.Advice = "Run fewer goroutines at once (SC04, SC10): most of these stacks are the smallest that there are."
		return []Finding{f}
	}
	f.Advice = "Run fewer goroutines at once (SC04, SC10), or make their deepest call need less: large local arrays and deep recursion grow a stack, which doubles each time."
	return []Finding{f}
}

// takesSlot tells of a stack that it waits for a slot of a semaphore: a channel that the same function receives from
// again, or one of package semaphore.
func takesSlot(in *Input, at stack.Frame, frames []stack.Frame) bool {
	calls := func(name string) bool {
		return slices.ContainsFunc(frames, func(x stack.Frame) bool { return x.Func == name })
	}
	return calls("golang.org/x/sync/semaphore.(*Weighted).Acquire") || calls("runtime.chansend1") && givesBack(in.code, at)
}

// waitToBegin says of a crowd of goroutines that most of them wait for a slot, if a look at them shows it, and where
// they are started.
func waitToBegin(in *Input, w *facts.AllWaits, f *Finding) bool {
	top, all := mostAt(w)
	if top == nil || 2*top.Count < all {
		return false
	}
	at := in.code.userFrame(top.Frames)
	if !in.Session.Scope().IsUser(at) || !takesSlot(in, at, top.Frames) {
		return false
	}
	f.crowd, f.Severity = true, Warning
	f.Title = "Many more goroutines at once than can work"
	f.Summary += fmt.Sprintf("; of %s in the goroutine profile, %s wait at %s for their turn", unit.Count(all), unit.Count(top.Count), place(at))
	f.Evidence = append(f.Evidence, in.fileAt(w.Entry, at, top.Frames, "%s of %s goroutines wait here", unit.Count(top.Count), unit.Count(all)))
	from := "before the go statement"
	locked := ""
	if e, known := goStatement(in.code, top.Frames[len(top.Frames)-1]); known {
		e.Text = "they are started here"
		f.Evidence = append([]Evidence{e}, f.Evidence...)
		from = "before the go statement at " + fileLine(e.File, e.Line)
		locked = lockHeld(in.code, stack.Frame{File: e.File, Line: e.Line})
	}
	f.Verify = "Record again: the number of goroutines (loupe sched) should follow the limit, and /memory/classes/heap/stacks:bytes with it."
	if locked != "" {
		f.Advice = fmt.Sprintf("Keep what is to be done in a list, and start a fixed number of workers that take from it. To wait for a slot before the go statement would be a deadlock if the others need the lock that is held there (%s): give it back first.", locked)
		return true
	}
	f.Advice = fmt.Sprintf("Wait for a slot %s, not behind it: then there are no more goroutines than slots, and what starts them waits. Or start a fixed number of workers that receive from a channel. Each goroutine that waits keeps its stack and what it refers to, and each collection scans it.", from)
	f.Doubts = append(f.Doubts, "what starts them must be able to wait: check that it holds no lock, and that what ends the others does not depend on it")
	return true
}

// lockHeld is the line that takes a lock which is held at another one; empty where none is.
func lockHeld(c *code, at stack.Frame) string {
	parts := c.heldIn(at)
	if i := slices.IndexFunc(parts, func(h held) bool { return h.has(at.Line) }); i >= 0 {
		return fileLine(at.File, parts[i].from)
	}
	return ""
}

// goStatement is the go statement that starts the function of a frame, the root of a goroutine; false where the
// source does not show one, or shows several.
func goStatement(c *code, root stack.Frame) (at Evidence, known bool) {
	s := c.parse(root.File)
	if s == nil {
		return at, false
	}
	s.onLine(root.Line, func(n ast.Node, _ []ast.Node) {
		if g, ok := n.(*ast.GoStmt); ok {
			first, _ := s.lines(g)
			at, known = c.shownAt(root.File, first, "it is started here"), true
		}
	})
	if known {
		return at, true
	}
	found := goStatements(c, ownName(root.Func))
	if len(found) != 1 {
		return at, false
	}
	return found[0], true
}

// goStatements are the go statements of the sources that call a function of a name.
func goStatements(c *code, name string) (all []Evidence) {
	c.eachSource(func(file string, s *syntax) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok && calledName(g.Call) == name {
				first, _ := s.lines(g)
				all = append(all, c.shownAt(file, first, "it is started here"))
			}
			return true
		})
	})
	return all
}

// staysLarge says that goroutines wait where they need little, with large stacks.
func staysLarge(r *Rule, f *Finding, depth int, share float64) {
	f.Summary += fmt.Sprintf("; most of them wait only %s deep, on a stack that a deeper call has grown", unit.Plural(int64(depth), "call"))
	if share >= r.param("warning") {
		f.Severity = Warning
	}
	f.Advice = "A waiting goroutine keeps the stack that its deepest call needed: a collection at most halves it, and the next deep call doubles it again. Run the deep part on a separate goroutine that ends (a small worker pool shared by all), so that waiting goroutines stay small; or make it need less, without recursion or large local arrays. Fewer goroutines help, too."
	f.Verify = "Record again: /memory/classes/heap/stacks:bytes should fall to a few KiB per goroutine."
	f.Doubts = append(f.Doubts, "if the functions they wait in have large local arrays, those arrays need the stack")
}

// mostGoroutines shows where most goroutines of a look are, if it was while there were so
// many, and how many calls deep, if these are the program's own.
func mostGoroutines(in *Input, w *facts.AllWaits, many float64) (at []Evidence, depth int) {
	top, all := mostAt(w)
	if top == nil || 2*top.Count < all || 2*float64(all) < many {
		return nil, 0
	}
	depth = len(top.Frames)
	if !slices.ContainsFunc(top.Frames, in.Session.Scope().IsOutsideStandard) {
		depth = 0 // nobody here decides what they do
	}
	return []Evidence{in.fileAt(w.Entry, w.Site(top), top.Frames, "%s of %s goroutines are here, %d calls deep", unit.Count(top.Count), unit.Count(all), len(top.Frames))}, depth
}

// mostAt is where the most goroutines of a look are, and how many there are in all.
func mostAt(w *facts.AllWaits) (top *facts.Wait, all int64) {
	for i := range w.All {
		x := &w.All[i]
		if all += x.Count; top == nil || x.Count > top.Count {
			top = x
		}
	}
	return top, all
}
