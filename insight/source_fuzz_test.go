package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/repetition"
	"loupe/analysis/why"
	repeatsfile "loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// FuzzSource: whatever the sources of a foreign recording say, as long as they parse, what is
// asked of them has an answer.
func FuzzSource(f *testing.F) {
	for _, text := range []string{
		"t.ctx = context.WithValue(t.ctx, k, v)\nt.ctx, c = with(t.ctx)\ndefer c()\nif t.ctx == nil {\nt.ctx = ctx\n}\nselect { case <-t.ctx.Done(): case <-time.After(d): }\n}\nfunc with(x context.Context) (context.Context, func()) {\nreturn context.WithCancel(x)\n}\ntype T struct { ctx context.Context }\nvar t *T\nvar d = flag.Duration(k, d, k)",
		"for _, r := range roots {\nseen := map[*N]bool{}\nvar walk func(n *N)\nwalk = func(n *N) {\nif seen[n] {\nreturn\n}\nseen[n] = true\nh.Write(n.b)\nfor _, m := range n.to {\nwalk(m)\n}\n}\nwalk(r)\n}\n}\ntype N struct { to []*N; b []byte }\nfunc g(n *N, seen map[*N]bool, h hash.Hash) {\nseen[n] = true\ndefer delete(seen, n)\nfor _, m := range n.to {\ng(m, seen, h)\n}",
		"b, err := io.ReadAll(x)\nmu.Lock()\ndefer mu.Unlock()\nfor range 3 {\nput(bytes.NewReader(b))\n}\ns, rest, _ := strings.Cut(string(b), k)\nt.all[s] = rest\nf(t.open().id, must(s))\nfmt.Println(s)\ncount.Store(n)\nreturn n, err\n}\nfunc (t *T) open() *T { return t }\nfunc must(s string) string { panic(s) }\ntype T struct { all map[string]string }",
		"for {\nerr := send()\nif err == nil {\nreturn\n}\n}",
		"name := name\nname = name\nos.ReadFile(name)\na := b\nb := a\nos.Open(a)",
		"for {\nif found {\nbreak\n}\n}",
		"for _, x := range list {\nif x == want {\nbreak\n}\n}",
		"for x := range ch {\ntotal += x\nm[x] = 1\nfile.Write(nil)\ndelete()\nappend()\n}",
		"mu.Lock()\nif len(m) > 5 {\ndelete()\n}\nm[k] = v\nkeys = append()\nif len(keys) > 3 {\ndelete(m, k)\n}\nmu.Unlock()",
		"for i := 0; i < len(s); i++ {\nfor j := range t {\nif s[i] == t[j] {\nreturn\n}\n}\n}",
		"}\nfunc () g() {\nfor {\ng()\nh.g()\n}",
		"for x, y := f(); x != nil; x, y = y, x {\nselect {\ncase <-y:\nreturn\n}\nswitch {\ncase x:\nreturn\n}\n}",
		"r, err := c.http.Do(q)\nif err != nil {\nreturn err\n}\ndefer c.g(r.Body)\nswitch {\ncase r.Code:\nreturn T{b: r.Body}\n}\nif x := g(r); x {\nreturn\n}\n}\nvar c = &T{g: func(b io.ReadCloser) { b.Close() }, MaxIdleConnsPerHost: n}\nfunc (t T) g(b int) {\nt.b.Close()\nt.g = g",
		"tr := &http.Transport{MaxIdleConns: 1, DisableKeepAlives: true}\nc := http.Client{Transport: tr}\nc.Get(u)",
		"b := make()\nb, c := string(b), make([]byte, 4)\nq <- b[:1]\ngo func() { g(b) }()\nx.y = T{z: b[1:], b[2:]}\nvar w = b\nreturn append(b)",
		"log.Debug(f(a), string(b), a+b)\nlog.V(1).Info(f())\nlog.Debug().Str(f()).Msg()\nif x := v.V(); x {\nDebug()(f(a))\n}\nreturn w.Write(f(b))",
		"m[k] = v\nif err := g(m, k); err != nil {\nreturn err\n}\ndelete(m, k)\nx := m\nx, m = m, nil\nh.Load().m = m\n*p = T{m, n: m}\nfor _, y := range m {\ny.Delete(k)\n}\n}\ntype T struct { sync.Map; n map[int]T }\nfunc (t T) g(m map[int]T) T {\nt.Store(m, t)\nreturn t.n[1]",
		"var s []string\nfor i, x := range s {\nfor j := 0; j < len(s); j++ {\nif y := s[j]; y != x && t(s) > i {\ncontinue\n}\nswitch z := x.(type) {\ncase T:\nt(s, z, t(s))\n}\ns, n[i] = append(s, x), t(s[i:j])\n}\nf(strings.Join(s, x), func() int { return t(s) })\n}\n}\ntype T struct { s []string; t *T }\nfunc t(s ...string) (n int) {\nfor _, x := range s {\nn += len(x) + t(s...)\n}\nfor p := q; p != nil; p = p.Next() {\n}\nreturn n\n}\nfunc (t *T) f(T) int {\nt.s = append(t.s, \"\")\nt.t.s = nil\nreturn T{s: t.s}.f(*t)",
		"for {\nx, ok := m[k]\nif !ok {\nx, err = g(k)\nm[k] = x\n}\nif err == nil {\nbreak\n}\nselect {\ncase <-t.C:\ngo func(y int) { g(y) }(x)\ndefault:\nh.x = []T{g(x)}\nwg.Go(g)\n}\n}\n}\nfunc g(k string) (x *T, err error) {\nt.n[k]++\nreturn x, nil\n}\nvar t T\ntype T struct { n map[string]int }\nfunc (x *T) h() { x.n = nil",
		"for i, x = range a {\nb = append(b[:0], b[i:]...)\nre.Match(b)\nt.b = cut(t.b)\ncopy(t.b, t.b[1:])\nb = append(b, r[:n]...)\nio.CopyN(b, r, size<<3*2)\n}\n}\nconst size, re = 1, size\nfunc g() {\nre := regexp.MustCompile(re + \"x\")",
		"x.t = time.AfterFunc(d, f)\nctx, x.stop = context.WithTimeout(c, d)\n_, cancel := context.WithCancel(c)\nreturn cancel, x.t == nil\nl := &T{t: time.AfterFunc(d, f)}\nl.u = append(l.u)\nheap.Push(&l.u, l.t)\nheap.Pop(&l.u)\nl.l.PushBack(l)\nv.With(a).Reset()\nv.Reset()",
		"p := strings.Split(a, b)\nif len(p) == 2 {\nq := p[1:]\nfor i := 1; i < len(p); i++ {\nuse(p[i], p[len(p)-1], strings.Join(q, b))\n}\n}\nif v, ok := m[K{a, time.Now()}]; ok {\nreturn v + f(a[1:], b) + f(a, b[1:])\n}\nfor {\nselect {\ncase <-time.After(10):\ncase <-c:\nuse(r.URL.Query().Get(a), r.URL.Query())\n}\nh := sha256.New()\nh.Write(b)\nh.Sum(nil)\n}\n}\ntype K struct { a string; t time.Time }\nfunc g(k K) int {\nreturn g(k) + g(K{k.a, k.t})",
		"k := fmt.Sprintf(a, b)\nm[k] = fmt.Sprintf()\ndelete(m, k)\nk, n = k, m\nx.k = x.k.Clone()\nx.k = bytes.Clone(x.k[:1])\nx.k, y, _ = strings.Cut(x.k, a)\nfor _, z := range strings.Split(a, b) {\nm[z%len(m)] = z\nm = append(m[:0:0], m[1:]...)\nm = slices.Delete(m)\n}\nreturn fmt.Sprintf(a)",
		"d, err := io.ReadAll(f)\nfor len(d) > 0 {\nx, rest, _ := bytes.Cut(d, []byte(\"\\n\"))\ng(d[:n], x)\nd = rest\n}\n}\nfunc g(b ...[]byte) {\nfor i := 0; i < len(b); i += n {\nh(b[i:min(i+n, len(b))])\n}\nb, _ = os.ReadFile()\nfor _, l := range strings.Split(string(b), \"\\n\") {\nl = l[1:]\nm[l] = append(l, strings.Fields(l)...)\n}\n}\nfunc h() []byte {\nreturn io.ReadAll()",
		"var x, y []T\nfor z := range a {\nx = append(x, z)\nfunc() { y = append(y, z) }()\ng(func(v T) { y = append(y, v, z) })\n}\nfor i := 0; i < len(x); i++ {\nuse(x[i])\nx.y[i] = x[i]\n}\nreturn g(x, len(x) > 0, x...)\n}\nfunc g(x []T, y ...int) []T {\nfor _, z := range slices.Chunk(x, 2) {\nq <- z\nw = max(w, len(z))\nh.Add(z)\n}\nvar a, b = g(x), g\nx, _ = g(x)\nreturn x\n}\ntype T struct { y []T",
		"x := &http.Transport{}\nc.Do(&http.Client{Transport: x})\nl := rate.NewLimiter()\nfor _, p := range ps {\nm := p.fs.table()\nselect {\ncase <-p.done:\ncase <-ctx.Done():\n}\nclose()\nclose(p.done)\n}\n}\nfunc (p *T) table() map[string]T {\nm := map[string]T{}\nfilepath.Walk()\nes, _ := os.ReadDir(p.dir)\nfor _, e := range es {\nm[e.Name()] = *p.Clone()\n}\nreturn m\n}\ntype T struct { dir string; fs *T; done chan int }\nfunc (p *T) Clone() *T {\nq := &T{dir: p.dir}\nq.fs = p.fs.Clone()\nreturn q",
		"a, b := A{}, B{}\nfor {\na.in = b\nb.o = a.in\nb.n = 1\nb.p[0], a.in.p = a.in, b.p\n}\n}\ntype B struct { o any; n int; p []B }\ntype A struct { in B; pp *int; n int }\nfunc g(a A) int {\na.in.o = a\nreturn a.n",
		"go func() { select {} }()\nx := tree{}\nfor i := range x {\ny := &item{of: x[i]}\nfill(y, 1)\nall = append(all, y)\n}\njson.NewEncoder(w).Encode(all)\nall = all[:1]\n}\nvar all []*item\ntype tree map[string]tree\ntype box[T any] struct { of *box[[]T]; in T }\ntype item struct { of tree; in box[item]; up *item }\nfunc fill(x *item, n int) *item {\nfill(x, n-1)\nx.up.up = x\nreturn fill(x.up, n)",
		"t.mu.Lock()\nh := t.m[a]\nh.Lock()\nx := t{n: 1}\nx.n, h.n = h.f(x.n), g(h.n)\nh.n += x.n\nmu.n++\nuse(x)\nh.Unlock()\nt.mu.Unlock()\n}\nvar t T\ntype T struct { sync.Mutex; mu sync.Mutex; m map[string]*T; n int }\nfunc (t *T) f(n int) int {\nt.n = g(t.n)\nreturn t.f(t.n)",
		"c := t.c\nif c == nil {\nc = t.f()\n}\nfor {\nc.Do(a)\nt.f().Get(b)\n}\n}\ntype T struct { c *http.Client }\nvar t = &T{nil}\nfunc (t *T) f() *http.Client {\nif t.c != nil {\nreturn t.c\n}\nc := &http.Client{}\nc.Transport = http.DefaultTransport.(*http.Transport).Clone()\nswitch {\ncase a:\nc = t.f()\nreturn &http.Client{Transport: R{c, n: new(http.Transport)}}\n}\nreturn c",
		"t.mu.Lock()\nh := t.find(a)\nh.Read(b)\nfor _, h := range t.m {\nif b {\nh.in.Close()\n}\n}\nt.mu.Unlock()\n}\nfunc (t *T) find(k string) *T { return t.find(k).m[k].in }\nvar t T\ntype T struct { mu sync.Mutex; m map[string]*T; in *T }\nfunc (t *T) g() {\nt.mu.Lock()\nt.m[a].Close()\npool.Put(t.find(a).(*T))\nt.in, t.m = t, nil\nt.mu.Unlock()",
		"var v any = a\nswitch p := v.(type) {\ncase string:\np = p + \".tmp\"\nfor {\nos.WriteFile(p, nil, 0)\nf, err := os.Create(p + p)\nx.Encode(p)\n}\n}",
		"A(f(a), string())\nf(strings.Clone(), []byte())",
		"for {\nt.s = append(t.s, a)\nt.m[a] = b\nt.f(t)\n}\n}\nvar t *T\ntype T struct { s []string; m map[string]string; p string }\nfunc (t *T) f(x any) {\nt.f(t.s)\nb, _ := json.Marshal(x)\njson.Marshal(t.m)\nos.WriteFile(t.p, b)\nf, err := os.OpenFile(t.p, os.O_APPEND, 0)\ndefer f.Close()\nos.Rename(t.p, b)",
		"t.mu.Lock()\nd := time.Until(t.at)\ntime.Sleep(d)\nt.at = t.k.f(t.at, t.s)\nt.s = append(t.s, a)\nt.l.PushBack(a)\nsort.Sort(t.s)\nselect {\ncase <-time.After(d):\ncase <-t.c.C:\n}\nfunc() { t.k.r.Read(a) }()\nt.mu.Unlock()\n}\nvar t T\ntype K struct { *bufio.Reader; r io.Reader; k *K; w io.Writer }\ntype T struct { mu sync.Mutex; k *K; at time.Time; s []string; c net.Conn; l list.List }\nfunc (k *K) f(x any, y ...any) any {\nk = k.k\nk.Read(k.r)\nio.Copy(k.w, k.k.f(x))\nreturn k.f(k.k, k)",
		"for {\nselect {\ncase <-t.C:\nx.w.Flush()\ncase x := <-t:\nx.f()\nreturn\n}\n}\n}\ntype T struct { w *bufio.Writer; t *time.Ticker }\nfunc (x *T) f() {\nx.f()\nx.w.Flush()\nfor range x.t.C {\nx.g()\n}\n}\nfunc (x *T) g() {\nx.t = time.NewTicker()\nx.f()\nx.w.Writer.Flush()",
		"f, g := func(t *T) { t.n++; t.m[a] = t.n }, func() { f(t); g(); use(t.n) }\nfor t.n < n {\nfor i, x := range t.take() {\nwg.Go(func() { r[i] = f(x) })\n}\nwg.Wait()\nt.apply(r)\nos.Rename(t.p, t.p+a)\nout <- r\n}\nfor r := range t.c {\nx := t.Load(r)\nt.Save(r, x+1)\nt.c <- &T{}\n}\n}\ntype T struct { n int; p string; m map[string]int; c chan *T; in *T; Jar any }\nfunc (t *T) take() []int { t.apply(t.m); os.Create(t.p + t.in.p); return t.in.take() }\nfunc (t *T) apply(r any) {\nif t.n == 0 {\nt.n, t.in = 1, t\n}\nt.in.in.apply(t.in.m)\nc := &http.Client{Jar: t.Jar}\nc.Jar = t",
		"x := q.pop()\nfor x, ok := q.pop(); ok; x, ok = q.pop() {\nuse(x.b)\n}\nq.items = append(q.items, &T{b: a})\nq.m[k] = T{}\ndata, err := os.ReadFile(a)\nm := map[string][]byte{}\nm[k] = data\nw.Write(data)\ns, _ := db.Prepare(`INSERT INTO t`)\nfor _, r := range rows {\ns.Exec(r)\n}\n}\ntype T struct { b []byte; t *T }\ntype Q[E any] struct { items []E; m map[string]T }\nvar q Q[*T]\nfunc (q *Q[E]) pop() (E, bool) {\nif len(q.items) == 0 {\nreturn\n}\nx := q.items[0]\nq.items = q.items[1:]\nreturn x, true\n}\nfunc main() { q.clean() }\nfunc (q *Q[E]) clean() {\nq.clean()\nfor k := range q.m {\ndelete(q.m, k)\n}",
		"t.mu.Lock()\nif t.user != user || t.items[:1] == nil {\nt.items, t.user = t.items[n:], user\nt.v, t.err = t.fetch(ctx, user)\n}\nt.items[0].items = append(t.items[1:], t)\nfor t.items[0] != nil {\nt.items = append(t.items, t.items...)\nt.items = t.items[1:]\n}\nselect {\ncase ch <- t:\ncase <-time.After(d):\ncase <-ctx.Done():\n}\nt.mu.Unlock()\n}\nvar t T\ntype T struct { mu sync.Mutex; items []*T; user, v string; err error }\nfunc (t *T) fetch(ctx context.Context, u string) (string, error) {\nt.user = ctx.Value(u).(string)\nreturn t.fetch(ctx, t.user)",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		text = "package main\n\nfunc f(a, b string) {\n" + text + "\n}\n"
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		c := NewInput(session.New(r.Open())).code
		if c.parse("a.go") == nil {
			return
		}
		caller := stack.Frame{Func: "main.g", File: "a.go", Line: 4}
		for line := range min(strings.Count(text, "\n")+2, 60) {
			askSource(c, stack.Frame{Func: "main.f", File: "a.go", Line: line}, caller)
		}
		askTypes(newDerivations(c))
		conns := connSources{c}
		conns.httpSettings()
		conns.idleSettings()
		for _, of := range []string{"T", "t", "A"} {
			tickedIn(c, of, folderOf("a.go"))
		}
	})
}

