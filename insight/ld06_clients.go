package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

// Connections of other clients than net/http and database/sql: of Redis, memcached, LDAP,
// mail, and whoever dials by himself.

// dialling are the beginnings of the names of functions that make a connection.
var dialling = []string{"net.(*Dialer).", "net.Dial", "crypto/tls.(*Dialer).", "crypto/tls.Dial", "net.(*sysDialer)."}

// otherClient tells of a stack that makes a connection for a client that pools its connections,
// and neither for net/http nor for database/sql: between the line that dials and what asks for
// it is code of a dependency, or of something that is called a pool.
func otherClient(in *Input, frames []stack.Frame) bool {
	dial := slices.IndexFunc(frames, func(f stack.Frame) bool {
		return slices.ContainsFunc(dialling, func(d string) bool { return strings.HasPrefix(f.Func, d) })
	})
	if dial < 0 {
		return false
	}
	pooled := false
	for _, f := range frames[dial:] {
		if pkg := stack.Package(f.Func); pkg == "database/sql" || pkg == "net/http" && strings.HasPrefix(f.Func, "net/http.(*Transport).") {
			return false
		}
		if strings.HasPrefix(f.Func, "net/http.") || strings.HasPrefix(f.Func, "google.golang.org/grpc.(*Server).") {
			break // who serves
		}
		pooled = pooled || in.Session.Scope().Of(f) == stack.Dependency || strings.Contains(strings.ToLower(f.Func), "pool")
	}
	return pooled
}

// dialled are the connections that the units of a group make at one line.
type dialled struct {
	group  facts.UnitGroup
	call   *facts.UnitCall // the one with most of them
	count  int64
	rows   []*facts.UnitRow
	spent  time.Duration
	uses   []stack.Frame // the lines that ask for a connection
	inWork float64       // how many units are in progress on average
	// cpu is the part of the CPU time that is spent there.
	cpu stats.Interval
}

func (x *dialled) at() stack.Frame { return x.call.Path[0] }

func (x *dialled) each() float64 { return float64(x.count) / float64(max(1, x.group.Wall.Count)) }

// atOnce says how many units are in progress at a time.
func (x *dialled) atOnce() string {
	if x.inWork < 2 {
		return ""
	}
	return fmt.Sprintf(" (about %s %ss are in progress at a time)", unit.Count(int64(x.inWork+0.5)), x.group.Unit.String())
}

// connections finds the lines at which the units of a group make connections for such clients.
func connections(in *Input, t *traced, g facts.UnitGroup) (all []*dialled) {
	by := map[stack.Frame]*dialled{}
	for i := range g.Calls {
		c := &g.Calls[i]
		if c.Kind.Key() != "dial" || c.Count == 0 || !otherClient(in, t.Frames(c.Stack)) {
			continue
		}
		x := by[c.Path[0]]
		if x == nil {
			x = &dialled{group: g, call: c}
			by[c.Path[0]], all = x, append(all, x)
		}
		if c.Count > x.call.Count {
			x.call = c
		}
		x.count += c.Count
		if use, ok := userOf(in.code, c.Path); ok && !slices.Contains(x.uses, use) {
			x.uses = append(x.uses, use)
		}
	}
	for _, x := range all {
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; row.Site.Frame == x.at() {
				x.rows, x.spent = append(x.rows, row), x.spent+row.Time
			}
		}
		x.inWork = float64(g.Seen.Sum) / float64(max(1, t.Length()))
		x.cpu = cpuAt(in, x.at())
	}
	return all
}

// cpuAt is the part of the CPU time that goes through a line.
func cpuAt(in *Input, at stack.Frame) stats.Interval {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil || w.Total() <= 0 {
		return stats.Interval{}
	}
	through := int64(0)
	for id, n := range w.Profile.Samples(w.Index) {
		if slices.ContainsFunc(w.Profile.Stacks.Frames(id), func(f stack.FrameID) bool {
			x := w.Profile.Stacks.Frame(f)
			return x.File == at.File && x.Line == at.Line
		}) {
			through += n
		}
	}
	return stats.Wilson(float64(through), float64(w.Total()), compare.Confidence)
}

// servedUnits are the groups of requests and tasks in a trace that is long enough.
func servedUnits(in *Input) (t *traced, served []facts.UnitGroup) {
	t = in.trace()
	if t.Err != nil || t.Length() < facts.MinTrace {
		return t, nil
	}
	units := in.Facts.Units()
	if units.Err != nil {
		return t, nil
	}
	for _, g := range units.Judged {
		if name := g.Unit.String(); name == "request" || name == "task" {
			served = append(served, g)
		}
	}
	return t, served
}

