package insight

import (
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// Where the answers to requests are made, by the samples of a CPU profile and by the source.

// servedSamples are the samples of a profile that serve requests.
type servedSamples struct {
	v *view
	// total is the samples of requests that do more than send what is there or ask others for it.
	total int64
	ways  []servedWay
}

// servedWay is a way through the program's own code, the outermost frame first.
type servedWay struct {
	frames []stack.Frame
	n      int64
}

// servers are functions that serve one request.
var servers = []string{"net/http.serverHandler.ServeHTTP", "net/http.initALPNRequest.ServeHTTP", "github.com/valyala/fasthttp.(*Server).serveConn"}

// sendAnswer are functions that hand an answer that is there to the kernel, and askOthers those of libraries that ask others for it.
var (
	sendAnswer = []string{"net.(*conn).Write", "net.(*netFD).Write", "net/http.(*chunkWriter).Write", "crypto/tls.(*Conn).Write", "net/http.(*response).finishRequest"}
	askOthers  = []string{"database/sql.", "github.com/jackc/pgx", "go.mongodb.org/mongo-driver", "github.com/redis/go-redis", "net/http.(*Client).", "net/http.(*Transport)."}
)

func samplesServed(in *Input, w *facts.Weights) *servedSamples {
	s := &servedSamples{v: in.view(w.Profile)}
	for id, n := range w.Profile.Samples(w.Index) {
		ids := s.v.t.Frames(id)
		top := slices.IndexFunc(ids, func(f stack.FrameID) bool { return slices.Contains(servers, s.v.t.Frame(f).Func) })
		if top < 0 {
			continue
		}
		if slices.ContainsFunc(ids[:top], func(f stack.FrameID) bool {
			name := s.v.t.Frame(f).Func
			return slices.Contains(sendAnswer, name) || slices.ContainsFunc(askOthers, func(of string) bool { return strings.HasPrefix(name, of) })
		}) {
			continue
		}
		s.total += n
		way, _ := s.v.program(ids[:top])
		slices.Reverse(way)
		s.ways = append(s.ways, servedWay{way, n})
	}
	return s
}

// maker is the outermost part of the handlers that most of the samples go through and that reads nothing of the request; nil where there is
// none.
func (s *servedSamples) maker(in *Input, through float64) *answerMaker {
	d, least := derivationsOf(in.code), int64(max(1, through*float64(s.total)))
	var callers []stack.Frame // the nearest first
	insideLoop := false       // what follows makes a part of the answer in each turn
	for depth, ways := 0, s.ways; ; depth++ {
		ways = mostIn(ways, depth)
		if len(ways) == 0 || samplesOf(ways) < least {
			return nil
		}
		fn, ok := d.at(ways[0].frames[depth])
		if !ok {
			return nil
		}
		for _, part := range partsWith(d, fn, ways, depth, least) {
			if insideLoop {
				break
			}
			insideLoop = isLoop(part.node)
			flow := newRequestFlow(d)
			if !flow.free(fn, part.node, callers) {
				continue
			}
			if flow.shared || !writesSomething(d, fn, part.node) {
				return nil // the place to keep it is with those who call the function; or it makes nothing
			}
			b := besidesAnswer(d, fn, part.node, callers)
			if b.tells {
				return nil
			}
			m := part.maker(in, d, fn, depth, least)
			m.besides, m.handlers, m.owner = b, flow.handlers, flow.owner
			return m
		}
		callers = append([]stack.Frame{heaviestLine(ways, depth)}, callers...)
	}
}

// answerPart is a statement of a function, and the ways that go through it.
type answerPart struct {
	node ast.Stmt
	ways []servedWay
}

// partsWith are the statements of a function that hold enough samples, the outermost first. Of several on one line it is the one that calls what
// the samples are in; where that is not one, nobody knows. What stands in a turn of a loop makes a part of the answer, and is none.
func partsWith(d *derivations, fn frameCode, ways []servedWay, depth int, least int64) (parts []answerPart) {
	below := mostIn(ways, depth+1)
	for body := ast.Stmt(fn.body()); ; {
		var found []ast.Stmt
		ast.Inspect(body, func(n ast.Node) bool {
			s, ok := n.(ast.Stmt)
			if !ok || n == body {
				return true
			}
			if samplesOf(waysWithin(d, s, ways, depth)) >= least {
				found = append(found, s)
			}
			return false
		})
		if len(found) > 1 && samplesOf(below) >= least {
			name := ownName(below[0].frames[depth+1].Func)
			found = slices.DeleteFunc(found, func(s ast.Stmt) bool {
				return !hasCall(s, func(call *ast.CallExpr) bool { return calledName(call) == name })
			})
		}
		if len(found) != 1 {
			return parts
		}
		body = found[0]
		if _, block := body.(*ast.BlockStmt); !block {
			parts = append(parts, answerPart{body, waysWithin(d, body, ways, depth)})
		}
	}
}

// writesSomething tells of a part that it has a variable from outside of it: what it writes to, or what it sets.
func writesSomething(d *derivations, fn frameCode, part ast.Stmt) (found bool) {
	if !isLoop(part) {
		return true
	}
	ast.Inspect(bodyOfLoop(part), func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := d.t.info.Uses[id]
			found = found || v != nil && isLocal(fn.decl, v) && (v.Pos() < part.Pos() || v.Pos() >= part.End())
		}
		return !found
	})
	return found
}

