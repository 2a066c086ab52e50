package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// sweptSource begins the program of TestLockHolder: requests look items up under a lock that a goroutine in the background holds while it sweeps.
const sweptSource = "package main\n\nimport (\n\t\"container/list\"\n\t\"sync\"\n\t\"time\"\n)\n\ntype item struct {\n\tname string\n\tuntil time.Time\n\tdirty bool\n\tn int\n}\n\n" +
	"type store struct {\n\tmu sync.Mutex\n\titems map[string]*item\n\tlist []*item\n\torder *list.List\n\ttodo chan *item\n\tn int\n}\n\ntype query struct {\n\titems []*item\n}\n\n" +
	"func (i *item) due(now time.Time) bool { return now.After(i.until) } // due\n\nfunc use(x any) { println(x) } // use\n\nfunc load() []*item { return nil }\n\n" +
	"func (s *store) get(k string) *item {\n\ts.mu.Lock() // wait\n\tx := s.items[k]\n\ts.mu.Unlock() // got\n\treturn x\n}\n\n" +
	"func (s *store) loop() {\n\tfor {\n\t\ts.sweep(time.Now()) // turn\n\t}\n}\n\n"

// swept is that program, and the stack of what is done under the lock for most of the time; below is a goroutine of its own that does it, for whom the holder
// waits, where there is one.
func swept(at func(mark string) string, work string, below string) *accounttest.Program {
	const conns, sweeper, worker = 24, 20, 21
	get, root := "main.(*store).get@store.go:", ";main.(*store).loop@store.go:"+at("turn")
	lock := accounttest.In("sync.(*Mutex).Lock@mutex.go:1", get+at("wait"), "main.handle@main.go:7")
	unlock := accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", get+at("got"), "main.handle@main.go:7")
	p := accounttest.New()
	for g := range conns {
		p.Connect(100 + g)
	}
	for turn := range 6 {
		for g := range conns {
			p.Arrive(100 + g)
			if turn == 0 && g == 0 {
				p.Create(sweeper, "main.(*store).loop", accounttest.In("main.handle@main.go:5"))
				if below != "" {
					p.Create(worker, "main.(*store).serve", accounttest.In("main.handle@main.go:6"))
				}
			}
			p.Block("sync", lock)
		}
		if turn > 0 {
			p.Wake(sweeper, "")
		}
		p.Start(sweeper)
		if below != "" {
			p.Wake(worker, "runtime.chansend1@chan.go:1;main.(*store).sweep@store.go:"+at("at")+root)
			p.Block("chan receive", "runtime.chanrecv1@chan.go:2;main.(*store).sweep@store.go:"+at("at")+root)
			p.Start(worker)
			p.Pass(20 * time.Millisecond)
			p.Wake(sweeper, below)
			p.Block("chan receive", below)
			p.Start(sweeper)
		} else {
			p.Pass(20 * time.Millisecond)
			p.Preempt(work + root)
			p.Start(sweeper)
		}
		p.Wake(100, "sync.(*Mutex).Unlock@mutex.go:2;main.(*store).sweep@store.go:"+at("let")+root)
		p.Block("sleep", "time.Sleep@sleep.go:1"+root)
		for g := range conns {
			p.Start(100 + g)
			p.Pass(10 * time.Microsecond)
			if g+1 < conns {
				p.Wake(100+g+1, unlock)
			}
			p.Respond(100 + g)
		}
	}
	return p
}

