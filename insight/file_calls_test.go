package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// numbered are the lines of a source that have the marks 1, 2 and so on, the nearest to a call first.
func numbered(text string) (path []stack.Frame) {
	for n := '1'; ; n++ {
		i := strings.Index(text, "/*"+string(n)+"*/")
		if i < 0 {
			return path
		}
		path = append(path, stack.Frame{Func: "main.f", File: "a.go", Line: strings.Count(text[:i], "\n") + 1})
	}
}

// TestEffectAfter: what a turn does after a sync is found, in its function and in its callers up to
// the loop; what only counts, logs or handles the error of the sync is none.
func TestEffectAfter(t *testing.T) {
	const sync = "if err := f.Sync(); err != nil { /*1*/\nreport(err)\nreturn err\n}\n"
	for _, c := range []struct{ name, body, want string }{
		{"nothing", "func f() {\nfor _, x := range all {\nf.Write(x)\n" + sync + "}\n}", ""},
		{"it counts", "func f() {\nfor _, x := range all {\n" + sync + "n++\nm.Inc()\nlog.Printf(`x`)\ndone[x] = true\n}\n}", ""},
		{"it acknowledges", "func f() {\nfor x := range all {\n" + sync + "x.Ack()\n}\n}", "x.Ack"},
		{"it sends", "func f() {\nfor x := range all {\n" + sync + "x.done <- true\n}\n}", "a send on x.done"},
		{"it renames", "func save(name string) error {\n" + sync + "return os.Rename(tmp, name)\n}\nfunc f() {\nfor x := range all {\nsave(x) /*2*/\n}\n}", "os.Rename"},
		{"its caller acts", "func note() error {\nreturn f.Sync() /*1*/\n}\nfunc f() {\nfor x := range all {\nif err := note(); err != nil { /*2*/\nreturn\n}\nsum += launch(x)\n}\n}", "launch"},
		{"a transaction", "func put() error {\nreturn db.Update(func(tx *Tx) error { /*1*/\nreturn tx.Put(x)\n})\n}\nfunc f() {\nfor x := range all {\nput() /*2*/\nn++\n}\n}", ""},
		{"a transaction in the loop", "func f() {\nfor x := range all {\ndb.Update(func(tx *Tx) error { /*1*/\nreturn tx.Put(x)\n})\nx.Ack()\n}\n}", "x.Ack"},
		{"where it worked", "func f() {\nfor x := range all {\nif err := f.Sync(); err == nil { /*1*/\nw.Write(ok)\n}\n}\n}", "w.Write"},
		{"before", "func f() {\nfor x := range all {\nsend(x)\n" + sync + "}\n}", ""},
		{"behind the loop", "func f() {\nfor x := range all {\n" + sync + "}\nreply()\n}", ""},
		{"beyond the loop", "func g() {\nfor x := range all {\n" + sync + "}\n}\nfunc f() {\ng() /*2*/\nreply()\n}", ""},
	} {
		text := "package main\n\n" + c.body + "\n"
		e, ok := effectAfter(sourceOf(text), numbered(text))
		if e.name != c.want || ok != (c.want != "") {
			t.Errorf("%s: %+v, want %q", c.name, e, c.want)
		}
	}
}