// askDerived asks of the functions of a source what they compute and what they are given, and of a way
// whether that is done again.
func askDerived(c *code, way []stack.Frame) {
	s := newTakenScan(newDerivations(c))
	s.writes()
	for _, library := range []string{"runtime.main", "sort.Slice", "net/http.HandlerFunc.ServeHTTP"} {
		frames, user := append(slices.Clone(way), stack.Frame{Func: library}), []bool{true, true, true, false}
		for _, decl := range s.t.decls {
			if f := s.value(decl); f != nil {
				s.again(f, frames, user)
				s.again(f, frames[2:], user[2:])
			}
			if in, ok := s.at(way[0]); ok {
				for _, isLibrary := range []bool{false, true} {
					w, from, call, ok := s.handed(in, way[0], stack.Frame{Func: "main." + decl.Name.Name, File: way[0].File, Line: way[0].Line}, isLibrary)
					if ok {
						s.outward(w, from, call, frames, user)
					}
				}
			}
		}
	}
}

// askResults asks of the calls on a line what becomes of their results, and of a function what in it makes it hot.
func askResults(c *code, way []stack.Frame) {
	d, f := newDerivations(c), way[0]
	recursesOver(d, f)
	for _, key := range cacheKeys(c, f) {
		volatile(d, way, key, 0)
	}
	pollings(c, f)
	emptyTurns(c, f)
	keyedAmong(d, append(slices.Clone(way), stack.Frame{Func: "net/http.HandlerFunc.ServeHTTP"}), []bool{true, true, true, false}, 0)
	for _, obj := range d.t.info.Defs {
		if v, ok := obj.(*types.Var); ok && v.IsField() {
			madeAtStart(d, v)
		}
	}
	firstFew(c, f)
	makesNext(c, f)
	neededToCount(d, append(slices.Clone(way), stack.Frame{Func: "path/filepath.WalkDir"}))
	in, ok := d.at(f)
	if !ok {
		return
	}
	replacesFile(d, in.decl, codeLine{f.File, f.Line})
	eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return
		}
		for _, row := range resultRows {
			for _, name := range []string{ownCallName(call), "Split", "SplitN", "Fields", "Query", "Sum", "FindString"} {
				row.tell(&resultAt{derivations: d, decl: in.decl, call: call, around: slices.Clone(around), name: name, pkg: "strings"})
			}
		}
	})
}

