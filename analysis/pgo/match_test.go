package pgo_test

import (
	"testing"

	"loupe/analysis/pgo"
	"loupe/format/compiler"
)

// TestAgainst: what became of calls, by what the compiler says of the source.
func TestAgainst(t *testing.T) {
	call := func(caller string, offset int, callee string) pgo.Call {
		return pgo.Call{Caller: caller, Callee: callee, Offset: offset}
	}
	fates := map[pgo.Call]pgo.Fate{
		call("p.run", 3, "p.(*T).read"):                    pgo.Found,
		call("p.run", 5, "p.(*T).write"):                   pgo.Moved,
		call("p.run", 7, "p.hash"):                         pgo.Changed, // there is a call of sum
		call("p.run", 8, "p.flush"):                        pgo.Changed,
		call("p.run", 9, "p.old"):                          pgo.Gone,
		call("p.before", 1, "p.hash"):                      pgo.Gone,
		call("p.run", 10, "p.(*A).Write"):                  pgo.Found, // through an interface
		call("p.run", 11, "p.run.func1"):                   pgo.Found, // of a literal that a variable holds
		call("p.run", 12, "p.take[go.shape.int]"):          pgo.Found,
		call("p.run", 13, "p.take[...]"):                   pgo.Sourceless,
		call("p.run", 14, "runtime.mallocgc"):              pgo.Sourceless,
		call("p.run", 15, "memeqbody"):                     pgo.Sourceless,
		call("p.run.(*Set).each.func2", 1, "p.hash"):       pgo.Sourceless, // copied with (*Set).each
		call("runtime.mcall", 1, "runtime.park_m"):         pgo.Sourceless, // assembly
		call("strings.Index", 2, "internal/x.IndexString"): pgo.Found,      // linkname has another name
		call("p.idle", 2, "p.hash"):                        pgo.Changed,
	}
	calls := &pgo.Calls{Weight: map[pgo.Call]int64{}}
	weight := int64(1)
	g := &compiler.Guided{Known: map[string]bool{}}
	want := map[pgo.Fate]int64{}
	for c, fate := range fates {
		calls.Weight[c] = weight
		calls.Total += weight
		want[fate] += weight
		weight *= 2 // any sum says which they are
	}
	site := func(caller string, start, offset int, called string, direct bool) {
		s := compiler.CallSite{Caller: caller, Line: start + offset, Called: called, Direct: direct}
		for c, v := range calls.Weight {
			if c.Caller == caller && c.Offset == offset {
				s.Weight += v
			}
		}
		g.Sites = append(g.Sites, s)
		g.Known[caller] = true
	}
	site("p.run", 100, 3, "read", true)
	site("p.run", 100, 6, "write", true)
	site("p.run", 100, 7, "sum", true)
	site("p.run", 100, 10, "Write", false)
	site("p.run", 100, 11, "visit", true)
	site("p.run", 100, 12, "take", true)
	site("strings.Index", 7, 2, "indexString", true)
	site("p.idle", 40, 9, "other", true)
	for _, name := range []string{"p.(*T).read", "p.(*T).write", "p.hash", "p.flush", "runtime.mcall"} {
		g.Known[name] = true
	}
	m := pgo.Against(calls, g)
	for fate, v := range want {
		if m.Weight[fate] != v {
			t.Errorf("%s: %b, want %b", fate, m.Weight[fate], v)
		}
	}
	if m.Usable() != m.Total-want[pgo.Sourceless] || m.Share() != float64(want[pgo.Found])/float64(m.Usable()) {
		t.Errorf("%+v", m)
	}
	for _, l := range m.Lost {
		if l.Call == call("p.run", 7, "p.hash") && l.Why != "it calls sum there now" {
			t.Error(l.Why)
		}
	}
	if len(m.Lost) != 6 || len(m.Functions) != 2 {
		t.Errorf("%d lost, %v", len(m.Lost), m.Functions)
	}
	if m.Hot == 0 || m.HotFound > m.Hot {
		t.Errorf("%d of %d hot", m.HotFound, m.Hot)
	}
}
