package insight

import (
	"cmp"
	"slices"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Clients that are made for each request. A client of gRPC dials on a goroutine of its own: that
// no request waits at a dial of its own does not tell that there are none.

// madeAt are the clients that are made at one line of the user's code.
type madeAt struct {
	at     stack.Frame
	callee string
	count  int64         // how many, by the goroutines that making one starts
	way    []stack.Frame // of one of them
}

// madeByLine finds in a trace the goroutines that making a client has started.
func madeByLine(in *Input, t *traced) (all []*madeAt) {
	scope := in.Session.Scope()
	for _, g := range t.Creators {
		frames := t.Frames(g.Creator)
		at := slices.IndexFunc(frames, scope.IsUser)
		if at < 1 || g.Created == 0 {
			continue
		}
		inner := slices.IndexFunc(frames[:at], func(f stack.Frame) bool { return inSet("again.connection", f.Func) })
		if inner < 0 {
			continue
		}
		i := slices.IndexFunc(all, func(x *madeAt) bool { return x.at == frames[at] })
		if i < 0 {
			i = len(all)
			all = append(all, &madeAt{at: frames[at], callee: frames[inner].Func, way: frames[at:]})
		}
		all[i].count = max(all[i].count, g.Created)
	}
	return all
}

// servedBy finds the units within which they are made; where they are made elsewhere, those that
// are the most.
func (x *madeAt) servedBy(served []facts.UnitGroup) (of facts.UnitGroup, within bool) {
	i := slices.IndexFunc(served, func(g facts.UnitGroup) bool {
		return slices.ContainsFunc(x.way, func(f stack.Frame) bool { return f.Func == g.Name })
	})
	if i >= 0 {
		return served[i], true
	}
	return slices.MaxFunc(served, func(a, b facts.UnitGroup) int { return cmp.Compare(a.Wall.Count, b.Wall.Count) }), false
}

// madeClients looks for clients that the program makes while it serves, about one for each request.
func madeClients(r *Rule, in *Input) (found []Finding) {
	t, served := servedUnits(in)
	if len(served) == 0 {
		return nil
	}
	for _, x := range madeByLine(in, t) {
		of, within := x.servedBy(served)
		each := float64(x.count) / float64(max(1, of.Wall.Count))
		if float64(x.count) < r.param("requests") || each < r.param("opened") {
			continue
		}
		f := r.answer(Found, "the program makes new clients with %s%s: %s in %s, in which %s ended; each starts goroutines of its own, and connects anew when it is used",
			stack.Short(x.callee), atFrame(x.at), unit.Count(x.count), unit.Duration(t.Length()), unit.Plural(int64(of.Wall.Count), of.Unit.String()))
		f.Severity, f.Score = Warning, score(each, 0.3, 1)
		f.Impact = exactly(each, "clients for each "+of.Unit.String())
		f.Evidence = []Evidence{t.seenAt(x.way, x.at, "%s made here", unit.Plural(x.count, "client"))}
		f.Advice = "Make one client and keep it, or one for each address, in a map: it is safe for concurrent use and keeps its connections open. Close it when the program ends, not after each use."
		f.Verify = "Record a trace under the same load: hardly any new client should be made, and CPU time and latency should fall."
		f.Doubts = in.traceDoubts(t)
		x.tellMade(in.code, &f)
		probeOf(in.code, x.way, x.callee).tell(&f)
		if !within {
			f.Severity = Info
			f.Doubts = append(f.Doubts, "they are not made by what serves: that there are about as many may be chance")
		}
		f.costs = []cost{{file: x.at.File, line: x.at.Line}}
		found = append(found, f)
	}
	return found[:min(2, len(found))]
}