// askAgain asks of the lines of a way whether what they call is done again, for the same.
func askAgain(c *code, way []stack.Frame) {
	expiresLazily(c, keepsAt{kind: intoMap, container: "t.m", file: way[0].File, line: way[0].Line})
	if in, ok := derivationsOf(c).at(way[0]); ok {
		writtenAtOnce(derivationsOf(c), in, way[0].Line)
	}
	for _, serves := range []bool{false, true} {
		wholeAlong(c, way, "Encode", serves)
		wholeAlong(c, way, "Marshal", serves)
		reopenedAlong(c, way, serves)
	}
	f := way[0]
	d := c.function(f)
	keepsConverted(c, f)
	for _, call := range c.lineCalls(f) {
		callee := "main." + calledName(call)
		calledInTurns(c, f, callee)
		fillsOnce(c, f, callee)
		atIntervals(c, f, callee)
		startedAgain(c, callee, 0)
		becomes(c, call, way)
		for _, kept := range []bool{false, true} {
			(&itemWay{c: c, way: way, back: []int{2}, names: map[string]bool{}, index: map[string]bool{}}).follow(callee, kept)
		}
		expression(c, c.scopeAt(f), receiverOf(call))
		sameCallOn(c, append([]stack.Frame{f}, way...), callee)
		changedMeanwhile(c, f, f)
		fixedCall(c, append([]stack.Frame{f}, way...), callee)
		growsBetween(c, f)
		if d != nil {
			givenToChange(c, d, call, f.File)
		}
		for _, x := range call.Args {
			if p, ok := spotOf(x); ok && d != nil {
				frontCut(c, f.File, d.Body, p)
			}
		}
	}
	readSize(c, f.File, f.Line)
	if d != nil {
		changesType(c, d, f.File)
		readsChanging(c, declaration{d, f.File})
	}
}

