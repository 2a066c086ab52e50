package insight

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// likelySource begins the program of TestLikelyHolder: requests wait for a lock that something else has all the time.
const likelySource = "package main\n\nimport \"sync\"\n\ntype store struct {\n\tmu sync.RWMutex\n\titems map[string]int\n\tlist []int\n}\n\nfunc use(x any) { println(x) } // use\n\n" +
	"func (s *store) get(k string) int {\n\ts.mu.Lock() // wait\n\tx := s.items[k] // look\n\ts.mu.Unlock() // got\n\treturn x\n}\n\n"

// neverGot is a program whose requests wait for that lock until the trace ends; first tells that one of them has got it before.
func neverGot(wait, got string, first bool) *accounttest.Program {
	const conns, works = 12, 20
	p := accounttest.New()
	for g := range conns {
		p.Connect(100 + g)
	}
	lock := accounttest.In("sync.(*RWMutex).Lock@mutex.go:1", "main.(*store).get@store.go:"+wait, "main.handle@main.go:7")
	for g := range conns {
		p.Arrive(100 + g)
		if g == 0 {
			p.Create(works, "main.work", accounttest.In("main.handle@main.go:5"))
		}
		p.Block("sync", lock)
	}
	p.Start(works)
	p.Pass(time.Second)
	if first {
		p.Wake(100, "sync.(*RWMutex).Unlock@mutex.go:2;main.work@store.go:"+got)
	}
	p.Pass(time.Second)
	p.Preempt("main.work@main.go:30")
	return p
}

