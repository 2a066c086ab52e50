package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/session"
	"loupe/value/stack"
)

// pendingWrites is a program of whose requests each waits to read, behind a writer that waits for a reader.
func pendingWrites() *accounttest.Program {
	const writer, reader = 40, 41
	const pause = "time.Sleep@sleep.go:1;main.(*shard).export@shard.go:25;main.exports@shard.go:40"
	const lock = "sync.(*RWMutex).Lock@rw.go:1;main.(*shard).set@shard.go:14;main.monitor@shard.go:44"
	p := accounttest.New()
	p.Connect(5)
	for i := range 20 {
		p.Pass(time.Millisecond)
		p.Arrive(5)
		if i == 0 {
			p.Create(writer, "main.monitor", accounttest.In("main.handle@main.go:3"))
			p.Create(reader, "main.exports", accounttest.In("main.handle@main.go:4"))
			p.Block("sync", accounttest.In("sync.(*RWMutex).RLock@rw.go:3", "main.(*shard).query@shard.go:32", "main.handle@main.go:7"))
			p.Start(reader)
			p.Block("sleep", pause)
			p.Start(writer)
			p.Block("sync", lock)
		} else {
			p.Block("sync", accounttest.In("sync.(*RWMutex).RLock@rw.go:3", "main.(*shard).query@shard.go:32", "main.handle@main.go:7"))
		}
		p.Pass(15 * time.Millisecond)
		p.Wake(reader, "")
		p.Start(reader)
		p.Wake(writer, "sync.(*RWMutex).RUnlock@rw.go:4;main.(*shard).export@shard.go:27;main.exports@shard.go:40")
		p.Block("sleep", pause)
		p.Start(writer)
		p.Wake(5, "sync.(*RWMutex).Unlock@rw.go:2;main.(*shard).set@shard.go:19;main.monitor@shard.go:44")
		p.Block("sync", lock)
		p.Start(5)
		p.Respond(5)
	}
	return p
}

// TestPendingWriter: readers that wait behind a writer, which waits for a reader, are told so, with the line of the writer; a writer that holds the lock
// itself while it pauses is a holder, and what it does is no I/O.
func TestPendingWriter(t *testing.T) {
	const source = "package main\n\nimport (\n\t\"sync\"\n\t\"time\"\n)\n\ntype shard struct {\n\tmu sync.RWMutex\n\ton bool\n}\n\nfunc (s *shard) set(on bool) {\n\ts.mu.Lock()\n\tif s.on == on {\n\t\treturn\n\t}\n\ts.on = on\n\ts.mu.Unlock()\n}\n\nfunc (s *shard) export() {\n\ts.mu.RLock()\n\tfor range 9 {\n\t\ttime.Sleep(1)\n\t}\n\ts.mu.RUnlock()\n}\n\n\nfunc (s *shard) query() {\n\ts.mu.RLock()\n\tdefer s.mu.RUnlock()\n}\n"
	for _, c := range []struct{ name, source, title, says, advice string }{
		{"a writer between", source, "Readers wait for a pending writer of a RWMutex, which waits for a reader that pauses",
			"all the while a writer is before it, main.(*shard).set at shard.go:14, which waits for a reader that is sleeping in main.(*shard).export at shard.go:25: a pending Lock holds back all who come to read after it; Lock there waited 21 times in the trace",
			"To make that rarer, take Lock at shard.go:14 more rarely: only where there is something to change, which a look under RLock, or at an atomic value, tells before (line 15 looks when Lock has been taken). Find out first"},
		{"it always changes something", strings.Replace(source, "\tif s.on == on {\n\t\treturn\n\t}\n", "\tuse(\n\t\ton,\n\t)\n", 1), "Readers wait for a pending writer", "a pending Lock holds back", "tells before."},
		{"the reader before has another lock", strings.Replace(source, "\ts.mu.RLock()\n\tfor", "\ts.rw.RLock()\n\tfor", 1), "Lock held while its holder pauses", "whose holder (it lets go in main.(*shard).set at shard.go:19) waits for a goroutine that is sleeping", "Find out first what the lock is there for"},
		{"who waits wants to write", strings.Replace(source, "query() {\n\ts.mu.RLock()\n\tdefer s.mu.RUnlock()", "query() {\n\ts.mu.Lock()\n\tdefer s.mu.Unlock()", 1), "Lock held while its holder pauses", "main.(*shard).export holds shard.mu, taken at shard.go:23, for 100% of the time that others wait for it, sleeping in main.(*shard).export at shard.go:25", "Find out first what the lock is there for"},
	} {
		r := traceOfProgram(t, pendingWrites())
		withSource(r, "shard.go", c.source)
		f := answers(t, r, "LK02")[0]
		if f.State != Found || !strings.HasPrefix(f.Title, c.title) || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s: %s: %s: %s", c.name, f.State, f.Title, f.Summary, f.Advice)
		}
		if strings.HasPrefix(c.title, "Readers") && f.Evidence[0].Line != 14 {
			t.Errorf("%s: %+v", c.name, f.Evidence[0])
		}
		in := NewInput(session.New(r.Open()))
		at := func(fn string, line int) stack.Frame {
			return stack.Frame{Func: "main.(*shard)." + fn, File: "shard.go", Line: line}
		}
		w := pendingAt(in, at("query", 32), []stack.Frame{{Func: "time.Sleep"}, at("export", 25)})
		if between := strings.HasPrefix(c.title, "Readers"); (w != nil) != between || between && (w.at.Line != 14 || w.reader.Line != 23) {
			t.Errorf("%s: the writer is %+v", c.name, w)
		}
		queued := slices.ContainsFunc(answers(t, r, "LK01"), func(f Finding) bool { return strings.Contains(f.Summary, "a pending Lock holds back") })
		if queued != strings.HasPrefix(c.title, "Readers") {
			t.Errorf("%s: LK01: %v", c.name, queued)
		}
	}
}