// askWays asks of a way through the code what its loops, its Transports and its tables are, and what goes through all that it reads.
func askWays(c *code, way []stack.Frame) {
	goneThroughOnce(c, way)
	nearLoop(c, way, "net/http.(*Client).Do")
	endsAt(c, way[0])
	frontCutOf(c, way[0])
	inlinedCall(c, &allocSite{Site: &why.Site{Frames: append([]stack.Frame{{Func: "slices.Clone[...]"}}, way...)}, at: way[0]})
	limiterMade(c, "golang.org/x/time/rate.(*Limiter).wait")
	for l, f := range loopsOn(c, way) {
		searchesOwnKeys(c, f, "main.f", l)
	}
	user := func(f stack.Frame) bool { return f.File != "" }
	tellTransport(&Finding{}, c, append([]stack.Frame{{Func: "net/http.(*Client).Do"}}, way...), user)
	if b, ok := bodyWaysOf(c, way[0]); ok {
		b.tell(&Finding{}, connSources{c}.others(way[0]))
	}
	heldElsewhere(c, way[0], way)
	for n := 1; n < 6; n++ {
		protectedBy(c, way[:1], []stack.Frame{{Func: "net.(*conn).Read"}, {Func: way[0].Func, File: way[0].File, Line: way[0].Line + n}})
		underAdvice(c, way[0], []stack.Frame{{Func: "net.(*conn).Read"}, {Func: way[0].Func, File: way[0].File, Line: way[0].Line + n}})
	}
	takenAbove(c, way[0], way[len(way)-1])
	tellFlight(c, way, &Finding{})
	d := newDerivations(c)
	for _, decl := range d.t.decls {
		isCloner(d, decl)
		setsFieldsAlone(d, decl, nil)
		for _, g := range gatheredLists(d, decl) {
			g.feedsFrom(d, way[0].Line)
			if len(g.passes) > 0 {
				secondNeeds(d, g)
			}
		}
		if f, ok := tableMade(d, decl); ok {
			tableTurnsOf(d, f, way, []bool{true, true, true})
		}
	}
}

