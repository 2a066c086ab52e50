package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const small = `panic: boom

goroutine 1 [running]:
main.(*T).run(0xc000010000, {0x1, 0x2?})
	/home/user/main.go:12 +0x65
main.main()
	/home/user/main.go:5 +0x1d

goroutine 18 [chan receive, 7 minutes]:
main.worker(0xc000020000)
	/home/user/main.go:20 +0x2a
created by main.main in goroutine 1
	/home/user/main.go:4 +0x3c

goroutine 19 [chan receive]:
main.worker(0xc000020008)
	/home/user/main.go:20 +0x2a
created by main.main in goroutine 1
	/home/user/main.go:4 +0x3c
exit status 2
`

// TestWrapped: the same dump behind everything that logs put around lines.
func TestWrapped(t *testing.T) {
	plain := Parse([]byte(small))
	want := plain.Groups(nil)
	if len(want) != 2 || want[0].Count != 2 || want[0].MaxWait != 7 || plain.Dumps[0].Kind != Panic {
		t.Fatalf("the dump itself: %+v, %+v", want, plain.Dumps)
	}
	lines := strings.Split(strings.TrimSuffix(small, "\n"), "\n")
	each := func(wrap func(i int, line string) string) string {
		var b strings.Builder
		for i, l := range lines {
			b.WriteString(wrap(i, l) + "\n")
		}
		return b.String()
	}
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	for name, text := range map[string]string{
		"container runtime": each(func(i int, l string) string {
			return fmt.Sprintf("2026-11-21T09:42:%02d.%dZ stderr F %s", i, 123456789+i, l)
		}),
		"compose":  each(func(_ int, l string) string { return strings.TrimRight("web_1  | "+l, " ") }),
		"journal":  each(func(_ int, l string) string { return "Nov 21 09:42:08 host app[4711]: " + l }),
		"indented": each(func(_ int, l string) string { return "    " + l }),
		"docker JSON": each(func(i int, l string) string {
			return fmt.Sprintf(`{"log":%s,"stream":"stderr","time":"2026-11-21T09:42:08.%dZ"}`, quote(l+"\n"), i)
		}),
		"JSON field":        each(func(_ int, l string) string { return `{"level":"info", "msg": ` + quote(l) + `}` }),
		"one JSON line":     `{"level":"error","msg":"first"}` + "\n" + `{"level":"error","msg":` + quote(small) + `}` + "\n",
		"one logfmt line":   `time=2026-11-21 level=error msg=` + quote(small) + "\n",
		"CRLF":              strings.ReplaceAll(small, "\n", "\r\n"),
		"blank lines gone":  strings.ReplaceAll(small, "\n\n", "\n"),
		"spaces for tabs":   strings.ReplaceAll(small, "\t", "        "),
		"other lines first": "listening on :8080\nGET / 200\n" + small + "restarted\n",
		"two services": each(func(i int, l string) string {
			return "web_1  | " + l + "\ndb_1   | checkpoint " + fmt.Sprint(i)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			f := Parse([]byte(text))
			check := func(f *File) {
				t.Helper()
				groups := f.Groups(nil)
				if len(groups) != len(want) || f.Goroutines() != 3 || len(f.Dumps) != 1 {
					t.Fatalf("%d groups of %d goroutines in %d dumps: %+v\n%s", len(groups), f.Goroutines(), len(f.Dumps), f.Dumps, text)
				}
				for i, x := range groups {
					if got := groupText(f, &x); got != groupText(plain, &want[i]) || x.Count != want[i].Count || x.MaxWait != want[i].MaxWait {
						t.Errorf("group %d is %q", i, got)
					}
				}
				if f.Unrecognised != 0 {
					t.Errorf("not understood: %+v", f.Odd)
				}
				if d := f.Dumps[0]; d.Kind != Panic || len(d.Panics) != 1 || d.Panics[0].Value != "boom" {
					t.Errorf("the message is %q: %+v", d.Message, d.Panics)
				}
			}
			check(f)
			calls, err := f.Calls(0)
			if err != nil || len(calls) != 2 || calls[0].Args != "0xc000010000, {0x1, 0x2?}" || calls[0].Offset != 0x65 {
				t.Errorf("calls %+v, %v", calls, err)
			}
			stream, err := Read(iotest.OneByteReader(strings.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			check(stream)
			if calls, err := stream.Calls(0); err != nil || len(calls) != 2 {
				t.Errorf("calls of a stream %+v, %v", calls, err)
			}
		})
	}
}

// TestForged: a message that looks like a dump is not believed.
func TestForged(t *testing.T) {
	fake := "goroutine 7 [running]:\nmain.evil()\n\t/x.go:1 +0x1\n\ngoroutine 8 [select]:\nmain.evil()\n\t/x.go:2 +0x1\n"
	rest := "\ngoroutine 1 [running]:\nmain.main()\n\t/home/user/main.go:5 +0x1d\n"
	// Since Go 1.23 lines of a value are behind a tab.
	f := Parse([]byte("panic: no\n\t" + strings.ReplaceAll(fake, "\n", "\n\t") + "\n" + rest))
	if f.Goroutines() != 1 || f.IDs[0] != 1 || !strings.Contains(f.Dumps[0].Panics[0].Value, "main.evil") {
		t.Errorf("behind tabs: %d goroutines, message %q", f.Goroutines(), f.Dumps[0].Message)
	}
	f = Parse([]byte("panic: no\n" + fake + rest))
	if f.Goroutines() != 1 || f.Len() != 3 || f.Flags[0]&Doubtful == 0 || f.Flags[1]&Doubtful == 0 || f.Flags[2] != 0 {
		t.Errorf("without tabs: %d goroutines, flags %v", f.Goroutines(), f.Flags)
	}
}

func TestMessages(t *testing.T) {
	f := func(message string, kind Kind, want ...PanicValue) {
		t.Helper()
		f := Parse([]byte(message + "\n\ngoroutine 1 [running]:\nmain.main()\n\t/m.go:5 +0x1d\n"))
		if len(f.Dumps) != 1 || f.Dumps[0].Kind != kind || !reflect.DeepEqual(f.Dumps[0].Panics, want) {
			t.Errorf("%q: %+v", message, f.Dumps)
		}
	}
	f("panic: a", Panic, PanicValue{Value: "a"})
	f("panic: a [recovered]\n\tpanic: b", Panic, PanicValue{Value: "a", Recovered: true}, PanicValue{Value: "b"})
	f("panic: a [recovered, repanicked]", Panic, PanicValue{Value: "a", Recovered: true, Repanicked: true})
	f("panic: a\n\tsecond line\n[signal SIGSEGV: x]", Panic, PanicValue{Value: "a\nsecond line"})
	f("panic: a\nsecond line\n\nfourth", Panic, PanicValue{Value: "a\nsecond line\n\nfourth"})
	f("panic: a [recovered]\n\tgoexit", Panic, PanicValue{Value: "a", Recovered: true, Goexit: true})
	f("panic: test timed out after 1s", Timeout, PanicValue{Value: "test timed out after 1s"})
	f("2026/11/21 http: panic serving 127.0.0.1:5: boom", Panic, PanicValue{Value: "boom"})
	f("fatal error: all goroutines are asleep - deadlock!", Deadlock)
	f("fatal error: concurrent map writes", Fatal)
	f("runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow", StackOverflow)
	f("SIGQUIT: quit\nPC=0x1 m=0 sigcode=0", Signal)
	if f := Parse([]byte("panic: alone\nexit status 2\n")); len(f.Dumps) != 1 || f.Dumps[0].Message != "panic: alone" || f.Len() != 0 {
		t.Errorf("without goroutines: %+v", f.Dumps)
	}
}

func TestSeveral(t *testing.T) {
	f := Parse([]byte(small + small + "goroutine 5 [running]:\nmain.f(...)\n\t/m.go:1\n\ngoroutine 5 [running]:\nmain.f(...)\n\t/m.go:1\n"))
	var got []int64
	for _, d := range f.Dumps {
		n := int64(0)
		for g := d.First; g < d.End; g++ {
			n += f.Count(g)
			if f.DumpOf(g) < 0 || f.Dumps[f.DumpOf(g)].First > g {
				t.Errorf("DumpOf(%d) = %d", g, f.DumpOf(g))
			}
		}
		got = append(got, n)
	}
	if !reflect.DeepEqual(got, []int64{3, 3, 1, 1}) {
		t.Errorf("goroutines of the dumps: %v", got)
	}
}

// TestOdd: what almost looks like a part of a dump is counted and kept.
func TestOdd(t *testing.T) {
	f := func(text string, odd int64, first string) {
		t.Helper()
		f := Parse([]byte(text))
		if f.Unrecognised != odd || odd > 0 && f.Odd[0].Text != first {
			t.Errorf("%q: %d, %+v", text, f.Unrecognised, f.Odd)
		}
	}
	f("goroutine 7 [running\n", 1, "goroutine 7 [running")
	f("goroutine 7 is fine\n", 0, "")
	f("goroutine 7 [select]:\nsomething else\nmain.main()\n\t/m.go:1 +0x1\n", 1, "something else")
	f("goroutine 7 [select]:\nmain.main()\n\t/m.go:1 +0x1\n\n\t/lost.go:2 +0x3\n", 1, "\t/lost.go:2 +0x3")
	f("goroutine 7 [a new state (with words), in a new form, 3 minutes] labels:{}]:\nmain.main()\n\t/m.go:1 +0x1\n", 0, "")
}

func TestCut(t *testing.T) {
	f := Parse([]byte("goroutine 7 [select]:\nmain.a()\n\t/m.go:1 +0x1\nmain.b("))
	if !f.Cut || f.Flags[0]&Cut == 0 || f.CutByGo() {
		t.Errorf("cut %v, flags %v", f.Cut, f.Flags)
	}
	block := "goroutine 7 [select]:\nmain.a()\n\t/m.go:1 +0x1\n\n"
	text := bytes.Repeat([]byte(strings.Replace(block, "7", "123456789", 1)), goLimit/len(block)+1)[:goLimit]
	if f := Parse(text); !f.CutByGo() || !f.Cut {
		t.Error("64 MiB are not told to be cut off")
	}
}

func TestParseArgs(t *testing.T) {
	f := func(text string, want ...Arg) {
		t.Helper()
		if got, err := ParseArgs(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	f("")
	f("0x1, 0x2?", Arg{Value: 1}, Arg{Value: 2, Stale: true})
	f("{0x1, {}, _}, ...", Arg{Kind: Aggregate, Fields: []Arg{{Value: 1}, {Kind: Aggregate}, {Kind: Far}}}, Arg{Kind: More})
	f("...", Arg{Kind: More})
	for _, bad := range []string{"{", "0x", "0x1,0x2", "0x1}", "x", "{0x1", strings.Repeat("{", 100)} {
		if got, err := ParseArgs(bad); err == nil {
			t.Errorf("%q: %+v and no error", bad, got)
		}
	}
}

func TestLabels(t *testing.T) {
	s, wait := parseState(`select (no cases) (durable), 5 minutes, locked to thread, synctest bubble 3, something labels:{"route": "/u, [x]", "b": "a\"b"}`)
	want := State{Name: "select (no cases)", Durable: true, Locked: true, Bubble: "3", More: "something", Labels: `"route": "/u, [x]", "b": "a\"b"`}
	if s != want || wait != 5 {
		t.Errorf("%+v, %d", s, wait)
	}
	if got := s.Pairs(); !reflect.DeepEqual(got, []Label{{"route", "/u, [x]"}, {"b", `a"b`}}) {
		t.Errorf("%+v", got)
	}
}

// lockPicture is a cache that is locked while a page is fetched.
func lockPicture(waiters int) string {
	var b strings.Builder
	for i := range waiters {
		fmt.Fprintf(&b, "goroutine %d [sync.Mutex.Lock, 2 minutes]:\ninternal/sync.runtime_SemacquireMutex(0x0?, 0x0?, 0x0?)\n\t/go/sema.go:95 +0x25\ninternal/sync.(*Mutex).lockSlow(0xc000012340)\n\t/go/mutex.go:149 +0x15d\nsync.(*Mutex).Lock(...)\n\t/go/mutex.go:46\nmain.(*Cache).Get(0x%x, {0x1, 0x2})\n\t/m.go:20 +0x2d\n\n", 100+i, i)
	}
	b.WriteString("goroutine 7 [IO wait]:\ninternal/poll.runtime_pollWait(0x7f, 0x72)\n\t/go/netpoll.go:1 +0x1\nnet/http.Get({0x1, 0x2})\n\t/go/client.go:5 +0x1\nmain.(*Cache).Get(0x1, {0x1, 0x2})\n\t/m.go:24 +0x4d\n\n")
	b.WriteString("goroutine 8 [select]:\nmain.idle()\n\t/m.go:50 +0x4d\n")
	return b.String()
}

// TestHolderWants: who was woken to take the lock, at the line where the others
// wait, does not hold it.
func TestHolderWants(t *testing.T) {
	text := lockPicture(5) + "\ngoroutine 9 [runnable]:\nsync.(*Mutex).Lock(...)\n\t/go/mutex.go:46\nmain.(*Cache).Get(0x9, {0x1, 0x2})\n\t/m.go:20 +0x2d\n" +
		"\ngoroutine 10 [runnable]:\nsync.(*Mutex).Lock(...)\n\t/go/mutex.go:46\nmain.(*Cache).Get(0xa, {0x1, 0x2})\n\t/m.go:22 +0x2d\n"
	f := Parse([]byte(text))
	var ids []uint64
	for _, g := range f.Locks(nil)[0].Holders {
		ids = append(ids, f.IDs[g])
	}
	if !slices.Equal(ids, []uint64{7, 10}) { // 10 is beyond, at another lock
		t.Errorf("the goroutines %v may hold it, want 7 and 10", ids)
	}
}

// TestSuspectsOfRuntime: goroutines of the runtime may wait as long as they like.
func TestSuspectsOfRuntime(t *testing.T) {
	f := Parse([]byte("goroutine 5 [GOMAXPROCS updater (idle), 12 minutes]:\nruntime.goexit({})\n\t/go/asm.s:1 +0x1\n\ngoroutine 6 [finalizer wait, 12 minutes]:\nruntime.goexit({})\n\t/go/asm.s:1 +0x1\n"))
	if s := Suspects(f, nil); len(s) > 0 {
		t.Errorf("it suspects %+v", s)
	}
}

func TestLocks(t *testing.T) {
	f := Parse([]byte(lockPicture(5)))
	locks := f.Locks(nil)
	if len(locks) != 1 {
		t.Fatalf("%+v", locks)
	}
	l := locks[0]
	if l.Address != 0xc000012340 || l.Waiters != 5 || l.MaxWait != 2 || l.Caller != "main.(*Cache).Get" || l.Line != 20 || len(l.Holders) != 1 || f.IDs[l.Holders[0]] != 7 {
		t.Errorf("%+v", l)
	}
	s := Suspects(f, nil)
	if len(s) != 1 || s[0].Concern != ConcernLock || s[0].Count != 5 {
		t.Errorf("%+v", s)
	}
}

func TestFilter(t *testing.T) {
	f := Parse([]byte(small))
	check := func(text string, want ...uint64) {
		t.Helper()
		x, err := ParseFilter(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			return
		}
		keep := x.Keep(f)
		var got []uint64
		for g := range f.IDs {
			if keep(g) {
				got = append(got, f.IDs[g])
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	check("", 1, 18, 19)
	check("state~chan", 18, 19)
	check(`state="chan receive" age>=5m`, 18)
	check("age<1m", 1, 19)
	check("func~worker g=18,1", 18)
	check("func!~worker", 1)
	check("creator=main.main", 18, 19)
	check("creator!~main", 1)
	check("leaked")
	for _, bad := range []string{"state", "age~5", "age>x", "color=red", `state="x`, "func~(", "g=x", "leaked=1"} {
		if _, err := ParseFilter(bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestCompare(t *testing.T) {
	old, new := Parse([]byte(small)), Parse([]byte(lockPicture(2)+strings.Split(small, "\n\n")[2]))
	changes := Compare(old, new, nil, nil)
	sum := int64(0)
	for _, c := range changes {
		sum += c.New - c.Old
		if c.In.Stacks == nil || c.In == old != (c.New == 0) {
			t.Errorf("%+v", c)
		}
	}
	if len(changes) != 5 || sum != new.Goroutines()-old.Goroutines() || changes[0].New-changes[0].Old != 2 {
		t.Errorf("%+v", changes)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples(f)[:20] {
		f.Add(s.text[:min(len(s.text), 3000)])
	}
	f.Add([]byte(small))
	f.Add([]byte(`{"log":"goroutine 1 [a]:\n"}` + "\n" + `{"log":"main.f()\n"}` + "\n"))
	f.Add([]byte(`m="panic: x\n\ngoroutine 1 [a]:\nf()\n\t/x.go:1\n"`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := Parse(text)
		b, err := Read(iotest.HalfReader(bytes.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if a.Goroutines() != b.Goroutines() || a.Frames != b.Frames || a.Unrecognised != b.Unrecognised || a.Lines != b.Lines || len(a.Races) != len(b.Races) {
			t.Errorf("as bytes %d goroutines, %d frames, %d odd, %d lines; as a stream %d, %d, %d, %d", a.Goroutines(), a.Frames, a.Unrecognised, a.Lines, b.Goroutines(), b.Frames, b.Unrecognised, b.Lines)
		}
		for g := range a.IDs {
			calls, _ := a.Calls(g)
			for _, c := range calls {
				ParseArgs(c.Args)
			}
			a.State(g).Pairs()
			a.DumpOf(g)
		}
		Suspects(a, nil)
		a.StateCounts(nil)
		a.AgeCounts(nil)
		Compare(a, b, nil, nil)
		// What is kept is a small multiple of what was read.
		if n := a.Stacks.NumFrames(); n > len(text)/4+8 {
			t.Errorf("%d frames of %d bytes", n, len(text))
		}
	})
}

// TestProfileStates: the text of a profile names no states; the functions tell those
// that are among its frames, and who waits for a lock is seen.
func TestProfileStates(t *testing.T) {
	const text = `goroutine profile: total 32
20 @ 0x1 0x2 0x3
# labels: {"route":"/a"}
#	0x1	internal/sync.runtime_SemacquireMutex+0x25	/go/src/runtime/sema.go:95
#	0x2	sync.(*Mutex).Lock+0x1	/go/src/sync/mutex.go:46
#	0x3	main.locked+0x1	/src/main.go:5

10 @ 0x4
#	0x4	main.worker+0x1	/src/main.go:9

1 @ 0x5 0x3
#	0x5	time.Sleep+0x1	/go/src/runtime/time.go:363
#	0x3	main.locked+0x1	/src/main.go:5

1 @ 0x6
#	0x6	main.run+0x1	/src/main.go:20
`
	states := func(text string) string {
		f := Parse([]byte(text))
		var out []string
		for _, g := range f.Groups(nil) {
			out = append(out, fmt.Sprintf("%d %s", g.Count, g.State))
		}
		return strings.Join(out, "; ")
	}
	const want = "20 sync.Mutex.Lock; 10 goroutine; 1 sleep; 1 goroutine"
	if got := states(text); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f := Parse([]byte(text))
	if s := Suspects(f, nil); len(s) != 1 || s[0].Concern != ConcernLock || len(s[0].Lock.Holders) != 1 {
		t.Errorf("%+v", s)
	}
	if got := states(strings.Replace(text, "goroutine profile", "threadcreate profile", 1)); strings.Contains(got, "Lock") || strings.Contains(got, "sleep") {
		t.Errorf("threads: %s", got)
	}
	if s := f.State(0); s.Leaked {
		t.Errorf("%+v", s)
	}
	if leaked := Parse([]byte(strings.Replace(text, "goroutine profile", "goroutineleak profile", 1))); !leaked.State(0).Leaked || leaked.State(0).Name != "sync.Mutex.Lock" {
		t.Errorf("%+v", leaked.State(0))
	}
}