// clients looks at the connections that requests make while the program is traced.
func clients(r *Rule, in *Input) (found []Finding) {
	t, served := servedUnits(in)
	for _, g := range served {
		for _, x := range connections(in, t, g) {
			much := g.All.Share(x.spent) >= r.param("connecting") || x.cpu.Low >= r.param("connecting")
			if much && float64(x.count) >= r.param("requests") && x.each() >= r.param("made") {
				found = append(found, x.finding(r, in, t))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return b.Score - a.Score })
	return found[:min(2, len(found))]
}

func (x *dialled) finding(r *Rule, in *Input, t *traced) Finding {
	g, share := x.group, x.group.All.Share(x.spent)
	text := fmt.Sprintf("%s makes %s new connections%s: %s in %s; %s of its time goes there", unitOf(g), unit.Number(x.each()), atFrame(x.at()), unit.Count(x.count), unit.Duration(t.Length()), unit.Percent(share))
	if x.cpu.Estimate > 0 {
		text += fmt.Sprintf(", and %s of the CPU time", unit.Percent(x.cpu.Estimate))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(x.each(), "connections for each "+g.Unit.String())
	f.Severity, f.Score = Warning, score(max(share, x.cpu.Estimate), r.param("connecting"), 0.6)
	f.felt = ofAll(in, g, share)
	frames := t.Frames(x.call.Stack)
	f.Evidence = []Evidence{t.seenAt(frames, x.at(), "%s new connections for each %s", unit.Number(x.each()), g.Unit.String())}
	for _, use := range x.uses[:min(2, len(x.uses))] {
		f.Evidence = append(f.Evidence, in.code.shownAt(use.File, use.Line, "a connection is asked for here, in %s", stack.Short(use.Func)))
	}
	f.Advice = "Keep connections open between uses: raise the client's limit of idle connections (MaxIdle, MaxIdleConns) to the number in use at once" + x.atOnce() + ", put each connection back after its use, on error paths too, and share one client or pool between all requests."
	f.Verify = "Record a trace under the same load: hardly any new connections should be left, and CPU time per request should fall."
	f.Doubts = in.traceDoubts(t)
	if dialsItself(frames) && len(connSources{in.code}.poolSettings()) == 0 {
		f.Advice = "Keep connections open between uses: keep as many in the program's own pool as are in use at once" + x.atOnce() + ", put each connection back after its use, on error paths too, and share one pool between all requests."
	}
	x.tellPool(in, frames, &f)
	tellDropped(in, frames, &f)
	tellOpening(in, &f, cost{file: x.at().File, line: x.at().Line})
	if i := slices.IndexFunc(x.call.Path, func(at stack.Frame) bool { return identity.MatchString(ownName(at.Func)) }); i >= 0 {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "by its name "+stack.Short(x.call.Path[i].Func)+" checks who somebody is: a connection that belongs to that user from then on cannot serve others")
	}
	tellProbe(in, &f, frames)
	namelessDoubt(in, g, &f)
	f.waits = x.rows
	f.costs, f.saves, f.more = []cost{{file: x.at().File, line: x.at().Line}}, true, true
	return f
}

// tellPool says why the connections are not used again, where the source shows it: their pool
// keeps few, or nothing puts them back.
func (x *dialled) tellPool(in *Input, frames []stack.Frame, f *Finding) {
	c := connSources{in.code}
	if s, ok := c.poolOf(x.at(), frames); ok && (!s.known || float64(s.keeps) < x.inWork) {
		keeps := "limits its idle connections"
		switch {
		case s.known && s.keeps <= 0:
			keeps = "keeps no idle connection"
		case s.known:
			keeps = "keeps at most " + unit.Plural(s.keeps, "idle connection")
		}
		f.Summary += fmt.Sprintf("; their pool %s (%s:%d) and closes the others after their use", keeps, baseName(s.at.File), s.at.Line)
		f.Evidence = slices.Insert(f.Evidence, 0, s.at)
		f.Advice = fmt.Sprintf("Raise %s at %s:%d to the number of connections in use at once%s, or to the pool's limit of open ones. Check too that each connection is put back after its use, on error paths as well, and that all requests share one pool.", s.name, baseName(s.at.File), s.at.Line, x.atOnce())
		return
	}
	for _, use := range x.uses {
		if fn := in.code.scopeAt(use); fn != nil && !putsBack(fn) {
			f.Summary += fmt.Sprintf("; %s, which asks for one, puts none back by its source", stack.Short(use.Func))
			f.Advice = fmt.Sprintf("Put the connection back where %s has used it (defer conn.Close(), or the pool's Put or Release), if the client does not do that itself. Otherwise: ", stack.Short(use.Func)) + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
			return
		}
	}
	for pkg, setting := range idleDefaults {
		if slices.ContainsFunc(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, pkg) }) {
			f.Advice = "According to its documentation the client keeps " + setting + ". " + f.Advice
		}
	}
}

// idleDefaults are how many idle connections clients keep that are not told otherwise.
var idleDefaults = map[string]string{
	"github.com/bradfitz/gomemcache/": "2 idle connections for each server unless MaxIdleConns is set",
	"github.com/gomodule/redigo/":     "no idle connection unless MaxIdle is set",
	"github.com/garyburd/redigo/":     "no idle connection unless MaxIdle is set",
}

// poolSetting is a limit of idle connections in the source.
type poolSetting struct {
	at    Evidence
	name  string
	keeps int64
	known bool // how many these are
	// of is the type of the literal that it stands in, first and last its lines; empty where
	// it is set by a call or an assignment.
	of          string
	owner       string
	first, last int
}