// askHanded asks what is put together to be sent, which statement a line runs, what a loop looks up in one thing after the other, who is sent the same value,
// and what calls leave for later ones.
func askHanded(c *code, way []stack.Frame, text string) {
	sentBuffer(c, way)
	statementChanging(c, way)
	queryOn(c, way)
	indexAdvice(text)
	goesThroughLeft(c, way[0], way[len(way)-1])
	d := newDerivations(c)
	sent := handouts(d)
	for _, decl := range declsInOrder(d) {
		eachNode(decl.Body, func(n ast.Node, _ []ast.Node) {
			switch n := n.(type) {
			case *ast.RangeStmt:
				layersIn(d, n, map[string]bool{"x": true})
			case *ast.ForStmt:
				layersIn(d, n, map[string]bool{"x": true})
			case ast.Expr:
				handedToMany(d, sent, decl, n, 0)
			}
		})
	}
}

// askAnswer asks what of the statements on a way makes an answer, and what of a request they read; and who relays there.
func askAnswer(c *code, way []stack.Frame) {
	d := newDerivations(c)
	relaysAt(c, way[0])
	for i, f := range way {
		in, ok := d.at(f)
		if !ok {
			continue
		}
		ways := []servedWay{{frames: way[i:], n: 1}}
		for _, part := range partsWith(d, in, ways, 0, 1) {
			newRequestFlow(d).free(in, part.node, way[i+1:])
			besidesAnswer(d, in, part.node, way[i+1:])
			elementLoop(d, part, in, 0, 1)
			writesSomething(d, in, part.node)
		}
	}
}

