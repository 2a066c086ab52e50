package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/account/accounttest"
	"loupe/analysis/facts"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestWaitForSame: findings about two kinds of units are one where both wait at one line for the same holder, and not where only the line, the lock or
// the advice is the same.
func TestWaitForSame(t *testing.T) {
	row := func(kind account.Kind, at int, cause account.Kind, holder int) *facts.UnitRow {
		r := &facts.UnitRow{Kind: kind, Site: facts.UnitSite{Frame: stack.Frame{Func: "main.get", File: "/src/get.go", Line: at}}, Time: time.Second}
		if r.Cause.Kind = cause; holder > 0 {
			r.Cause.Site.Frame = stack.Frame{Func: "main.put", File: "/src/put.go", Line: holder}
		}
		return r
	}
	for _, c := range []struct {
		name  string
		wants bool
		edit  func(a, b *Finding)
	}{
		{"the same holder", true, func(_, _ *Finding) {}},
		{"another line of the holder", false, func(_, b *Finding) { b.waits = []*facts.UnitRow{row(account.Lock, 3, account.File, 10)} }},
		{"another line that waits", false, func(_, b *Finding) { b.waits = []*facts.UnitRow{row(account.Lock, 4, account.File, 9)} }},
		{"the holder does something else", false, func(_, b *Finding) { b.waits = []*facts.UnitRow{row(account.Lock, 3, account.Answer, 9)} }},
		{"a peer, which may be asked something else", false, func(a, b *Finding) {
			a.waits, b.waits = []*facts.UnitRow{row(account.Answer, 3, account.None, 0)}, []*facts.UnitRow{row(account.Answer, 3, account.None, 0)}
		}},
		{"nobody knows what it does", false, func(a, b *Finding) {
			a.waits, b.waits = []*facts.UnitRow{row(account.Lock, 3, account.Unknown, 9)}, []*facts.UnitRow{row(account.Lock, 3, account.Unknown, 9)}
		}},
		{"the same units", false, func(a, b *Finding) { b.waits = a.waits }},
		{"other advice", false, func(_, b *Finding) { b.Advice = "else" }},
		{"tasks", false, func(_, b *Finding) { b.Impact = exactly(0.5, "share of the time of tasks") }},
		{"a remark", false, func(_, b *Finding) { b.Severity = Info }},
		{"another rule", false, func(_, b *Finding) { b.Rule = "WT01" }},
		{"seen first elsewhere", false, func(_, b *Finding) { b.Evidence[0].Line = 12 }},
	} {
		a, b := seenAt("LK02", Warning, 90, "/src/put.go", 9), seenAt("LK02", Warning, 80, "/src/put.go", 9)
		a.Impact, b.Impact = exactly(0.9, "share of the time of requests"), exactly(0.8, "share of the time of requests")
		a.waits, b.waits = []*facts.UnitRow{row(account.Lock, 3, account.File, 9)}, []*facts.UnitRow{row(account.Lock, 3, account.File, 9)}
		c.edit(&a, &b)
		if got := waitForSame(&a, &b); got != c.wants {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestTwoKindsOneHolder: two kinds of requests that wait for one lock are one card, which accounts for both; for two locks they are two.
func TestTwoKindsOneHolder(t *testing.T) {
	for _, c := range []struct {
		name  string
		same  bool
		cards int
	}{{"one lock", true, 1}, {"two locks", false, 2}} {
		p := fourConnections()
		inside := func(fn string) string {
			return accounttest.In("net.(*conn).Read@net.go:1", "main.ask"+fn+"@main.go:20", "main.put"+fn+"@store.go:9")
		}
		for i := range 12 {
			kind := []string{"A", "B"}[i%2]
			lock, holder := "", ""
			if !c.same {
				lock, holder = kind, kind
			}
			unlock := accounttest.In("sync.(*Mutex).Unlock@mutex.go:2", "main.put"+holder+"@store.go:11", "main.handle"+kind+"@main.go:9")
			ask := strings.Replace(inside(holder), "@store.go:9", "@store.go:9;main.handle"+kind+"@main.go:8", 1)
			arriveAt(p, 5, "network", ask)
			for g := 6; g < 9; g++ {
				arriveAt(p, g, "sync", accounttest.In("sync.(*Mutex).Lock@mutex.go:1", "main.put"+lock+"@store.go:7", "main.handle"+kind+"@main.go:7"))
			}
			for g := 5; g < 9; g++ {
				p.Pass(10 * time.Millisecond)
				p.Wake(g, "")
				p.Start(g)
				if g < 8 {
					p.Wake(g+1, unlock)
				}
				finishRequest(p, g)
				if g < 8 {
					p.Start(g + 1)
					p.Block("network", ask)
				}
			}
		}
		in := NewInput(session.New(traceOfProgram(t, p).Open()))
		all := Run(in)
		n, share := 0, 0.0
		for _, f := range all {
			if f.Rule == "LK02" && f.State == Found {
				n++
				share += f.Impact.Value
				if both := strings.Contains(f.Summary, " of its time for the same: "); both != c.same {
					t.Errorf("%s: %s", c.name, f.Summary)
				}
			}
		}
		if n != c.cards || c.same && (share < 0.55 || share > 0.65) {
			t.Errorf("%s: %d findings, %v of the time", c.name, n, share)
		}
	}
}

// TestSendersOfLeak: senders that never finish stand under the leak of goroutines at the same line; those that mostly do not.
func TestSendersOfLeak(t *testing.T) {
	for _, c := range []struct {
		name  string
		wants bool
		edit  func(send, leak *Finding)
	}{
		{"they never finish", true, func(_, _ *Finding) {}},
		{"most finish", false, func(send, _ *Finding) { send.staysOpen = false }},
		{"at another line", false, func(send, _ *Finding) { send.Evidence[0].Line = 4 }},
		{"the leak is a remark, the wait is not", false, func(send, leak *Finding) { send.Severity, leak.Severity = Warning, Info }},
	} {
		all := []Finding{seenAt("LK08", Info, 90, "/src/send.go", 3), seenAt("SC10", Warning, 50, "/src/send.go", 3)}
		all[0].staysOpen = true
		c.edit(&all[0], &all[1])
		k := &causal{all: all, rank: map[int]float64{}, marks: map[int][]bool{}, held: map[int][]bool{}}
		if got := k.follows(0, 1); got != c.wants {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestOfOneText: lines that add to one text in one loop are one finding.
func TestOfOneText(t *testing.T) {
	for _, c := range []struct {
		name, body string
		lines      []int
		want       int
	}{
		{"branches of a loop", "s := \"\"\nfor _, c := range all {\nif c == \"\" {\ns += \"-\"\n} else {\ns += c\n}\n}\nprintln(s)", []int{7, 9}, 1},
		{"a loop within", "s := \"\"\nfor _, c := range all {\ns += \"-\"\nfor range 3 {\ns += c\n}\n}\nprintln(s)", []int{6, 8}, 1},
		{"two variables", "s, r := \"\", \"\"\nfor _, c := range all {\nr += \"-\"\ns += c\n}\nprintln(s, r)", []int{6, 7}, 2},
		{"two loops", "s := \"\"\nfor _, c := range all {\ns += c\n}\nfor _, c := range all {\ns += c\n}\nprintln(s)", []int{6, 9}, 2},
		{"two of one name", "for _, c := range all {\nif c == \"\" {\ns := \"\"\nfor range 9 {\ns += c\n}\nprintln(s)\n} else {\ns := \"\"\nfor range 9 {\ns += c\n}\nprintln(s)\n}\n}", []int{8, 14}, 2},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop package=shop/cmd/shop\n")
		withSource(r, "a.go", "package main\n\nfunc f(all []string) {\n"+c.body+"\n}\n")
		in := NewInput(session.New(r.Open()))
		var found []Finding
		for i, line := range c.lines {
			f := seenAt("AL08", Warning, 90-i, "a.go", line)
			f.Impact, f.Summary = &Impact{0.4, "share of allocated bytes", 0.35, 0.45}, "x"
			found = append(found, f)
		}
		got := ofOneText(in.code, found)
		if len(got) != c.want {
			t.Errorf("%s: %d findings", c.name, len(got))
		}
		if c.want == 1 && (got[0].Impact.Value != 0.8 || !strings.HasSuffix(got[0].Summary, "adds to it in the same loop, too (40.0%): 80.0% together")) {
			t.Errorf("%s: %v %s", c.name, got[0].Impact, got[0].Summary)
		}
	}
}
