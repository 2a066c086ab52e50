package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestMayOnlyRead: RLock is suggested only where nothing under the lock changes what it guards, or may.
func TestMayOnlyRead(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n)\n\nvar total int\n\n"
	const more = "\nfunc touch(e *entry) { e.hits++ }\nfunc weight(e *entry) int { return len(e.text) }\nfunc (s *store) size(k string) int { n := 0; for range s.m { n++ }; return n }\nfunc (s *store) count() { s.n++ }\n"
	for body, want := range map[string]bool{
		"best := \"\"\nfor k, e := range s.m {\nif strings.HasPrefix(k, p) {\nbest = e.text\n}\n}\nreturn best": true,
		"n := 0\nfor _, e := range s.m {\nn += weight(e)\n}\nreturn n":                                          true,
		"var b strings.Builder\nfor k := range s.m {\nb.WriteString(k)\n}\nreturn b.String()":                   true,
		"out := map[string]int{}\nfor k, e := range s.m {\nout[k] = e.n\n}\nreturn out":                         true,
		"return fmt.Sprint(s.size(p))":         true,
		"for _, e := range s.m {\ntouch(e)\n}": false,
		"s.count()":                            false,
		"n := s.rnd.Intn(6)\nreturn n":         false,
		"h := s.h\nh.Reset()":                  false,
		"l := s.list\nsort.Slice(l, func(i, j int) bool { return l[i] < l[j] })": false,
		"for i, r := range s.rows {\ns.each(i, r)\n}":                            false,
		"l := s.list[:0]\nl = append(l, p)\nreturn l":                            false,
		"a := s.arr[:]\na[0] = 1\nreturn a[0]":                                   false,
		"*s.at(p) += 1":                                                          false,
		"return s.sum.Mul(s.sum, s.sum)":                                         false,
		"s.n++":                                                                  false,
		"s.m[p] = &entry{}":                                                      false,
		"total += len(s.m)":                                                      false,
		"delete(s.m, p)":                                                         false,
		"out <- s.n":                                                             false,
	} {
		c := sourceOf(head + "func (s *store) do(p string) any {\ns.mu.Lock()\ndefer s.mu.Unlock()\n" + body + "\nreturn nil\n}\n" + more)
		if got := mayOnlyRead(c, stack.Frame{Func: "main.(*store).do", File: "a.go", Line: 12}); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
	if !mayOnlyRead(sourceOf(head), stack.Frame{Func: "x.f", File: "b.go", Line: 3}) {
		t.Error("without the source nothing says that it writes")
	}
}