// askSteady asks of a line whether what it calls stays the same, which lists are cut, and whether goroutines there are meant to stay.
func askSteady(c *code, f stack.Frame) {
	d := newDerivations(c)
	cutLists(d)
	for _, decl := range d.t.decls {
		for _, x := range encodedWholes(d, decl) {
			x.changedLater()
		}
	}
	unsteadyCall(c, f, f)
	effectOfCall(c, f, true)
	connectionOfCalls(c, []stack.Frame{f, f})
	effectNext(c, []stack.Frame{f, f})
	effectBehindWrites(c, []stack.Frame{f}, codeLine{f.File, f.Line})
	syncTold(c, []stack.Frame{f, f})
	if o, ok := ofLoop(c, executed{called: "database/sql.(*DB).Exec", way: []stack.Frame{f, f}, commit: true}); ok {
		o.advise(c, &Finding{})
	}
	for _, callee := range []string{"f", "g", "t", "h"} {
		changesResult(c, f, callee)
	}
	for _, name := range []string{"main.f", "main.main.func1"} {
		at := stack.Frame{Func: name, File: f.File, Line: f.Line}
		heldThread(c, at)
		begunOnce(c, at)
		keptInMap(c, at)
	}
}

// askCounts asks what the counts of blocks say of a line, where each block was entered some times.
func askCounts(c *code, f stack.Frame) {
	counts := countedBlocks(c, func(_, offset int) int64 { return int64(1_000_000 >> (offset % 17)) })
	(&scanFinder{in: &Input{code: c}, c: counts, known: map[ast.Stmt]*countedScan{}}).at(f)
	hitsOf(counts, f)
	poolMissesAt(c, f)
	work := newUnneededScan(c)
	work.counts = counts
	work.on(f)
	orderChange(c, f)
	parts := newPartFinder(c)
	parts.counts = counts
	parts.on(f, "f")
	parts.on(f, "WalkDir")
	c.turns = counts
	tellTransport(&Finding{}, c, []stack.Frame{{Func: "net/http.(*Client).Do"}, f, f}, func(f stack.Frame) bool { return f.File != "" })
	for _, s := range c.storesOf([]stack.Frame{f}) {
		flow, _ := throughputOf(c, s)
		_ = flow.String()
		askQueue(counts, s)
	}
	lineReached(c, f)
	ofLoop(c, executed{called: "database/sql.(*Stmt).Exec", of: "modernc.org/sqlite", way: []stack.Frame{f, f}})
	c.turns = nil
}

// askQueue asks of what a line stores into a list whether the list gives up its first places, and of a container what takes out of it and is never called.
func askQueue(counts *countedTurns, s keepsAt) {
	if x := headCutOf(counts.d, s, func(n ast.Node, around []ast.Node) (int64, bool) { return counts.times(around, n) }); x != nil {
		x.drainedAfter()
		x.heldElsewhere()
		(&headHeap{headCut: x}).clearing()
	}
	for fn := range counts.d.t.decls {
		notStartedBy(counts.d.c, fn, stack.Frame{File: s.file, Line: s.line})
	}
	removers, _ := removersOf(counts.d.c, s)
	tellNotStarted(counts.d.c, s, removers.found, &holding{})
}

