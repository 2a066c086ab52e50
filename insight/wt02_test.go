package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// readNet is the leaf of a wait for an answer.
const readNet = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1"

// ask writes to a peer and waits for its answer, at lines below the handler.
func ask(p *accounttest.Program, d time.Duration, frames ...string) {
	sendIn(p, frames...)
	await(p, d, "network", append([]string{readNet}, frames...)...)
}

// await waits for a reason until nobody ends it.
func await(p *accounttest.Program, d time.Duration, reason string, frames ...string) {
	p.Block(reason, accounttest.In(frames...))
	p.Pass(d)
	p.Wake(5, "")
	p.Start(5)
}

// queried makes queries that a database answers within the process.
func queried(p *accounttest.Program, n int, frames ...string) {
	for i := range n {
		p.Create(100+i, "database/sql.(*Rows).initContextClose.gowrap1", accounttest.In(append([]string{startsRows + "@sql.go:1", "database/sql.(*DB).QueryContext@sql.go:2"}, frames...)...))
		await(p, 2*time.Millisecond, "sync", append([]string{"sync.(*Mutex).Lock@mutex.go:1", "modernc.org/libc.lock@libc.go:1"}, frames...)...)
		p.Preempt(accounttest.In(frames...))
		p.Start(100 + i)
		p.End()
		p.Start(5)
	}
}

// toOwnClient writes to the client of the request.
func toOwnClient(p *accounttest.Program) {
	p.Call(time.Microsecond, accounttest.In("syscall.write@z.go:1", "internal/poll.(*FD).Write@fd.go:1", "net.(*conn).Write@net.go:1", "net/http.checkConnErrorWriter.Write@server.go:20", "net/http.(*response).Flush@server.go:21", "main.handle@main.go:9"))
}