// TestLockHolder: where a function that does not wait for a lock holds it most of the time, LK01 and LK04 begin with that, and say what it goes through under the lock.
func TestLockHolder(t *testing.T) {
	pick := func(x string) string {
		return "func (s *store) sweep(now time.Time) {\n\ts.mu.Lock() // take\n\ts.pick(now) // at\n\ts.mu.Unlock() // let\n}\n\nfunc (s *store) pick(now time.Time) (out []*item) {\n\tfor _, x := range s.items { // over\n\t\t" + x + "\n\t}\n\treturn out\n}\n"
	}
	direct := func(before, over, body string) string {
		return "func (s *store) sweep(now time.Time) {\n" + before + "\ts.mu.Lock() // take\n\tfor " + over + " { // over\n\t\t" + body + " // at\n\t}\n\ts.mu.Unlock() // let\n}\n"
	}
	const condition = "if x.due(now) { // look\n\t\t\tout = append(out, x)\n\t\t}"
	for _, c := range []struct {
		name, source, way string
		through           string // what it goes through; empty for nothing
		advice, not       string
	}{
		{"those that are due", pick(condition), "due@due (*store).pick@look (*store).sweep@at", "s.items", "lets few through, find these without going through the others: keep the elements in the order of what it compares", ""},
		{"a condition that takes a lock", "var look sync.Mutex\n\nfunc (i *item) late(now time.Time) bool {\n\tlook.Lock()\n\tdefer look.Unlock()\n\treturn !i.until.After(now)\n}\n\n" + pick(strings.Replace(condition, "x.due(now)", "x.late(now)", 1)), "(*store).pick@look (*store).sweep@at", "s.items", "in the order of what it compares", ""},
		{"those with a mark", pick(strings.Replace(condition, "x.due(now)", "x.dirty", 1)), "(*store).pick@look (*store).sweep@at", "s.items", "a list or a map of their own", ""},
		{"it goes on with the next", pick("if !x.due(now) { // look\n\t\t\tcontinue\n\t\t}\n\t\tout = append(out, x)"), "(*store).pick@look (*store).sweep@at", "s.items", "in the order of what it compares", ""},
		{"each turn does something", pick("x.n += len(x.name) // look"), "(*store).pick@look (*store).sweep@at", "s.items", "o through a part of it at a time and let the lock go in between, if nothing needs all of it", "the condition"},
		{"in the function that takes the lock", direct("", "_, x := range s.list", "use(x)"), "use@use (*store).sweep@at", "s.list", "o through a part of it at a time", "a map has no place"},
		{"by an index", direct("", "i := 0; i < len(s.list); i++", "use(s.list[i])"), "use@use (*store).sweep@at", "s.list", "o through a part", ""},
		{"a linked list", direct("", "e := s.order.Front(); e != nil; e = e.Next()", "use(e)"), "use@use (*store).sweep@at", "s.order", "o through a part", ""},
		{"by another name", direct("\tall := s.list\n", "_, x := range all", "use(x)"), "use@use (*store).sweep@at", "all", "o through a part", ""},
		{"it is handed on", "func (s *store) sweep(now time.Time) {\n\ts.mu.Lock() // take\n\teach(s.items) // at\n\ts.mu.Unlock() // let\n}\n\nfunc each(m map[string]*item) {\n\tfor _, x := range m {\n\t\tuse(x) // look\n\t}\n}\n",
			"use@use each@look (*store).sweep@at", "m", "o through a part", ""},

		{"a list of its own", direct("\tlist := load()\n", "_, x := range list", "use(x)"), "use@use (*store).sweep@at", "", "", "goes through"},
		{"one that it is given", strings.Replace(direct("", "_, x := range q.items", "use(x)"), "now time.Time", "q *query", 1), "use@use (*store).sweep@at", "", "", "goes through"},
		{"a channel", direct("", "x := range s.todo", "use(x)"), "use@use (*store).sweep@at", "", "", "goes through"},
		{"a number of turns", direct("", "i := range s.n", "use(i)"), "use@use (*store).sweep@at", "", "", "goes through"},
		{"the lock is taken in each turn", "func (s *store) sweep(now time.Time) {\n\tfor _, x := range s.list {\n\t\ts.mu.Lock() // take\n\t\tuse(x) // at\n\t\ts.mu.Unlock() // let\n\t}\n}\n", "use@use (*store).sweep@at", "", "", "goes through"},
		{"the loop is elsewhere in the function", strings.Replace(pick(condition), "\treturn out", "\tuse(out) // use2\n\treturn out", 1), "use@use (*store).pick@use2 (*store).sweep@at", "", "", "goes through"},
	} {
		source := sweptSource + c.source
		at := markedLines(source)
		var work []string
		for frame := range strings.SplitSeq(c.way, " ") {
			fn, mark, _ := strings.Cut(frame, "@")
			if fn == "due" {
				fn = "(*item).due"
			}
			work = append(work, "main."+fn+"@store.go:"+at(mark))
		}
		r := traceOfProgram(t, swept(at, strings.Join(work, ";"), ""))
		withSource(r, "store.go", source)
		for _, rule := range []string{"LK01", "LK04"} {
			f := answers(t, r, rule)[0]
			if says := "main.(*store).sweep holds store.mu, taken at store.go:" + at("take") + ", for 9"; f.State != Found || !strings.HasPrefix(f.Summary, says) || strings.Contains(f.Summary, "waits for a goroutine") {
				t.Errorf("%s: %s: %s: %s", c.name, rule, f.State, f.Summary)
				continue
			}
			if e := f.Evidence[0]; e.Function != "main.(*store).sweep" || strconv.Itoa(e.Line) != at("at") || lockSite(&f).Function != "main.(*store).get" {
				t.Errorf("%s: %s: it begins with %+v", c.name, rule, e)
			}
			if strings.Contains(strings.Join(f.Doubts, "; "), "does not show who holds") {
				t.Errorf("%s: %s: it names the holder, and doubts that it is seen: %q", c.name, rule, f.Doubts)
			}
			if walks := c.through != ""; strings.Contains(f.Summary, " through "+c.through) != walks || (f.Title == walkedTitle) != (walks && rule == "LK01") {
				t.Errorf("%s: %s: %s: %s", c.name, rule, f.Title, f.Summary)
			}
			if !strings.Contains(f.Advice, c.advice) || c.not != "" && strings.Contains(f.Advice, c.not) {
				t.Errorf("%s: %s: %s", c.name, rule, f.Advice)
			}
		}
	}
}

