package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestChainedAround: calls that need what an earlier one has given are told from those that go
// through what is known before; the call of get is on line 5.
func TestChainedAround(t *testing.T) {
	for _, c := range []struct {
		name, loop string
		want       bool
	}{
		{"a chain", "for id != 0 {\nv := get(ctx, id)\nid = v.Prev\n}", true},
		{"a chain by what is scanned", "for id != 0 { var prev int64\nif err := db.get(ctx, id).Scan(&prev); err != nil {\nreturn err\n}\nid = prev\n}", true},
		{"a queue that answers fill", "for len(queue) > 0 { p := queue[0]; queue = queue[1:]\na, err := get(ctx, \"/pkg/\"+p)\nif err != nil {\nreturn err\n}\nfor _, d := range deps(a) {\nqueue = append(queue, d)\n}\n}", true},
		{"the answer is asked next", "for range n {\np, err := b.get(ctx)\nif err != nil {\nreturn err\n}\nb = p\n}", true},
		{"a binary search", "for bad-good > 1 { mid := (good + bad) / 2\nv := get(ctx, mid)\nif v.Bad {\nbad = mid\n} else {\ngood = mid\n}\n}", true},
		{"a chain by a generic function", "for path != \"\" {\np := get[Page](ctx, path)\npath = p.Next\n}", true},
		{"a token on the same line", "for {\nv := get(ctx, proof(secret, token))\ntoken = v.Next\n}", true},
		{"items", "for _, id := range ids {\nv := get(ctx, id)\nout[id] = v\n}", false},
		{"items with a sum", "for _, id := range ids {\nv := get(ctx, id)\nsum += v\n}", false},
		{"items and what is counted of them", "for _, id := range ids {\nv := get(ctx, &stats, id)\nstats.bytes += len(v)\n}", false},
		{"items, counted in what the call is of", "for _, id := range ids {\nv := c.get(ctx, id)\nc.n += len(v)\n}", false},
		{"into one variable", "for _, id := range ids {\nerr = row.get(ctx, id, &v)\nsum += v\n}", false},
		{"into one buffer", "for _, id := range ids {\nbuf = get(ctx, id, buf[:0])\nuse(buf)\n}", false},
		{"printed with a sum on the same line", "for _, id := range ids {\nfmt.Fprintln(w, get(ctx, id), total)\ntotal = w.n\n}", false},
		{"a key that is made on the same line", "for _, id := range ids {\nv := get(ctx, key(id))\nuse(v)\n}", false},
		{"items that the answers are put into", "for _, p := range list {\np.Found, err = get(ctx, p.ID)\nif err != nil {\nreturn err\n}\n}", false},
		{"items by index that the answers are put into", "for i := range list {\nstate, err := get(ctx, list[i].ID)\nlist[i].State = state\n}", false},
		{"the last error", "for _, id := range ids {\nv, err := get(ctx, id, lastErr)\nif err != nil {\nlastErr = err\n}\nuse(v)\n}", false},
	} {
		code, at := lineFive(c.loop)
		path := []stack.Frame{{Func: "main.get", File: "b.go", Line: 1}, at}
		if _, got := chainedAround(code, path, ""); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestChainedByReceiver: a method that behind its call changes what it asks with next leads from
// one call to the next, and one that counts what it asks does not.
func TestChainedByReceiver(t *testing.T) {
	for _, c := range []struct {
		name, method, loop string
		want               bool
	}{
		{"an offset", "s.c.Do(s.offset, p)\n\ts.offset += len(p)", "for {\n\t\ts.call(next())\n\t}", true},
		{"a request of an offset", "s.c.Do(request(s.offset, p))\n\ts.offset += len(p)", "for {\n\t\ts.call(next())\n\t}", true},
		{"a header of the answer", "req.Header = s.h.Clone(); resp, err := s.c.Do(req)\n\ts.h.Set(`x`, resp.Header.Get(`x`))", "for {\n\t\ts.call(next())\n\t}", true},
		{"an entry of a map", "resp, err := s.c.Do(request(s.state, p))\n\ts.state[`x`] = resp.State", "for {\n\t\ts.call(next())\n\t}", true},
		{"what is made of the answer", "resp, err := s.c.Do(request(s.state, p))\n\ttoken := parse(resp); s.state.Add(token)", "for {\n\t\ts.call(next())\n\t}", true},
		{"a header that is not of the answer", "req.Header = s.h.Clone(); resp, err := s.c.Do(req)\n\ts.h.Set(`x`, newID()); use(resp)", "for {\n\t\ts.call(next())\n\t}", false},
		{"answers that are kept", "resp, err := s.c.Do(p)\n\ts.cache.Set(p, resp); s.m[p] = resp", "for {\n\t\ts.call(next())\n\t}", false},
		{"a header in another one each turn", "req.Header = s.h.Clone(); resp, err := s.c.Do(req)\n\ts.h.Set(`x`, resp.Header.Get(`x`))", "for _, s := range all {\n\t\ts.call(p)\n\t}", false},
		{"a count", "s.c.Do(p)\n\ts.calls++", "for {\n\t\ts.call(next())\n\t}", false},
		{"a number that it gives before", "s.n++; s.c.Do(s.n, p)\n", "for {\n\t\ts.call(next())\n\t}", false},
		{"another one in each turn", "s.c.Do(s.offset, p)\n\ts.offset += len(p)", "for _, s := range all {\n\t\ts.call(p)\n\t}", false},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc (s *session) call(p []byte) {\n\t"+c.method+"\n}\n\nfunc f(s *session, all []*session) {\n\t"+c.loop+"\n}\n")
		code := NewInput(session.New(r.Open())).code
		path := []stack.Frame{{Func: "main.(*session).call", File: "a.go", Line: 4}, {Func: "main.f", File: "a.go", Line: 10}}
		if _, got := chainedAround(code, path, "net/http.(*Client).Do"); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestChainOfItems: the pages of an answer that is asked for once for each of many items are calls of the items.
func TestChainOfItems(t *testing.T) {
	for _, c := range []struct {
		name, chain, around            string
		items, pages, chained, retries bool
	}{
		{"pages for each item", "path = p.Next", "for _, id := range ids {\nlist(id)\n}", true, true, true, false},
		{"parents for each item", "path = p.Parent", "for _, id := range ids {\nlist(id)\n}", true, false, true, false},
		{"pages, again and again", "path = p.Next", "for {\nlist(id)\n}", false, true, true, false},
		{"pages", "path = p.Next", "\nlist(id)\n", false, true, true, false},
		{"tries for each item", "if p.Err == nil {\nreturn\n}", "for _, id := range ids {\nlist(id)\n}", true, false, false, true},
		{"tries for each item, by a function", "if p.Err == nil {\nreturn\n}", "for _, id := range ids {\nlist(func() { use(id) })\n}", true, false, false, true},
		{"tries, again and again", "if p.Err == nil {\nreturn\n}", "for {\nlist(id)\n}", false, false, false, true},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc list(path string) {\nfor path != \"\" {\np := get[Page](path)\n"+c.chain+"\n}\n}\n\nfunc all(ids []string) {\n"+c.around+"\n}\n")
		code := NewInput(session.New(r.Open())).code
		path := []stack.Frame{{Func: "main.get[...]", File: "b.go", Line: 1}, {Func: "main.list", File: "a.go", Line: 5}, {Func: "main.all", File: "a.go", Line: 12 + strings.Count(c.chain, "\n")}}
		found, ok := nearLoop(code, path, "")
		if !ok || found.at.Line != 5 || found.within() != c.items || found.pages != c.pages {
			t.Errorf("%s: %+v, %v", c.name, found, ok)
		}
		if _, ok := chainedAround(code, path, ""); ok != (c.chained && !c.items) {
			t.Errorf("%s: chained %v", c.name, ok)
		}
		if _, ok := askingAround(code, path); ok != !c.items || found.retries != c.retries {
			t.Errorf("%s: asked again %v, %+v", c.name, ok, found)
		}
	}
}

// TestLoopOfLiteral: a function literal that begins on the line of a frame is around it only where the frame is in it.
func TestLoopOfLiteral(t *testing.T) {
	const text = "package main\n\nfunc f() {\nfor _, id := range ids {\ntry(func() error {\nreturn get(id)\n})\n}\n}\n"
	for _, c := range []struct {
		fn   string
		line int
		want int
	}{{"main.f", 5, 1}, {"main.f.func1", 5, 0}, {"main.f.func1", 6, 0}, {"main.(*T).f", 5, 1}, {"main.f.func1.2", 5, 0}, {"main.glob..func2", 5, 0}} {
		if got := len(loopsAround(sourceOf(text), stack.Frame{Func: c.fn, File: "a.go", Line: c.line})); got != c.want {
			t.Errorf("%s:%d: %d", c.fn, c.line, got)
		}
	}
}