// TestHolderOnlyReads: that a holder could take the lock for reading is said where all that it does under it leaves alone what the lock guards, also by way of
// a local closure and of its callees; not where one of them writes to that, builds a value when it is first asked for, or is not known.
func TestHolderOnlyReads(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"bytes\"\n\t\"encoding/binary\"\n\t\"hash/crc64\"\n\t\"os\"\n\t\"sort\"\n\t\"sync\"\n\t\"sync/atomic\"\n)\n\n" +
		"type block struct {\n\tn, reads uint64\n\tmsgs []string\n}\n\ntype store struct {\n\tmu sync.RWMutex\n\tonce sync.Once\n\tsubjects map[string]*block\n\tblocks []*block\n\tlist []string\n\tcached []string\n\tlast, saves uint64\n\thits atomic.Int64\n\tdir string\n\tf *os.File\n\tnotify func()\n\tbuf bytes.Buffer\n}\n\nvar table = crc64.MakeTable(crc64.ECMA)\n\n" +
		"func (s *store) Get(k string) *block {\n\ts.mu.RLock() // wait\n\tdefer s.mu.RUnlock()\n\treturn s.subjects[k]\n}\n\n" +
		"func (s *store) names() (all []string) {\n\tfor n := range s.subjects {\n\t\tall = append(all, n)\n\t}\n\treturn all\n}\n\nfunc (s *store) sorted() []string {\n\tif s.cached == nil {\n\t\ts.cached = s.names()\n\t}\n\treturn s.cached\n}\n\nfunc (b *block) size() int { return len(b.msgs) }\n\nfunc (b *block) touch() int { b.reads++; return len(b.msgs) }\n\nfunc size(b *block) int { return int(b.n) }\n\n"
	const put = "\tvar buf bytes.Buffer\n\tvar tmp [10]byte\n\tput := func(v uint64) { buf.Write(tmp[:binary.PutUvarint(tmp[:], v)]) } // put\n"
	const walk = "\tfor _, b := range s.blocks {\n\t\tput(b.n) // at\n\t}\n"
	const file = "\tf, err := os.CreateTemp(s.dir, \"x-*\")\n\tif err != nil {\n\t\treturn err\n\t}\n\tif _, err := f.Write(buf.Bytes()); err != nil {\n\t\tf.Close()\n\t\treturn err\n\t}\n\tif err := f.Sync(); err != nil {\n\t\treturn err\n\t}\n\tif err := f.Close(); err != nil {\n\t\treturn err\n\t}\n\treturn os.Rename(f.Name(), s.dir+\"/x\")\n"
	for _, c := range []struct {
		name, before, body string
		reads, files       bool
	}{
		{"a closure that writes to a buffer of the function", "", put + walk, true, false},
		{"and sorts names of its own", "", put + "\tnames := make([]string, 0, len(s.subjects))\n\tfor n := range s.subjects {\n\t\tnames = append(names, n)\n\t}\n\tsort.Strings(names)\n\tfor _, n := range names {\n\t\tput(s.subjects[n].n) // at\n\t}\n\tsum := crc64.Checksum(buf.Bytes(), table)\n\tbinary.Write(&buf, binary.LittleEndian, sum)\n", true, false},
		{"and writes a file of its own", "", put + walk + file, true, true},
		{"by callees that read", "", put + "\tfor _, n := range s.names() {\n\t\tb := s.subjects[n]\n\t\tput(uint64(b.size() + size(b))) // at\n\t}\n", true, false},
		{"the closure counts in the store", "", strings.Replace(put, "{ buf", "{ s.saves++; buf", 1) + walk, false, false},
		{"the closure writes to the store's buffer", "", strings.Replace(put, "{ buf", "{ s.buf", 1) + walk, false, false},
		{"the closure is made before the lock, and writes", "\tmark := func() { s.saves++ }\n", put + "\tmark()\n" + walk, false, false},
		{"a callee writes to an element", "", put + "\tfor _, b := range s.blocks {\n\t\tput(uint64(b.touch())) // at\n\t}\n", false, false},
		{"a value that is built when it is first asked for", "", put + "\tfor _, n := range s.sorted() {\n\t\tput(uint64(len(n))) // at\n\t}\n", false, false},
		{"built once", "", put + "\ts.once.Do(func() { s.cached = s.names() })\n" + walk, false, false},
		{"a counter", "", put + walk + "\ts.saves++\n", false, false},
		{"an element", "", put + "\tfor _, b := range s.blocks {\n\t\tput(b.n) // at\n\t\tb.reads++\n\t}\n", false, false},
		{"the store's list is sorted", "", put + walk + "\tsort.Strings(s.list)\n", false, false},
		{"the store's list is sorted by another name", "", put + walk + "\tl := s.list\n\tsort.Strings(l)\n", false, false},
		{"it is deleted from", "", put + walk + "\tdelete(s.subjects, \"x\")\n", false, false},
		{"it is cleared", "", put + walk + "\tclear(s.subjects)\n", false, false},
		{"it is copied into", "", put + walk + "\tcopy(s.list, s.names())\n", false, false},
		{"the store's own file", "", put + walk + "\ts.f.Write(buf.Bytes())\n", false, false},
		{"the store's own file, by another name", "", put + walk + "\tf := s.f\n\tf.Write(buf.Bytes())\n", false, false},
		{"a function that it has", "", put + walk + "\ts.notify()\n", false, false},
		{"an atomic counter, which RLock allows but is a change", "", put + walk + "\ts.hits.Add(1)\n", false, false},
	} {
		text := head + "func (s *store) save() error {\n" + c.before + "\ts.mu.Lock() // take\n\tdefer s.mu.Unlock()\n" + c.body
		if !strings.HasSuffix(c.body, file) {
			text += "\treturn nil\n"
		}
		text += "}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: "main.(*store)." + fn, File: "a.go", Line: lineOfMark(text, mark)}
		}
		waiter := []stack.Frame{{Func: "sync.(*RWMutex).RLock"}, at("Get", "wait")}
		h := &lockHolder{at: at("save", "at"), taken: lineOfMark(text, "take"), frames: []stack.Frame{at("save.func1", "put"), at("save", "at")}}
		got := h.forReading(code, waiter)
		if (got != "") != c.reads || strings.Contains(got, "a mutex of its own") != c.files {
			t.Errorf("%s: %q", c.name, got)
		}
		waiter[1].Line++
		if got := h.forReading(code, waiter); got != "" {
			t.Errorf("%s: for one that does not wait to read: %q", c.name, got)
		}
	}
}

// TestReadingProved: that a lock can be taken for reading is said without a condition only where each statement is known to read.
func TestReadingProved(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n)\n\ntype store struct {\n\tmu sync.RWMutex\n\tlist []int\n\tarr [16]int\n}\n\nfunc (s *store) get(i int) int {\n\ts.mu.RLock() // wait\n\tdefer s.mu.RUnlock()\n\treturn s.list[i]\n}\n\n"
	for _, c := range []struct {
		name, body string
		proved     bool
	}{
		{"a sum", "", true},
		{"a list of its own", "\tvar l []int\n\tl = append(l, n)\n\tn += len(l)\n", true},
		{"what is appended lies behind a part of what others have", "\tl := s.list[:0]\n\tl = append(l, n)\n\tn += len(l)\n", false},
		{"it is printed by a method of its own", "\tn += len(fmt.Sprint(s.arr))\n\treturn n\n}\n\ntype kind int\n\nfunc (k *kind) String() string {\n\t*k++\n\treturn \"\"\n}\n\nfunc none() (n int) {\n", false},
		{"it is printed", "\tn += len(fmt.Sprint(s.arr))\n", true},
		{"an element by another name", "\ta := s.arr[:]\n\ta[1] = n\n\tn += a[2]\n", false},
	} {
		text := head + "func (s *store) total() int {\n\ts.mu.Lock() // take\n\tdefer s.mu.Unlock()\n\tn := 0\n\tfor _, x := range s.list {\n\t\tn += x // at\n\t}\n" + c.body + "\treturn n\n}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		at := stack.Frame{Func: "main.(*store).total", File: "a.go", Line: lineOfMark(text, "at")}
		waiter := []stack.Frame{{Func: "sync.(*RWMutex).RLock"}, {Func: "main.(*store).get", File: "a.go", Line: lineOfMark(text, "wait")}}
		h := &lockHolder{at: at, taken: lineOfMark(text, "take"), frames: []stack.Frame{at}}
		if got := h.forReading(code, waiter); strings.HasPrefix(got, "By the source") != c.proved {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
