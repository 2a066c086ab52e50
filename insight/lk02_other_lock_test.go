package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestNeedless: what another lock of the thing itself keeps together as well, or what nobody else has, is not what the lock is for; a change
// that this lock alone keeps together is told.
func TestNeedless(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype handle struct {\n\tmu sync.Mutex\n\trw sync.RWMutex\n\tpos, seq int\n\tsub part\n}\n\ntype part struct{ n int }\n\ntype tally struct {\n\tsync.Mutex\n\tn int\n}\n\ntype shop struct {\n\tmu, other sync.Mutex\n\topen map[int]*handle\n\tkept map[int]part\n\tkeys map[int]*sync.Mutex\n\ttally *tally\n\ttallies map[int]*tally\n\tn, m int\n}\n\nvar all sync.Mutex\n\n"
	const lock = "func (s *shop) do(k int) int {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n\th := s.open[k]\n"
	const both = lock + "\th.mu.Lock()\n\tdefer h.mu.Unlock()\n"
	oneWay := strings.Replace(both, "\tdefer s.mu.Unlock()\n", "\tif !fine {\n\t\tdefer s.mu.Unlock()\n\t} else {\n\t\ts.mu.Unlock()\n\t}\n", 1)
	const change = "\tn := post(h.pos) // call\n\th.pos += n\n\treturn n\n}\n"
	const sold = "\tleft := s.n\n\tpost(left) // call\n\ts.n = left - 1\n\treturn left\n}\n"
	const advance = "func (h *handle) advance() int {\n\tn := post(h.pos) // deep\n\th.pos += n\n\treturn n\n}\n"
	const push = "func (h *handle) advance(n int) int {\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n\th.seq = n\n\th.sub.n = n\n\treturn post(n) // deep\n}\n"
	for _, c := range []struct{ name, source, says string }{
		{"the handle's own lock", both + change, "protected by another lock, h.mu"},
		{"the lock is let go on one way", oneWay + change, "protected by another lock, h.mu"},
		{"embedded", lock + "\tt := s.tallies[k]\n\tt.Lock()\n\tn := post(t.n) // call\n\tt.n += n\n\tt.Unlock()\n\treturn n\n}\n", "protected by another lock, t"},
		{"of a part of it", both + "\tn := post(h.sub.n) // call\n\th.sub.n = h.sub.n + n\n\treturn n\n}\n", "protected by another lock, h.mu"},
		{"unlocked behind the change", lock + "\th.mu.Lock()\n\tn := post(h.pos) // call\n\th.pos += n\n\th.mu.Unlock()\n\treturn n\n}\n", "protected by another lock, h.mu"},
		{"embedded, and of all", lock + "\ts.tally.Lock()\n\tn := post(s.tally.n) // call\n\ts.tally.n += n\n\ts.tally.Unlock()\n\treturn n\n}\n", "s.tally.n is read"},
		{"another lock of the same owner", lock + "\ts.other.Lock()\n\tdefer s.other.Unlock()\n" + sold, "s.n is read"},
		{"a lock of the package", lock + "\tall.Lock()\n\tdefer all.Unlock()\n" + sold, "s.n is read"},
		{"held by the caller between", both + "\treturn h.advance() // call\n}\n\n" + advance, "protected by another lock, h.mu"},
		{"held in the method", lock + "\treturn h.advance() // call\n}\n\n" + strings.Replace(advance, "{\n", "{\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n", 1), "protected by another lock, h.mu"},
		{"another caller holds none", both + "\treturn h.advance() // call\n}\n\n" + advance + "\nfunc (s *shop) skip(h *handle) {\n\ts.mu.Lock()\n\th.advance()\n\ts.mu.Unlock()\n}\n", "h.pos is read"},
		{"everybody holds it", both + change + "\nfunc (h *handle) rewind() {\n\th.mu.Lock()\n\th.pos = 0\n\th.mu.Unlock()\n}\n", "protected by another lock, h.mu"},
		{"a number under the other lock", both + "\th.seq++\n\treturn post(h.seq) // call\n}\n", "protected by another lock, h.mu"},

		{"the called method's own lock", lock + "\treturn h.advance(k) // call\n}\n\n" + push, "takes a lock of its own, h.mu, at line"},
		{"beside a change of its own", lock + "\th.advance(k) // call\n\ts.n++\n\treturn k\n}\n\n" + push, "takes a lock of its own, h.mu, at line"},
		{"embedded in what is called", lock + "\treturn s.tallies[k].advance(k) // call\n}\n\n" + strings.NewReplacer("*handle", "*tally", "h.mu.", "h.", "h.seq", "h.n", "h.sub.n", "h.n").Replace(push), "takes a lock of its own, h, at line"},
		{"the called method's own lock, not held yet", lock + "\treturn h.advance(k) // call\n}\n\n" + strings.Replace(push, "\th.mu.Lock()\n", "\th.seq = n\n\th.mu.Lock()\n", 1), ""},
		{"changed by others under this lock alone", lock + "\treturn h.advance(k) // call\n}\n\n" + push + "\nfunc (s *shop) rewind(k int) {\n\ts.mu.Lock()\n\ts.open[k].seq = 0\n\ts.mu.Unlock()\n}\n", ""},
		{"the only one of what is called", lock + "\treturn s.tally.advance(k) // call\n}\n\n" + strings.NewReplacer("*handle", "*tally", "h.mu.", "h.", "h.seq", "h.n", "h.sub.n", "h.n").Replace(push), ""},

		{"this lock alone", lock + change, "h.pos is read"},
		{"the other lock guards something else", both + sold, "s.n is read"},
		{"two changes, one under the other lock", both + "\tleft := s.n\n\tn := post(left + h.pos) // call\n\th.pos += n\n\ts.n = left - 1\n\treturn n\n}\n", "s.n is read"},
		{"let go before it is stored", lock + "\th.mu.Lock()\n\told := h.pos\n\th.mu.Unlock()\n\tn := post(old) // call\n\th.mu.Lock()\n\th.pos = old + n\n\th.mu.Unlock()\n\treturn n\n}\n", "h.pos is read"},
		{"taken behind the call", lock + "\tn := post(h.pos) // call\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n\th.pos += n\n\treturn n\n}\n", "h.pos is read"},
		{"only for reading", lock + "\th.rw.RLock()\n\tdefer h.rw.RUnlock()\n" + change, "h.pos is read"},
		{"one for each key", lock + "\tl := s.keys[k]\n\tl.Lock()\n\tdefer l.Unlock()\n" + sold, "s.n is read"},
		{"one of its own call", lock + "\tvar l sync.Mutex\n\tl.Lock()\n\tdefer l.Unlock()\n" + sold, "s.n is read"},
		{"another handle's", lock + "\to := s.open[k+1]\n\to.mu.Lock()\n\tdefer o.mu.Unlock()\n" + change, "h.pos is read"},
		{"somebody changes it under this lock alone", both + change + "\nfunc (s *shop) rewind(k int) {\n\ts.mu.Lock()\n\th := s.open[k]\n\th.pos = 0\n\ts.mu.Unlock()\n}\n", "h.pos is read"},
		{"the caller between holds none", lock + "\treturn h.advance() // call\n}\n\n" + advance, "h.pos is read"},
		{"a number under this lock", lock + "\th.seq++\n\treturn post(h.seq) // call\n}\n", "keeps the calls in order: h.seq"},

		{"what was just made", lock + "\tp := &part{}\n\tp.n = len(s.open)\n\tp.n = p.n + post(p.n) // call\n\tp.n += k\n\treturn p.n\n}\n", ""},
		{"a local value", lock + "\tvar p part\n\tpost(p.n) // call\n\tp.n += k\n\treturn p.n\n}\n", ""},
		{"a copy", lock + "\tp := s.kept[k]\n\tn := post(p.n) // call\n\tp.n += n\n\treturn p.n\n}\n", ""},
		{"a copy that is put back", lock + "\tp := s.kept[k]\n\tn := post(p.n) // call\n\tp.n += n\n\ts.kept[k] = p\n\treturn n\n}\n", "is read"},
		{"a copy that is handed over", lock + "\tp := s.kept[k]\n\tn := post(p.n) // call\n\tp.n += n\n\tsave(k, p)\n\treturn n\n}\n", "p.n is read"},
		{"a pointer that is looked up", lock + "\tp := s.open[k]\n\tn := post(p.pos) // call\n\tp.pos += n\n\treturn n\n}\n", "p.pos is read"},
		{"made, and given to others before", lock + "\tp := &handle{}\n\ts.open[k] = p\n\tn := post(p.pos) // call\n\tp.pos += n\n\treturn n\n}\n", "p.pos is read"},
	} {
		text := head + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		at := func(fn, mark string) stack.Frame {
			return stack.Frame{Func: "main." + fn, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		holder := []stack.Frame{{Func: "net.(*conn).Read"}, at("(*shop).do", "// call")}
		if strings.Contains(text, "// deep") {
			method := "(*handle).advance"
			if strings.Contains(text, "(h *tally)") {
				method = "(*tally).advance"
			}
			holder = []stack.Frame{holder[0], at(method, "// deep"), holder[1]}
		}
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("(*shop).do", "// lock")}, holder)
		switch {
		case p == nil && c.says != "":
			t.Errorf("%s: nothing", c.name)
		case p != nil && (c.says == "" || !strings.Contains(p.says, c.says)):
			t.Errorf("%s: %s: %s", c.name, p.says, p.advice)
		case p != nil && strings.Contains(c.says, "another lock") && (p.info || !strings.Contains(p.advice, "Unlock shop.mu before the call")):
			t.Errorf("%s: %v %s", c.name, p.info, p.advice)
		}
	}
}