// askLater asks what stays or goes on behind a line: contexts that grow, walks that begin anew, results that somebody ends, arguments of log calls, what is
// read as a whole, and what is told of a statement.
func askLater(c *code, f stack.Frame) {
	d, way := derivationsOf(c), []stack.Frame{f, f}
	counts := countedBlocks(c, func(_, offset int) int64 { return int64(1_000_000 >> (offset % 17)) })
	for _, called := range []bool{true, false} {
		storedOnWay(c, way, called)
	}
	for _, s := range contextStores(d) {
		s.onlyOnce()
	}
	for _, decl := range declsInOrder(counts.d) {
		eachNode(decl.Body, func(n ast.Node, around []ast.Node) {
			if w := walkMarkedBy(counts.d, decl, n, around); w != nil && w.count(counts) {
				w.most(counts)
			}
		})
	}
	for _, decl := range declsInOrder(d) {
		endOfResult(d, decl, 0)
		(&unseenCalls{c: c, d: d}).whoMayCall(decl)
	}
	log := &loggedFor{logCall: logCall{file: f.File, first: f.Line, last: f.Line + 1, text: "f"}, at: f}
	log.argumentEffect(c)
	log.argumentPanics(c)
	if own := countedScope(c, f); own != nil {
		out := recursionOutOf(c, own, f, "x")
		_ = out.text() + out.advice()
	}
	statementTold(c, way)
	asksForNothing(c, way)
	repeatedFrom(c, way)
	partPasses(c, way)
	conditionsOfStream(c, way, "io.ReadAll(x)", "f", &Finding{})
	if s := c.parse(f.File); s != nil {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if x, ok := n.(ast.Expr); ok {
				limitTime(c, s, x)
			}
			return true
		})
	}
}

// askWork asks of a line whether what it does is needed, where its texts end, what it walks over and moves, and how it sorts.
func askWork(c *code, f stack.Frame) {
	d := newDerivations(c)
	newUnneededScan(c).on(f)
	askCounts(c, f)
	walksGraph(d, f)
	if in, ok := d.at(f); ok {
		judgesAll(d, in.decl, 0)
		ast.Inspect(in.body(), func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				boundTo(d, in, call)
			}
			if x, ok := n.(ast.Expr); ok && d.t.typeOf(x) != nil {
				changesEarlier(d, in.decl, in.body(), d.t.typeOf(x))
			}
			return true
		})
	}
	hasNoEnd(d, f)
	selectsClock(c, f)
	wholeUses(c, []stack.Frame{f, f})
	placeIsSet(c, f)
	contextGrowsAround(c, f)
	sortedAppendAt(c, f)
	sortKeyAt(c, []stack.Frame{f, f}, []bool{true, true})
	skippable(c, f)
	newPartFinder(c).on(f, "f")
	for _, writes := range []string{"f", "os.WriteFile"} {
		writesSameFile(c, []stack.Frame{f, f}, writes)
	}
	fillsCache(c, newDerivations(c), f, "f")
	if own := countedScope(c, f); own != nil {
		callsItself(c, own, f)
		callsGiven(own)
		undoes(own.body)
		setsOutside(own)
	}
	ownPause(c, f)
	clockUntold(c, f)
	tickAdvice(c, f)
	changedInPlace(c, []stack.Frame{f, f}, "f")
	for _, s := range c.storesOf([]stack.Frame{f}) {
		boundBeside(c, s)
		queueMade(c, s)
		drains(c, s)
	}
	carriesContext(c.function(f))
	endsWithNobody(c, "context.WithCancel", []stack.Frame{f, f})
	if fn := c.function(f); fn != nil {
		needsType(fn)
	}
	putBackAt(sourceHolders{c}, []stack.Frame{f, f})
	lateFilterAt(c, f)
	if g, ok := stepGrowthAt(c, f); ok {
		keptBeside(c, f, lastName(g.of))
	}
	for _, reads := range []bool{false, true} {
		movedOn(d, f, reads)
	}
	for _, callee := range []string{"fmt.Sprintf", "main.f", "strings.Join", "crypto/sha256.Sum256"} {
		newTextScan(c).logged(f, callee)
		sumsCompared(c, f, callee)
	}
	for _, l := range loopsAround(c, f) {
		goesThrough(l, f.Line)
		vainLoop(l)
		pollsState(c, l)
	}
}