// TestCombineSyncs: the advice goes by what follows each sync, and by whose file it is.
func TestCombineSyncs(t *testing.T) {
	for _, c := range []struct{ name, body, advice, doubt string }{
		{"of one file", "func f() {\nfor x := range all {\nw.Write(x)\nw.Sync() /*1*/\n}\n}", "Sync once for all of them", ""},
		{"of one each", "func f() {\nfor x := range all {\nw, _ := os.Create(x)\nw.Sync() /*1*/\n}\n}", "Each sync is of a file of its own", ""},
		{"of one each, that is renamed", "func f() {\nfor x := range all {\nw, _ := os.Create(x)\nw.Sync() /*1*/\nos.Rename(x, y)\n}\n}", "Each sync is of a file of its own", "os.Rename at a.go:7 follows each sync"},
		{"the next turn writes elsewhere", "import `os`\n\nfunc f() {\nfor x := range all {\nwipe(x)\nw.Sync() /*1*/\n}\n}\nfunc wipe(x string) { os.WriteFile(x, nil, 0) }", "only if what follows each sync can wait for it", "wipe at a.go:7 follows each sync, at the top of the next turn"},
		{"the next turn asks for what comes behind it", "import `net/http`\n\ntype T struct { at int }\nfunc (t *T) poll() { http.Get(t.at) }\nfunc (t *T) f() {\nfor range 9 {\nt.poll()\nw.Sync() /*1*/\nt.at++\n}\n}", "only if what follows each sync can wait for it", "t.poll at a.go:9 follows each sync"},
		{"the next turn asks for another one", "import `net/http`\n\nfunc f() {\nfor x := range all {\nb := http.Get(x)\nw.Write(b)\nw.Sync() /*1*/\nn++\n}\n}", "Sync once for all of them", ""},
		{"the next turn reads on", "import `bufio`\n\nfunc f(r *bufio.Reader) {\nfor {\nb := r.ReadString(x)\nw.Write(b)\nw.Sync() /*1*/\n}\n}", "Sync once for all of them", ""},
		{"the next turn tells a peer", "import (`net`; `fmt`)\n\nfunc f(c net.Conn) {\nfor x := range all {\nfmt.Fprintln(c, x)\nw.Sync() /*1*/\n}\n}", "only if what follows each sync can wait for it", "fmt.Fprintln at a.go:7 follows each sync"},
		{"the next turn sends", "func f() {\nfor x := range all {\nout <- x\nw.Sync() /*1*/\n}\n}", "only if what follows each sync can wait for it", "a send on out at a.go:5 follows each sync"},
		{"a helper writes and syncs", "type T struct { f *os.File }\nfunc (t *T) store(x []byte) error {\nt.f.Write(x)\nreturn t.f.Sync() /*1*/\n}\nfunc f(t *T) {\nfor x := range all {\nt.store(x) /*2*/\nn++\n}\n}", "Sync once for all of them", ""},
		{"before an answer", "func f() {\nfor x := range all {\nw.Sync() /*1*/\nx.Ack()\n}\n}", "only if what follows each sync can wait for it", "x.Ack at a.go:6 follows each sync"},
	} {
		text := "package main\n\n" + c.body + "\n"
		f := Finding{Severity: Warning}
		weighSync(sourceOf(text), numbered(text), &f)
		if !strings.Contains(f.Advice, c.advice) || (f.Severity == Info) != (c.doubt != "") || c.doubt != "" && !strings.Contains(f.Doubts[0], c.doubt) {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

// TestFileCalls tells calls on files apart, by what they call.
func TestFileCalls(t *testing.T) {
	for leaf, want := range map[string]fileCall{
		"syscall.fsync os.(*File).Sync":                             fileSyncs,
		"syscall.fstatat os.lstatNolog os.Lstat os.(*fileStat).x":   fileExamines,
		"os.(*unixDirent).Info":                                     fileExamines,
		"os.(*unixDirent).Info os.(*fileStat).x path/filepath.Walk": fileWalks,
		"syscall.openat os.openFileNolog os.OpenFile os.Open os.ReadDir path/filepath.walkDir path/filepath.WalkDir":             fileLists,
		"syscall.Getdents internal/poll.(*FD).ReadDirent os.(*File).readdir os.(*File).ReadDir os.ReadDir path/filepath.WalkDir": fileLists,
		"syscall.Close internal/poll.(*FD).destroy os.(*File).Close os.ReadDir":                                                  fileLists,
		"syscall.fstatat os.Lstat os.(*unixDirent).Info":                                                                         fileExamines,
		"syscall.read internal/poll.(*FD).Read os.(*File).Read main.visit path/filepath.walkDir path/filepath.WalkDir":           fileReads,
		"syscall.pread syscall.Pread":                              fileReads,
		"syscall.openat os.OpenFile":                               fileOpens,
		"syscall.openat os.OpenFile os.Open":                       fileReads,
		"syscall.openat os.open os.OpenFile os.ReadFile":           fileReads,
		"syscall.openat os.OpenFile os.WriteFile":                  fileMakes,
		"syscall.Close os.(*File).Close os.WriteFile":              fileMakes,
		"syscall.openat os.OpenFile os.Create":                     fileMakes,
		"syscall.mkdirat os.Mkdir os.MkdirAll":                     fileMakes,
		"syscall.write internal/poll.(*FD).Write os.(*File).Write": fileWrites,
		"syscall.rename os.Rename":                                 fileMakes,
		"syscall.Flock":                                            fileOther,
	} {
		if got := fileCallOf(stackOfNames(leaf)); got != want {
			t.Errorf("%s: %v, want %v", leaf, got, want)
		}
	}
}

// stackOfNames is a stack of functions, the leaf first.
func stackOfNames(names string) (frames []stack.Frame) {
	for _, name := range append(strings.Fields(names), "main.f") {
		frames = append(frames, stack.Frame{Func: name})
	}
	return frames
}

// TestUnbuffered: a buffer helps where the content of a file is moved without one, and not where files are opened, examined and
// listed, or read as a whole.
func TestUnbuffered(t *testing.T) {
	for leaf, want := range map[string]bool{
		"syscall.read internal/poll.(*FD).Read os.(*File).Read":                                               true,
		"syscall.write internal/poll.(*FD).Write os.(*File).Write fmt.Fprintf":                                true,
		"syscall.pread internal/poll.(*FD).Pread os.(*File).ReadAt":                                           true,
		"syscall.read internal/poll.(*FD).Read os.(*File).Read bufio.(*Reader).fill":                          false,
		"syscall.read internal/poll.(*FD).Read os.(*File).Read os.ReadFile":                                   false,
		"syscall.openat os.OpenFile os.Open":                                                                  false,
		"syscall.Getdents internal/poll.(*FD).ReadDirent os.(*File).readdir os.ReadDir path/filepath.WalkDir": false,
		"syscall.Close internal/poll.(*FD).destroy os.(*File).Close":                                          false,
		"syscall.fstatat os.Stat": false,
	} {
		if got := unbuffered(stackOfNames(leaf)); got != want {
			t.Errorf("%s: %v", leaf, got)
		}
	}
}