// TestLikelyHolder: where nobody got a lock during a trace, what is done under it by the source and has most of the CPU time probably holds it; what only looks like
// that does not.
func TestLikelyHolder(t *testing.T) {
	const (
		sweep  = "func (s *store) sweep() {\n\ts.mu.Lock() // take\n\tfor k := range s.items { // over\n\t\tuse(k) // at\n\t}\n\tuse(s) // more\n\ts.mu.Unlock() // let\n\tuse(s) // behind\n}\n"
		inTurn = "main.work:main.go:30 main.(*store).sweep:store.go:@at main.use:store.go:@use"
		after  = "main.work:main.go:30 main.(*store).sweep:store.go:@more main.use:store.go:@use"
		free   = "main.work:main.go:30 main.(*store).sweep:store.go:@behind main.use:store.go:@use"
		other  = "main.work:main.go:30 main.rest:main.go:40"
	)
	shared := strings.NewReplacer("mu.Lock() // take", "mu.RLock() // take", "mu.Unlock() // let", "mu.RUnlock() // let").Replace(sweep)
	twice := sweep + "\nfunc (s *store) count() {\n\ts.mu.Lock() // second\n\tuse(s) // sum\n\ts.mu.Unlock()\n}\n"
	counts := strings.Replace(inTurn, "sweep:store.go:@at", "count:store.go:@sum", 1)
	loops := strings.Replace(sweep, "\tuse(s) // more", "\tfor range s.list {\n\t\tuse(s) // again\n\t}\n\tuse(s) // more", 1)
	again := strings.Replace(inTurn, "@at", "@again", 1)
	type samples = []column
	for _, c := range []struct {
		name, source string
		got          bool // somebody got the lock
		samples      samples
		at, taken    string // the marks of the line that is told, and of what takes the lock; empty where nobody is named
		walks        bool
	}{
		{"it goes through what the lock guards", sweep, false, samples{{inTurn, []int64{80}}, {other, []int64{20}}}, "at", "take", true},
		{"it does not", sweep, false, samples{{after, []int64{80}}, {other, []int64{20}}}, "more", "take", false},
		{"mostly it does", sweep, false, samples{{inTurn, []int64{50}}, {after, []int64{30}}, {other, []int64{20}}}, "at", "take", true},
		{"mostly it does not", sweep, false, samples{{inTurn, []int64{30}}, {after, []int64{50}}, {other, []int64{20}}}, "more", "take", false},
		{"the second of two parts", twice, false, samples{{counts, []int64{60}}, {inTurn, []int64{20}}, {other, []int64{20}}}, "sum", "second", false},
		{"the first of two parts", twice, false, samples{{inTurn, []int64{60}}, {counts, []int64{20}}, {other, []int64{20}}}, "at", "take", true},
		{"more than half of it in both", twice, false, samples{{inTurn + " main.(*store).count:store.go:@sum", []int64{60}}, {counts, []int64{10}}, {other, []int64{30}}}, "sum", "second", false},
		{"more than half of it in both, and more in the first", twice, false, samples{{inTurn + " main.(*store).count:store.go:@sum", []int64{60}}, {inTurn, []int64{10}}, {other, []int64{30}}}, "at", "take", true},
		{"two loops", loops, false, samples{{inTurn, []int64{60}}, {again, []int64{20}}, {other, []int64{20}}}, "at", "take", true},
		{"just enough samples", sweep, false, samples{{inTurn, []int64{20}}}, "at", "take", true},

		{"somebody got it", sweep, true, samples{{inTurn, []int64{80}}, {other, []int64{20}}}, "", "", false},
		{"for reading", shared, false, samples{{inTurn, []int64{80}}, {other, []int64{20}}}, "", "", false},
		{"behind the lock", sweep, false, samples{{free, []int64{80}}, {other, []int64{20}}}, "", "", false},
		{"a line of another file", sweep, false, samples{{strings.Replace(inTurn, "sweep:store.go", "sweep:other.go", 1), []int64{80}}, {other, []int64{20}}}, "", "", false},
		{"in a literal, at another time", sweep, false, samples{{strings.Replace(inTurn, "sweep:", "sweep.func1:", 1), []int64{80}}, {other, []int64{20}}}, "", "", false},
		{"few samples", sweep, false, samples{{inTurn, []int64{19}}}, "", "", false},
		{"little of the CPU time", sweep, false, samples{{inTurn, []int64{49}}, {other, []int64{51}}}, "", "", false},
		{"no samples", sweep, false, nil, "", "", false},
	} {
		source := likelySource + c.source
		at := markedLines(source)
		r := traceOfProgram(t, neverGot(at("wait"), at("let"), c.got))
		withSource(r, "store.go", source)
		var columns []column
		for _, x := range c.samples {
			for _, mark := range []string{"again", "at", "use", "more", "behind", "sum"} {
				x.frames = strings.ReplaceAll(x.frames, "@"+mark, at(mark))
			}
			columns = append(columns, x)
		}
		if columns != nil {
			withProfile(r, recording.CPU, "trace", columns...)
		}
		f := answers(t, r, "LK01")[0]
		if f.State != Found || strings.Contains(f.Summary, "probably holds it") != (c.at != "") || strings.Contains(f.Advice, "Find out who holds the lock") != (c.at == "" && !c.got) {
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
			continue
		}
		if walks := f.Title == walkedTitle; walks != c.walks || strings.Contains(f.Summary, "in the loop at store.go:"+at("over")+" through s.items") != c.walks || strings.Contains(f.Advice, "The lock is held while the loop") != c.walks {
			t.Errorf("%s: it goes through a list: %v: %s → %s", c.name, walks, f.Summary, f.Advice)
		}
		doubted := strings.Contains(fmt.Sprint(f.Doubts), "who holds the lock is not seen")
		if doubted != (c.at != "") {
			t.Errorf("%s: %q", c.name, f.Doubts)
		}
		if c.at == "" {
			continue
		}
		if e := f.Evidence[0]; strconv.Itoa(e.Line) != at(c.at) || !strings.Contains(e.Text, "taken at line "+at(c.taken)) || !strings.Contains(f.Summary, "under the lock that it takes at store.go:"+at(c.taken)) {
			t.Errorf("%s: it begins with %+v: %s", c.name, e, f.Summary)
		}
	}
}