// askSource asks of a line all that rules ask.
func askSource(c *code, f, caller stack.Frame) {
	way := []stack.Frame{f, caller, f}
	askDerived(c, way)
	askResults(c, way)
	askWays(c, way)
	askHanded(c, way, c.text(f.File, f.Line))
	askAnswer(c, way)
	askSteady(c, f)
	askWork(c, f)
	askLater(c, f)
	lineInLoop(c, f)
	for _, of := range []closable{closableStmt, closableBody, closableTx} {
		for _, called := range []string{"f", "g", "Do", "Open", "Create"} {
			releasedIn(c, f, called, of)
		}
	}
	unclosedAlong(c, []stack.Frame{{Func: "net/http.(*Client).Do"}, f, caller}, 0)
	handsFileOn(c, stack.Frame{Func: "main.(*T).Read", File: f.File, Line: f.Line})
	seeksIn(c, []*fileLineUse{{at: f}, {at: caller}})
	for _, call := range c.lineCalls(f) {
		callsNext(c.scopeAt(f), call)
		predicateOn(c, f, calledName(call))
	}
	retryAround(c, way)
	askingAround(c, way)
	firstOf(c, way)
	paces(c, f)
	asksForLock(c, f)
	fixedName(c, way)
	stateOf(c, way)
	if b, ok := boundedAt(c, way); ok && b.of == nil && b.limit != 0 {
		panic("a limit of nothing")
	}
	for _, looped := range []bool{false, true} {
		searchByHand(c, f, caller, looped)
	}
	waysOut(c, f, func(*ast.CallExpr) bool { return false })
	for _, callee := range []string{"main.f", "main.(*T).g", "runtime.concatstrings", "runtime.slicebytetostring"} {
		logsAround(c, f, callee)
	}
	askAgain(c, way)
	answersWith(c, way, f)
	isDynamic(c, f, "a.b")
	c.heldIn(f)
	c.named(f)
	c.parse(f.File).needleAt(f.Line)
	c.parse(f.File).growsText(f.Line)
	putsIntoPool(c.parse(f.File), f.Line)
	sourceHolders{c}.holder(f, way)
	sourceHolders{c}.bySeries(f, []stack.Frame{{Func: seriesKeepers[0]}, f})
	nearBound(c, way)
	for _, with := range []string{"time.AfterFunc", "context.WithCancel", "context.WithTimeout"} {
		forgets(c, f, with)
	}
	handedOn(c, f)
	keyOnly(c, f, "fmt.Sprintf")
	askLeft(c, f)
	conns := connSources{c}
	conns.opensWith(way)
	conns.settingsOn(way, conns.httpSettings())
}

// askLeft asks what calls on a line leave behind, what a batch needs, and what a queue is for.
func askLeft(c *code, f stack.Frame) {
	if in, ok := derivationsOf(c).at(f); ok {
		for _, t := range (&leftBetween{d: derivationsOf(c), in: in}).on(f.Line, f.Line+3) {
			t.text()
		}
	}
	callNeeds(c, f, []int{f.Line, f.Line + 1, f.Line + 2})
	closingOf(c, f, []int{f.Line, f.Line + 1, f.Line + 2})
	peerOrder(c, []stack.Frame{f}, []stack.Frame{f})
	mayBeKey(c, f, &ast.Ident{Name: "a"})
	tellEnd(c, []stack.Frame{f}, &Finding{})
	barrierAt(c, f)
	if b, ok := batchTurnAt(c, f); ok {
		b.needsLast()
		b.finishes()
	}
	thingsIn(c, f)
	client := []stack.Frame{{Func: "net/http.(*Client).Do"}, f}
	lock := f
	for lock.Line = f.Line - 1; lock.Line > 0 && lock.Line > f.Line-9; lock.Line-- {
		why := purposeOf(c, []stack.Frame{lock}, client)
		why.advice(doingCall)
		why.workApart()
	}
	syncsSame(c, client)
	jarOf(c, [][]stack.Frame{client})
	oneStepUnder(c, [][]stack.Frame{client}, client, func(holder []stack.Frame) *underlying { return servedBy(c, holder) })
}

// countedBlocks are counts of all blocks of a source, and of its loops, each of which went through the same 101 elements 99 times.
func countedBlocks(c *code, count func(line, offset int) int64) *countedTurns {
	d := newDerivations(c)
	var files []repeatsfile.File
	for _, file := range d.t.files {
		x := repeatsfile.File{Name: file.name}
		block := func(at token.Pos) {
			_, line, offset := d.t.at(at)
			x.Blocks = append(x.Blocks, repeatsfile.Block{Line: line, Offset: offset, Count: count(line, offset)})
		}
		ast.Inspect(file.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				block(n.Lbrace)
			case *ast.CaseClause:
				block(n.Colon)
			case *ast.ForStmt, *ast.RangeStmt:
				_, line, offset := d.t.at(n.Pos())
				x.Loops = append(x.Loops, repeatsfile.Loop{Line: line, Offset: offset, Entered: 99, Looked: 99, Size: 9999, Contents: 1, Paired: 98, Alike: 98})
			}
			return true
		})
		files = append(files, x)
	}
	return newCountedTurns(c, repetition.BlocksOf(files))
}