// waysWithin are the ways that are on the lines of a node.
func waysWithin(d *derivations, n ast.Node, ways []servedWay, depth int) []servedWay {
	_, first, _ := d.t.at(n.Pos())
	_, last, _ := d.t.at(n.End())
	return slices.DeleteFunc(slices.Clone(ways), func(w servedWay) bool {
		return w.frames[depth].Line < first || w.frames[depth].Line > last
	})
}

// maker tells of the part where it is, what it calls, and which loop is below.
func (p answerPart) maker(in *Input, d *derivations, fn frameCode, depth int, least int64) *answerMaker {
	m := &answerMaker{samples: samplesOf(p.ways), at: heaviestLine(p.ways, depth)}
	for _, w := range p.ways {
		if f := lineOnly(w.frames[depth]); !slices.Contains(m.lines, f) {
			m.lines = append(m.lines, f)
		}
	}
	if m.loop = isLoop(p.node); m.loop {
		_, m.at.Line, _ = d.t.at(p.node.Pos())
	} else if below := mostIn(p.ways, depth+1); samplesOf(below) >= least && len(m.lines) == 1 {
		m.callee = below[0].frames[depth+1].Func
		if decl, ok := d.at(below[0].frames[depth+1]); ok {
			_, line, _ := d.t.at(decl.decl.Pos())
			m.shared = len(callsTo(d, decl.decl)) > 1
			at := stack.Frame{Func: m.callee, File: decl.file, Line: line}
			m.changes = changedMeanwhile(in.code, m.at, at)
		}
	}
	m.inner = elementLoop(d, p, fn, depth, least)
	return m
}

// elementLoop is the innermost loop of the part, or of what it calls, that goes through what no loop around it gives: not what belongs to one
// element. Its line is zero where there is none.
func elementLoop(d *derivations, p answerPart, fn frameCode, depth int, least int64) (at stack.Frame) {
	parts := []answerPart{p}
	parts = append(parts, partsWith(d, fn, p.ways, depth, least)...)
	for ways := p.ways; ; depth++ {
		var around []ast.Node
		for _, q := range parts {
			if !isLoop(q.node) {
				continue
			}
			if goesThroughElements(d, q.node) && (len(around) == 0 || !readsOf(d, loopHead(q.node), around)) {
				at = q.ways[0].frames[depth]
				_, at.Line, _ = d.t.at(q.node.Pos())
			}
			around = append(around, q.node)
		}
		if at.Line > 0 {
			return at
		}
		if ways = mostIn(ways, depth+1); len(ways) == 0 || samplesOf(ways) < least {
			return at
		}
		var ok bool
		if fn, ok = d.at(ways[0].frames[depth+1]); !ok {
			return at
		}
		parts = partsWith(d, fn, ways, depth+1, least)
	}
}

// loopHead is what a loop goes through, or what ends it.
func loopHead(n ast.Node) ast.Node {
	if r, ok := n.(*ast.RangeStmt); ok {
		return r.X
	}
	if f, ok := n.(*ast.ForStmt); ok && f.Cond != nil {
		return f.Cond
	}
	return nil
}

// goesThroughElements tells of a loop that each turn is about an element of its own: it sets nothing that the next turn has, and looks at no
// neighbour.
func goesThroughElements(d *derivations, n ast.Node) bool {
	r, ok := n.(*ast.RangeStmt)
	if !ok {
		return false
	}
	if of := d.t.typeOf(r.X); of != nil && isBasic(of) {
		return false
	}
	apart := true
	ast.Inspect(r.Body, func(n ast.Node) bool {
		set := func(x ast.Expr) {
			if v := d.variable(innermost(x)); v != nil && (v.Pos() < r.Pos() || v.Pos() >= r.End()) {
				apart = false
			}
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				set(x)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.IndexExpr:
			if _, computed := n.Index.(*ast.BinaryExpr); computed {
				apart = false
			}
		}
		return apart
	})
	return apart
}

// readsOf tells whether a node reads a variable that is declared within one of the others.
func readsOf(d *derivations, n ast.Node, others []ast.Node) (found bool) {
	if n == nil {
		return true
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v := d.t.info.Uses[id]
			found = found || v != nil && slices.ContainsFunc(others, func(o ast.Node) bool { return o.Pos() <= v.Pos() && v.Pos() < o.End() && o.Pos() != n.Pos() })
		}
		return !found
	})
	return found
}

func samplesOf(ways []servedWay) (n int64) {
	for _, w := range ways {
		n += w.n
	}
	return n
}

// mostIn are the ways that are, at a depth, in the function that has most samples.
func mostIn(ways []servedWay, depth int) (most []servedWay) {
	return mostBy(ways, depth, func(f stack.Frame) stack.Frame { return stack.Frame{Func: f.Func} })
}

// heaviestLine is the line that most samples are on at a depth.
func heaviestLine(ways []servedWay, depth int) stack.Frame {
	return mostBy(ways, depth, func(f stack.Frame) stack.Frame { return f })[0].frames[depth]
}

func mostBy(ways []servedWay, depth int, key func(stack.Frame) stack.Frame) (most []servedWay) {
	by, order := map[stack.Frame][]servedWay{}, []stack.Frame(nil)
	for _, w := range ways {
		if depth >= len(w.frames) {
			continue
		}
		k := key(w.frames[depth])
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], w)
	}
	for _, k := range order {
		if samplesOf(by[k]) > samplesOf(most) {
			most = by[k]
		}
	}
	return most
}