// TestHolderWaits: the holder waits for another goroutine only where that is no holder of the lock itself.
func TestHolderWaits(t *testing.T) {
	source := sweptSource + "func (s *store) sweep(now time.Time) {\n\ts.mu.Lock() // take\n\t<-s.todo // at\n\ts.mu.Unlock() // let\n}\n\nfunc (s *store) serve() {\n\tfor {\n\t\tuse(s.n) // serves\n\t\ts.todo <- nil\n\t}\n}\n"
	at := markedLines(source)
	serve := "runtime.chansend1@chan.go:1;main.(*store).serve@store.go:" + at("serves")
	// All but the first of those that wait are let go by one that waited itself: the holder is still the one that the first waited for.
	holds := "main.(*store).sweep holds store.mu, taken at store.go:" + at("take") + ", for 99.0% of the time that others wait for it, waiting for a channel in main.(*store).sweep at store.go:" + at("at") + ", for a goroutine that is running in main.(*store).serve;"
	for _, c := range []struct {
		name, source, below string
		says                string
		holds               bool
	}{
		{"it does it itself", source, "", "", true},
		{"another goroutine does", source, serve, holds, true},
		{"under another lock", strings.NewReplacer("s.mu.Lock() // take", "s.other.Lock() // take", "s.mu.Unlock() // let", "s.other.Unlock() // let", "\tn int\n}\n\ntype query", "\tn int\n\tother sync.Mutex\n}\n\ntype query").Replace(source), serve, "its holder waits for a goroutine that is running in main.(*store).serve", false},
	} {
		at, source := markedLines(c.source), c.source
		r := traceOfProgram(t, swept(at, "main.use@store.go:"+at("use")+";main.(*store).sweep@store.go:"+at("at"), c.below))
		withSource(r, "store.go", source)
		if f := answers(t, r, "LK01")[0]; f.State != Found || !strings.Contains(f.Summary, c.says) || strings.HasPrefix(f.Summary, "main.(*store).sweep holds store.mu") != c.holds {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// markedLines finds the lines of a source that end with a comment.
func markedLines(source string) func(mark string) string {
	return func(mark string) string { return strconv.Itoa(lineOfMark(source, mark)) }
}

// TestOtherTakers: of another line that takes the lock, LK01 says that it waits for it, where the trace has it waiting; only of one that it has not, that
// it may hold the lock unseen.
func TestOtherTakers(t *testing.T) {
	source := sweptSource + "func (s *store) sweep(now time.Time) {\n\ts.mu.Lock() // take\n\tuse(s.n) // at\n\ts.mu.Unlock() // let\n}\n\nfunc (s *store) put(i *item) {\n\ts.mu.Lock() // put\n\ts.list = append(s.list, i)\n\ts.mu.Unlock()\n}\n"
	at := markedLines(source)
	for _, puts := range []bool{false, true} {
		p := swept(at, "main.use@store.go:"+at("use")+";main.(*store).sweep@store.go:"+at("at"), "")
		if puts {
			p.Connect(300)
			p.Arrive(300)
			p.Block("sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.(*store).put@store.go:"+at("put"), "main.handle@main.go:8"))
			p.Pass(time.Millisecond)
			p.Wake(300, "")
			p.Start(300)
			p.Respond(300)
		}
		r := traceOfProgram(t, p)
		withSource(r, "store.go", source)
		f := answers(t, r, "LK01")[0]
		want, found := map[bool]string{false: "put: locked here too (Lock): a goroutine that never waits for it", true: "put: locked here too (Lock): 1 wait for it here, too"}[puts], false
		for _, e := range f.Evidence {
			found = found || strings.Contains(e.Text, want)
		}
		if !found {
			t.Errorf("waits there %v: %+v", puts, f.Evidence)
		}
	}
}