func TestWT02(t *testing.T) {
	const query, handle = "main.query@db.go:40", "main.handle@main.go:7"
	n := 0
	for _, c := range []struct {
		name          string
		do            func(p *accounttest.Program)
		severity      Severity // "" is fine
		says, advises string
	}{
		{"asks for each item", func(p *accounttest.Program) {
			n++
			for range 6 + n%8 {
				ask(p, 2*time.Millisecond, query, handle)
			}
		}, Warning, "makes the same call to a peer 9.30 times, one after another, in main.query at db.go:40: 99.9% of its time, 2.00 ms each, on average over 20; each additional call makes it 2.00 ms longer (up to 13 calls)", "N+1"},
		{"asks a database in the process", func(p *accounttest.Program) { queried(p, 8, query, handle) }, Warning,
			"makes a query of the database about 8 times, one after another, in main.query at db.go:40: 100% of its time, 2.00 ms each", "one query with many keys"},
		{"asks it four times", func(p *accounttest.Program) { queried(p, 4, query, handle) }, "", "calls nothing outside", ""},
		{"asks four times", func(p *accounttest.Program) {
			for range 4 {
				ask(p, 2*time.Millisecond, query, handle)
			}
		}, "", "most often one in main.query at db.go:40, 4 times", ""},
		{"asks for different things by one helper", func(p *accounttest.Program) {
			for _, line := range []string{"1", "2", "3", "4", "5", "6"} {
				ask(p, 2*time.Millisecond, query, "main.handle@main.go:1"+line)
			}
		}, "", "one time", ""},
		{"reads one answer in pieces", func(p *accounttest.Program) {
			sendIn(p, handle)
			for range 20 {
				await(p, time.Millisecond, "network", readNet, handle)
			}
		}, "", "one time", ""},
		{"asks often and computes longer", func(p *accounttest.Program) {
			for range 10 {
				ask(p, 300*time.Microsecond, query, handle)
				p.Pass(3 * time.Millisecond)
			}
		}, "", "10 times, 9.", ""},
		{"passes on what comes", func(p *accounttest.Program) {
			for range 10 {
				ask(p, 2*time.Millisecond, query, handle)
				toOwnClient(p)
			}
		}, Info, "10 times", "N+1"},
		{"syncs each", func(p *accounttest.Program) {
			for range 10 {
				p.Call(2*time.Millisecond, accounttest.In("syscall.Fsync@z.go:1", "os.(*File).Sync@file.go:1", handle))
			}
		}, Warning, "a call on files 10 times", "Sync once for all"},
		{"syncs each after a write, without package os", func(p *accounttest.Program) {
			for range 10 {
				const save = "main.save@main.go:20"
				p.Call(20*time.Microsecond, accounttest.In("syscall.Pwrite@z.go:1", "go.etcd.io/bbolt.(*Tx).write@tx.go:1", save, handle))
				p.Call(2*time.Millisecond, accounttest.In("syscall.Fdatasync@z.go:1", "go.etcd.io/bbolt.fdatasync@bolt.go:1", save, handle))
			}
		}, Warning, "a call on files 10 times", "Sync once for all"},
		{"reads a file in pieces, without package os", func(p *accounttest.Program) {
			for range 10 {
				p.Call(2*time.Millisecond, accounttest.In("golang.org/x/sys/unix.Pread@z.go:1", "main.load@main.go:20", handle))
			}
		}, "", "repeats no call that takes long by one way through the code", ""},
		{"reads a file in pieces", func(p *accounttest.Program) {
			for range 10 {
				p.Call(2*time.Millisecond, accounttest.In("syscall.read@z.go:1", "os.(*File).Read@file.go:1", handle))
			}
		}, "", "repeats no call that takes long by one way through the code", ""},
		{"examines the files of a tree", func(p *accounttest.Program) {
			for range 10 {
				p.Call(2*time.Millisecond, accounttest.In("syscall.fstatat@z.go:1", "os.Lstat@stat.go:1", "main.visit@main.go:20", "path/filepath.walkDir@path.go:1", "path/filepath.WalkDir@path.go:2", handle))
			}
		}, "", "goes through a tree of files, and makes a call in main.visit at main.go:20 for each of 10", ""},
		{"examines files", func(p *accounttest.Program) {
			for range 10 {
				p.Call(2*time.Millisecond, accounttest.In("syscall.fstatat@z.go:1", "os.Lstat@stat.go:1", handle))
			}
		}, Warning, "a call on files 10 times", "os.ReadDir"},
		{"starts processes", func(p *accounttest.Program) {
			for range 6 {
				p.Call(2*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", handle))
				p.Call(time.Millisecond, accounttest.In("syscall.close@z.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", handle))
			}
		}, Warning, "another process 6 times", "Do not start a process for each"},
		{"examines files around each process", func(p *accounttest.Program) {
			for range 6 {
				for range 20 {
					p.Call(10*time.Microsecond, accounttest.In("syscall.lstat@z.go:1", "os.Lstat@stat.go:1", "go/build.(*Context).importGo@build.go:1", handle))
				}
				p.Call(20*time.Microsecond, accounttest.In("syscall.fstatat@z.go:1", "os.Stat@stat.go:1", "os/exec.LookPath@lp.go:1", "go/build.(*Context).importGo@build.go:2", handle))
				p.Call(3*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", "go/build.(*Context).importGo@build.go:2", handle))
			}
		}, Warning, "another process 6 times, one after another, in main.handle at main.go:7: 93.8% of its time, 3.02 ms each", "Do not start a process for each"},
		{"starts few processes, and examines many files for them", func(p *accounttest.Program) {
			for range 20 {
				p.Call(10*time.Microsecond, accounttest.In("syscall.lstat@z.go:1", "os.Lstat@stat.go:1", "go/build.(*Context).importGo@build.go:1", handle))
			}
			p.Call(9*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", "go/build.(*Context).importGo@build.go:2", handle))
		}, "", "most often one in main.handle at main.go:7, 20 times, 2.17% of its time", ""},
		{"reads files for each request to a peer", func(p *accounttest.Program) {
			for range 6 {
				for range 20 {
					p.Call(10*time.Microsecond, accounttest.In("syscall.open@z.go:1", "os.Open@file.go:1", "example.org/api.(*Client).Do@api.go:1", handle))
				}
				ask(p, 2*time.Millisecond, "example.org/api.(*Client).Do@api.go:2", handle)
			}
		}, Warning, "the same call to a peer 6 times", "N+1"},
		{"computes", func(p *accounttest.Program) { p.Pass(15 * time.Millisecond) }, "", "calls nothing outside", ""},
	} {
		f := answers(t, served(t, 20, c.do), "WT02")[0]
		if c.severity == "" {
			if f.State != Fine || !strings.Contains(f.Summary, c.says) || strings.Contains(f.Summary, " 0 times") {
				t.Errorf("%s: %s, %s, want fine with %q", c.name, f.State, f.Summary, c.says)
			}
			continue
		}
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises) || f.Impact == nil {
			t.Errorf("%s: %s %s: %s\nadvice: %s\nwant %s with %q and %q", c.name, f.State, f.Severity, f.Summary, f.Advice, c.severity, c.says, c.advises)
		}
	}
}

// TestGathersBefore: a sync behind a loop, or of a transaction with one, may be one for many.
func TestGathersBefore(t *testing.T) {
	for text, want := range map[string]bool{
		"func f() {\nSYNC\n}": false,
		"func f() {\nfor _, x := range all {\nw.Write(x)\n}\nSYNC\n}":                               true,
		"func f() {\nfor _, x := range all {\nw.Write(x)\nSYNC\n}\n}":                               false,
		"func f() {\ndb.Update(func(tx T) { // SYNC\nfor _, x := range all {\nput(tx, x)\n}\n})\n}": true,
	} {
		text = "package main\n\n" + text + "\n"
		line := strings.Count(text[:strings.Index(text, "SYNC")], "\n") + 1
		if got := gathersBefore(sourceOf(strings.Replace(text, "SYNC", "w.Sync()", 1)), stack.Frame{Func: "main.f", File: "a.go", Line: line}); got != want {
			t.Errorf("%v of\n%s", got, text)
		}
	}
}

// TestWaitCards: of two findings about one wait that which says what it is for is the card.
func TestWaitCards(t *testing.T) {
	r := served(t, 20, func(p *accounttest.Program) {
		for range 8 {
			ask(p, 2*time.Millisecond, "main.query@db.go:40", "main.handle@main.go:7")
		}
	})
	in := NewInput(session.New(r.Open()))
	all := Run(in)
	if got := drawn(all, Cards(in, all)); !strings.HasPrefix(got, "WT02(WT01)") {
		t.Errorf("the cards are %s", got)
	}
}

// TestWT02Ways: what each turn of a loop asks by several ways is counted together; what another loop, or another line
// without one asks, and what is asked far less often, is not.
func TestWT02Ways(t *testing.T) {
	const source = "package main\n\nfunc present(jobs []int) {\nfor _, j := range jobs {\nfill(j) // A\n}\nfor _, j := range jobs {\nfill(j) // B\n}\nfill(0) // C\n}\n"
	at := func(mark string) string { return fmt.Sprintf("main.present@/src/main.go:%d", lineOfMark(source, mark)) }
	const query = "main.query@db.go:40"
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		says string
		ways bool
	}{
		{"two for each", func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, query, "main.build@db.go:7", at("A"))
				ask(p, 2*time.Millisecond, query, "main.inputs@db.go:8", at("A"))
			}
		}, "16 times", true},
		{"three for each", func(p *accounttest.Program) {
			for range 8 {
				for _, way := range []string{"main.build@db.go:7", "main.inputs@db.go:8", "main.outputs@db.go:9"} {
					ask(p, 2*time.Millisecond, query, way, at("A"))
				}
			}
		}, "24 times", true},
		{"one for each", func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, query, "main.build@db.go:7", at("A"))
			}
		}, "8 times", false},
		{"one more at times", func(p *accounttest.Program) {
			for i := range 8 {
				ask(p, 2*time.Millisecond, query, "main.build@db.go:7", at("A"))
				if i < 2 {
					ask(p, 2*time.Millisecond, query, "main.inputs@db.go:8", at("A"))
				}
			}
		}, "8 times", false},
		{"two loops", func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, query, "main.build@db.go:7", at("A"))
			}
			for range 8 {
				ask(p, 2*time.Millisecond, query, "main.inputs@db.go:8", at("B"))
			}
		}, "8 times", false},
		{"no loop", func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, query, "main.build@db.go:7", at("C"))
				ask(p, 2*time.Millisecond, query, "main.inputs@db.go:8", at("C"))
			}
		}, "8 times", false},
	} {
		r := served(t, 20, c.do)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		f := answers(t, r, "WT02")[0]
		if f.State != Found || !strings.Contains(f.Summary, " "+c.says+", one after") || strings.Contains(f.Summary, "by 2 ways") != c.ways && strings.Contains(f.Summary, "by 3 ways") != c.ways {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// TestWT02Lines: what a loop asks at several lines, or by several functions, is counted together; what another loop asks, what
// changes something beside what is read, and what is done with files, is not.
func TestWT02Lines(t *testing.T) {
	const source = `package main

func present(jobs []int) {
	for _, j := range jobs {
		a := route(j) // A
		b := trip(j) // B
		for range 9 {
			more(j) // INNER
		}
		updateJob(a, b) // WRITE
	}
	for _, j := range jobs {
		trip(j) // OTHER
	}
	trip(0) // NONE
}
`
	at := func(mark string) string { return fmt.Sprintf("main.present@/src/main.go:%d", lineOfMark(source, mark)) }
	const route, trip, write = "main.route@db.go:40", "main.trip@db.go:50", "main.updateJob@db.go:60"
	pairs := func(p *accounttest.Program, second ...string) {
		for range 8 {
			ask(p, 2*time.Millisecond, route, at("A"))
			ask(p, 2*time.Millisecond, second...)
		}
	}
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		says string
	}{
		{"by two functions at two lines", func(p *accounttest.Program) { pairs(p, trip, at("B")) },
			"makes 16 calls to a peer, one after another, in a loop: 8 in main.route at db.go:40, called in main.present at main.go:5; and 8 in main.trip at db.go:50, called in main.present at main.go:6: 99.9% of its time, 2.00 ms each"},
		{"by one function at two lines", func(p *accounttest.Program) { pairs(p, route, at("B")) },
			"16 times, one after another, in main.route at db.go:40, called in main.present at main.go:5 in a loop: 99.9% of its time, 2.00 ms each, on average over 20; the loop makes it by 2 ways, 8 and 8 times"},
		{"by two functions at one line", func(p *accounttest.Program) { pairs(p, trip, at("A")) },
			"makes 16 calls to a peer, one after another, in a loop: 8 in main.route"},
		{"in another loop", func(p *accounttest.Program) { pairs(p, trip, at("OTHER")) }, "makes the same call to a peer 8 times"},
		{"in a loop within", func(p *accounttest.Program) { pairs(p, "main.more@db.go:70", at("INNER")) }, "makes the same call to a peer 8 times"},
		{"without a loop", func(p *accounttest.Program) { pairs(p, trip, at("NONE")) }, "makes the same call to a peer 8 times"},
		{"changes what it has read", func(p *accounttest.Program) { pairs(p, write, at("WRITE")) }, "makes the same call to a peer 8 times"},
		{"syncs two files", func(p *accounttest.Program) {
			for range 8 {
				for _, way := range []string{route, trip} {
					p.Call(2*time.Millisecond, accounttest.In("syscall.Fsync@z.go:1", "os.(*File).Sync@file.go:1", way, at("A")))
				}
			}
		}, "makes a call on files 8 times"},
	} {
		r := served(t, 20, c.do)
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		if f := answers(t, r, "WT02")[0]; f.State != Found || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// TestWT02Besides: the system calls and the waits for a P at the line of calls count with them, unless others make calls there,
// or what runs there is interrupted.
func TestWT02Besides(t *testing.T) {
	const query, handle = "main.query@db.go:40", "main.handle@main.go:7"
	send := func(p *accounttest.Program) {
		p.Call(500*time.Microsecond, accounttest.In("syscall.write@z.go:1", "internal/poll.(*FD).Write@fd.go:1", "net.(*conn).Write@net.go:1", query, handle))
	}
	late := func(p *accounttest.Program, from string) {
		p.Block("network", accounttest.In(readNet, query, from))
		p.Pass(time.Millisecond)
		p.Wake(5, "")
		p.Pass(500 * time.Microsecond)
		p.Start(5)
	}
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		says string // "" is nothing
	}{
		{"of these calls", func(p *accounttest.Program) {
			for range 8 {
				send(p)
				late(p, handle)
			}
		}, "50.0% of its time, 1.00 ms each, on average over 20; there it spends 25.0% in system calls and 25.0% waiting for a P as well, 100% in all"},
		{"of others too", func(p *accounttest.Program) {
			for range 8 {
				send(p)
				late(p, handle)
			}
			for range 2 {
				send(p)
				late(p, "main.handle@main.go:9")
			}
		}, ""},
		{"interrupted", func(p *accounttest.Program) {
			for range 8 {
				send(p)
				late(p, handle)
				for range 3 {
					p.Preempt(accounttest.In(query, handle))
					p.Pass(10 * time.Microsecond)
					p.Start(5)
				}
			}
		}, "there it spends 24."},
	} {
		f := answers(t, served(t, 20, c.do), "WT02")[0]
		if f.State != Found || c.says == "" && strings.Contains(f.Summary, "there it spends") || !strings.Contains(f.Summary, c.says) || c.name == "interrupted" && strings.Contains(f.Summary, "for a P") {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}