// idleLimit tells of a field or a method, by its name, that it bounds how many idle connections
// are kept.
func idleLimit(name string) bool {
	name = strings.ToLower(name)
	return strings.Contains(name, "maxidle") && !strings.Contains(name, "time") && !strings.Contains(name, "age") && !strings.Contains(name, "dur")
}

// poolSettings are those in the sources, without those of net/http.
func (c connSources) poolSettings() (all []poolSetting) {
	c.eachSource(func(file string, s *syntax) {
		add := func(n ast.Node, name string, value ast.Expr) *poolSetting {
			line, _ := s.lines(n)
			x := poolSetting{at: c.shownAt(file, line, "the source sets %s here", name), name: name}
			x.keeps, x.known = numberOf(value)
			all = append(all, x)
			return &all[len(all)-1]
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if n.Type == nil || strings.HasPrefix(types.ExprString(n.Type), "http.") {
					return true
				}
				for _, e := range n.Elts {
					kv, ok := e.(*ast.KeyValueExpr)
					if !ok {
						continue
					}
					if id, ok := kv.Key.(*ast.Ident); ok && idleLimit(id.Name) {
						x := add(kv, id.Name, kv.Value)
						x.of = types.ExprString(n.Type)
						x.first, x.last = s.lines(n)
					}
				}
			case *ast.AssignStmt:
				if sel, ok := n.Lhs[0].(*ast.SelectorExpr); ok && idleLimit(sel.Sel.Name) && len(n.Rhs) == 1 {
					add(n, sel.Sel.Name, n.Rhs[0]).owner = lastName(types.ExprString(sel.X))
				}
			case *ast.CallExpr:
				if sel, ok := n.Fun.(*ast.SelectorExpr); ok && idleLimit(sel.Sel.Name) && len(n.Args) == 1 {
					add(n, sel.Sel.Name, n.Args[0]).owner = lastName(types.ExprString(sel.X))
				}
			}
			return true
		})
	})
	return all
}

// poolOf finds the limit of the pool that connections are made for: the line that makes them is in
// the same literal, its variable is used on the way there, or it is the only one in the source and
// its type is that of a method on the way.
func (c connSources) poolOf(at stack.Frame, frames []stack.Frame) (poolSetting, bool) {
	all := c.poolSettings()
	for _, x := range all {
		if x.of != "" && x.at.File == at.File && x.first <= at.Line && at.Line <= x.last {
			return x, true
		}
	}
	used := map[string]bool{}
	for _, f := range frames {
		c.usedAt(f, used)
	}
	for _, x := range all {
		if x.owner != "" && slices.ContainsFunc(c.holding(x.owner), func(name string) bool { return used[name] }) {
			return x, true
		}
	}
	if len(all) != 1 || all[0].of == "" {
		return poolSetting{}, false
	}
	pkg, name, ok := strings.Cut(all[0].of, ".")
	if !ok {
		pkg, name = "", all[0].of
	}
	return all[0], slices.ContainsFunc(frames, func(f stack.Frame) bool {
		return strings.Contains(f.Func, "(*"+name+").") && (pkg == "" || strings.Contains(stack.Package(f.Func), pkg))
	})
}

// userOf is the frame, behind that of the call which dials, that uses the connection: one that
// returns it, as a pool's Get does, only hands it on.
func userOf(c *code, path []stack.Frame) (use stack.Frame, ok bool) {
	for i := 1; i < len(path); i++ {
		use, ok = path[i], true
		if !handsOn(c, use, ownName(path[i-1].Func)) {
			break
		}
	}
	return use, ok
}

// handsOn tells whether the function of a frame returns what its call of another one gives it.
func handsOn(c *code, at stack.Frame, callee string) (found bool) {
	fn := c.scopeAt(at)
	if fn == nil {
		return false
	}
	of := func(x ast.Expr) bool {
		call, ok := x.(*ast.CallExpr)
		return ok && calledName(call) == callee
	}
	names := map[string]bool{}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && of(a.Rhs[0]) && isIdent(a.Lhs[0]) && rootName(a.Lhs[0]) != "err" {
			names[rootName(a.Lhs[0])] = true
		}
		return true
	})
	ast.Inspect(fn.body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			found = found || slices.ContainsFunc(r.Results, func(x ast.Expr) bool { return of(x) || isIdent(x) && names[rootName(x)] })
		}
		return !found
	})
	return found
}

// identity are names of functions that check who somebody is: their connection is that one's then.
var identity = lazily(`(?i)^(bind|log_?in|sign_?in|authenticat)|authenticate|checkpassword`)

// putsBack tells whether a function closes something or gives it back, by the names of what it
// calls.
func putsBack(fn *scope) (found bool) {
	ast.Inspect(fn.body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return !found
		}
		name := strings.ToLower(calledName(call))
		found = found || slices.ContainsFunc([]string{"close", "put", "release", "return", "free", "recycle", "done", "quit", "giveback"}, func(p string) bool { return strings.HasPrefix(name, p) })
		return !found
	})
	return found
}
