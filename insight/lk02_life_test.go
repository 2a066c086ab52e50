package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// protectionOf is what the lock of a source is for, which the line with // lock takes in one function, and under which another
// function, or the same, makes the call with // call.
func protectionOf(text, waits, calls string, also ...string) *protected {
	at := func(fn, mark string) stack.Frame {
		return stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:max(0, strings.Index(text, mark))], "\n")}
	}
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
	withSource(r, "a.go", text)
	code := NewInput(session.New(r.Open())).code
	outside := []stack.Frame{{Func: "internal/poll.(*FD).Read"}, {Func: "net/http.(*Client).Do"}}
	var more [][]stack.Frame
	for _, mark := range also {
		more = append(more, append(outside[:2:2], at(calls, mark)))
	}
	return protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at(waits, "// lock")}, append(outside[:2:2], at(calls, "// call")), more...)
}

// TestKeepsAlive: a lock under which what the call uses is closed elsewhere is not to be let go before the call; where nobody else
// can close it, it may be.
func TestKeepsAlive(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"os\"\n\t\"sync\"\n)\n\ntype handle struct {\n\tmu sync.Mutex\n\tf *os.File\n\trefs, pos int\n\told bool\n}\n\ntype shop struct {\n\tmu sync.Mutex\n\tother sync.Mutex\n\topen map[string]*handle\n\tfiles map[string]*os.File\n\tidle []*handle\n\tlog *os.File\n\tlru *list\n\tpool sync.Pool\n}\n\n"
	const lock = "func (s *shop) do(k string) int {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n"
	const use = lock + "\th := s.open[k]\n\treturn h.f.Read(k) // call\n}\n\n"
	const locked = "\ts.mu.Lock()\n\tdefer s.mu.Unlock()\n"
	const evict = "func (s *shop) evict(k string) {\n" + locked + "\th := s.open[k]\n\tdelete(s.open, k)\n\th.f.Close()\n}\n"
	const kept, doubt, none = "Do not just unlock shop.mu", "at the end", ""
	for _, c := range []struct{ name, source, says string }{
		{"evicted", use + evict, kept},
		{"by a method", lock + "\th := s.open[k]\n\treturn h.read(k) // call\n}\n\nfunc (h *handle) read(k string) int { return h.f.Read(k) }\n" + strings.Replace(evict, "h.f.Close()", "h.close()", 1), kept},
		{"looked up by a method", strings.Replace(use, "s.open[k]", "s.find(k)", 1) + "func (s *shop) find(k string) *handle { return s.open[k] }\n" + evict, kept},
		{"given to a function", lock + "\th := s.open[k]\n\treturn read(h, k) // call\n}\n" + evict, kept},
		{"of a type that is not known", lock + "\tf := s.files[k]\n\treturn f.Read(k) // call\n}\n\nfunc (s *shop) evict(k string) {\n" + locked + "\ts.files[k].Close()\n}\n", kept},
		{"given back to a pool", use + "func (s *shop) evict(k string) {\n" + locked + "\ts.pool.Put(s.open[k])\n}\n", kept},
		{"closed by a function that is called under the lock", use + "func (s *shop) trim(k string) {\n" + locked + "\ts.drop(s.open[k])\n}\n\nfunc (s *shop) drop(h *handle) { h.f.Close() }\n", kept},
		{"from another list", use + "func (s *shop) trim() {\n" + locked + "\tfor e := s.lru.Back(); e != nil; e = e.Prev() {\n\t\th := e.Value.(*handle)\n\t\tif h.old {\n\t\t\th.f.Close()\n\t\t}\n\t}\n}\n", kept},
		{"a loop that closes some", use + "func (s *shop) trim() {\n" + locked + "\tfor _, h := range s.open {\n\t\tif h.old {\n\t\t\th.f.Close()\n\t\t}\n\t}\n}\n", kept},
		{"opened again", lock + "\treturn s.log.Read(k) // call\n}\n\nfunc (s *shop) rotate() {\n" + locked + "\ts.log.Close()\n\ts.log = os.Create(\"x\")\n}\n", kept},
		{"beside a change that the lock keeps together", lock + "\th := s.open[k]\n\tn := h.f.Read(h.old) // call\n\treturn n\n}\n" + evict, kept},
		{"held by another function", "func (s *shop) wait(k string) {\n\ts.mu.Lock() // lock\n\ts.mu.Unlock()\n}\n\nfunc (s *shop) do(k string) {\n" + locked + "\tfor _, h := range s.open {\n\t\th.f.Read(k) // call\n\t}\n}\n" + evict, kept},

		{"nobody closes it", use, none},
		{"closed under another lock", use + strings.ReplaceAll(evict, "s.mu.", "s.other."), none},
		{"another thing is closed", use + "func (s *shop) evict(k string) {\n" + locked + "\ts.files[k].Close()\n}\n", none},
		{"what was just opened is closed", use + "func (s *shop) add(k string) {\n" + locked + "\th := &handle{}\n\tif s.open[k] == nil {\n\t\th.f.Close()\n\t\treturn\n\t}\n\ts.open[k] = h\n}\n", none},
		{"only forgotten", use + "func (s *shop) evict(k string) {\n" + locked + "\tdelete(s.open, k)\n}\n", none},
		{"idle connections", lock + "\treturn s.log.Read(k) // call\n}\n\nfunc (s *shop) rotate() {\n" + locked + "\ts.log.CloseIdleConnections()\n\ts.log = os.Create(\"x\")\n}\n", none},
		{"counted", strings.Replace(use, "\treturn", "\th.refs++\n\treturn", 1) + evict, none},
		{"taken out", lock + "\th := s.idle[0]\n\ts.idle = s.idle[1:]\n\treturn h.f.Read(k) // call\n}\n\nfunc (s *shop) trim(k string) {\n" + locked + "\ts.idle[0].f.Close()\n}\n", none},
		{"made here", lock + "\th := &handle{}\n\treturn h.f.Read(k) // call\n}\n\n" + evict, none},
		{"it is what closes it", lock + "\th := s.open[k]\n\treturn h.f.Close() // call\n}\n\n" + evict, none},
		{"a lock of its own", lock + "\th := s.open[k]\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n\treturn h.f.Read(k) // call\n}\n\n" + strings.Replace(evict, "\th.f.Close()", "\th.mu.Lock()\n\th.f.Close()\n\th.mu.Unlock()", 1), none},

		{"all at the end", use + "func (s *shop) Close() {\n" + locked + "\tfor _, h := range s.open {\n\t\th.f.Close()\n\t}\n}\n", doubt},
		{"closed for good", lock + "\treturn s.log.Read(k) // call\n}\n\nfunc (s *shop) Close() {\n" + locked + "\ts.log.Close()\n}\n", doubt},
	} {
		waits := "(*shop).do"
		if strings.Contains(c.source, ") wait(") {
			waits = "(*shop).wait"
		}
		p := protectionOf(head+c.source, waits, "(*shop).do")
		switch {
		case p == nil && c.says != none:
			t.Errorf("%s: nothing", c.name)
		case p != nil && (c.says == none || c.says == kept && (!strings.Contains(p.advice, kept) || p.info) || c.says == doubt && (p.says != "" || !strings.Contains(p.doubt, doubt))):
			t.Errorf("%s: %+v", c.name, p)
		}
	}
	// Another lock keeps the change together, and this one keeps what is changed from being closed.
	const both = lock + "\th := s.open[k]\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n\tn := h.f.Seek(h.pos) // call\n\th.pos += n\n\treturn n\n}\n\n"
	for source, want := range map[string]string{both: "Unlock shop.mu before the call", both + evict: kept} {
		if p := protectionOf(head+source, "(*shop).do", "(*shop).do"); p == nil || !strings.Contains(p.advice, want) {
			t.Errorf("%+v, want %s", p, want)
		}
	}
	// The change itself may be made first: then the value is not to be closed either.
	const change = lock + "\th := s.open[k]\n\tn := h.pos\n\th.f.Read(k) // call\n\th.pos = n + 1\n\treturn n\n}\n\n"
	if p := protectionOf(head+change+evict, "(*shop).do", "(*shop).do"); p == nil || !strings.Contains(p.advice, "undo the change") || !strings.Contains(p.advice, "Who unlocks has to keep h.f from being closed") {
		t.Errorf("%+v", p)
	}
}
