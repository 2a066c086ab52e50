package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/value/stack"
)

// Calls that change something at the peer: one may need the effect of those before it, which no
// variable of the program shows.

// writeNames are names of functions that change something by what they call.
var writeNames = lazily(`^(?:(?i:post|put|patch|delete|remove|insert|update|upsert|replace|create|save|publish|enqueue|commit|bulkwrite)|(?:Post|post|Put|put|Patch|patch|Delete|delete|Remove|remove|Insert|insert|Update|update|Upsert|upsert|Replace|replace|Create|create|Save|save|Publish|publish|Enqueue|enqueue|Commit|commit)[A-Z_0-9].*)$`)

// executes are those of a library alone: in the program's own code the name may be that of a query.
var executes = lazily(`^(Exec|ExecContext|Set|HSet|LPush|RPush|SAdd|ZAdd|XAdd|Incr|Produce|SendMail)$`)

// writeMethods are the methods of HTTP that change something, and what net/http calls them.
var writeMethods = []string{"POST", "PUT", "PATCH", "DELETE", "http.MethodPost", "http.MethodPut", "http.MethodPatch", "http.MethodDelete"}

// changesBy says by what a call, with the frames of its stack and its way through the code, the nearest
// first, changes something at the peer: "it sends a POST", "by its name main.insert does"; empty where
// nothing says so. The last frame of the way is the line that is looked at; what is called there is
// looked at as a whole.
func changesBy(c *code, frames, path []stack.Frame) string {
	for _, f := range frames[:max(0, slices.Index(frames, path[0]))] {
		name := ownName(f.Func)
		switch {
		case strings.HasPrefix(f.Func, "net/http.") && (name == "Post" || name == "PostForm"):
			return "it sends a POST"
		case strings.HasPrefix(f.Func, "database/sql.") && (name == "Exec" || name == "ExecContext"):
			return "it executes a statement (Exec)"
		}
	}
	if inner := innerOf(frames, path); c.session.Scope().Origin(inner) == stack.Dependency && (writeNames.MatchString(ownName(inner)) || executes.MatchString(ownName(inner))) {
		return "going by its name, " + stack.Short(inner) + " changes something"
	}
	for i, f := range path {
		calls := c.lineCalls(f)
		if i == len(path)-1 {
			calls = append(calls, requestsInLoop(c, f)...)
		}
		if fn := c.scopeAt(f); fn != nil && i < len(path)-1 {
			ast.Inspect(fn.body, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(call.Fun), "http.NewRequest") {
					calls = append(calls, call)
				}
				return true
			})
		}
		method := httpMethod(calls)
		if method == "" {
			method = helpersMethod(c, f, i == len(path)-1, frames)
		}
		if method != "" {
			return "it sends a " + method
		}
		if i < len(path)-1 && writeNames.MatchString(ownName(f.Func)) {
			return "going by its name, " + stack.Short(f.Func) + " changes something"
		}
	}
	return ""
}

// httpMethod is the method of HTTP that calls are given, where it changes something and none of them is
// given another one.
func httpMethod(calls []*ast.CallExpr) (method string) {
	for _, call := range calls {
		for i, x := range call.Args {
			text := types.ExprString(x)
			if l, ok := x.(*ast.BasicLit); ok {
				text, _ = strconv.Unquote(l.Value)
			}
			if slices.Contains(writeMethods, text) {
				method = strings.ToUpper(strings.TrimPrefix(text, "http.Method"))
				continue
			}
			request := strings.HasPrefix(types.ExprString(call.Fun), "http.NewRequest")
			if first := request && i == len(call.Args)-3; first && text != "method" {
				return "" // reads, or what the caller says
			}
		}
	}
	return method
}

// requestsInLoop are the calls by which the loop around a line makes requests, behind or before the line.
func requestsInLoop(c *code, f stack.Frame) (calls []*ast.CallExpr) {
	loops := loopsAround(c, f)
	if len(loops) == 0 {
		return nil
	}
	ast.Inspect(loops[len(loops)-1].body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(call.Fun), "http.NewRequest") {
			calls = append(calls, call)
		}
		return true
	})
	return calls
}

// helpersMethod is the method of HTTP of the requests which functions make that the function of a frame calls, in the loop around its line where
// that is meant; empty where they are given another one as well, or it changes nothing.
func helpersMethod(c *code, f stack.Frame, inLoop bool, frames []stack.Frame) (method string) {
	d := derivationsOf(c)
	in, ok := d.at(f)
	if !ok {
		return ""
	}
	var around ast.Node = in.body()
	if loop := loopAroundLine(d, in.body(), f.Line); inLoop && loop != nil {
		around = loop
	}
	reads := false
	ast.Inspect(around, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fn := d.t.callee(call)
		if fn == nil || d.t.decls[fn] == nil || d.t.decls[fn].Body == nil || slices.ContainsFunc(frames, func(f stack.Frame) bool { return ownName(f.Func) == fn.Name() }) {
			return true // one of the way itself is looked at where it is
		}
		var made []*ast.CallExpr
		ast.Inspect(d.t.decls[fn].Body, func(n ast.Node) bool {
			if request, ok := n.(*ast.CallExpr); ok && strings.HasPrefix(types.ExprString(request.Fun), "http.NewRequest") {
				made = append(made, request)
			}
			return true
		})
		if len(made) == 0 {
			return true
		}
		own := httpMethod(made)
		if own == "" {
			own = httpMethod([]*ast.CallExpr{call})
		}
		method, reads = own, reads || own == ""
		return true
	})
	if reads {
		return ""
	}
	return method
}

// How the transfer of bodies is told from waits for answers. Chosen: mostlyTransfer is the part of the time of calls that a peer has to read what is
// sent, manyPieces how many waits for an answer are those for the pieces of a large one.
const (
	mostlyTransfer = 0.75
	manyPieces     = 16
)

// sends is the part of the time of calls in which they wait for the peer to read what they send.
func (o *outward) sends() float64 {
	var sent, all time.Duration
	for i := range o.group.Calls {
		if call := &o.group.Calls[i]; slices.Equal(call.Path, o.path) {
			all += call.Time
			if call.Kind.Key() == "network_write" {
				sent += call.Time
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(sent) / float64(all)
}

// pieceWaits is how often a call waits for a part of its answer, at the line of the calls.
func (o *outward) pieceWaits() float64 {
	var waits, calls int64
	for _, row := range o.rows() {
		if row.Kind.Key() == "network" {
			waits += row.Count
		}
	}
	for i := range o.group.Calls {
		if call := &o.group.Calls[i]; call.Path[0] == o.path[0] && call.Kind.Key() == "network" {
			calls += call.Count
		}
	}
	return float64(waits) / float64(max(1, calls))
}

// tellTransfer makes a finding about many calls of a loop say that nearly all of their time is the transfer of their bodies.
func tellTransfer(c *code, o *outward, how string, f *Finding) {
	f.Title, f.Severity = "Large bodies are sent to a peer one after another", Info
	f.Advice = "Nearly all of the time of each call is the transfer of its body, which the peer reads more slowly than the program writes. Send less: only what the peer does not have yet, or compressed."
	if connectionOfCalls(c, o.path) == "" {
		f.Advice += " Several at once (errgroup with SetLimit) gain something only if neither the bandwidth nor the peer is the limit: try it with two."
	}
	f.Doubts = append(f.Doubts, "if the bandwidth or the peer is the limit, several calls at once gain nothing")
	if how != "" {
		f.Doubts = append(f.Doubts, fmt.Sprintf("each call may change something at the peer (%s): a later one may depend on the effect of an earlier one", how))
	}
}

// tellWrites makes a finding about many calls of a loop say that they change something, and that their
// order may matter.
func tellWrites(c *code, how string, path []stack.Frame, f *Finding) {
	f.Advice = "Send all at once: a bulk or batch call, one statement with many rows (VALUES, COPY), or a pipeline; these keep the order. Make the calls concurrently only if none of them depends on what one before it has changed."
	doubt := fmt.Sprintf("each call may change something at the peer (%s): a later one may depend on the effect of an earlier one", how)
	for l, at := range loopsOn(c, path) {
		if line, ends := l.endsOnFailure(at.Line); ends {
			doubt += fmt.Sprintf("; and the loop ends at the first error (line %d), so that nothing is sent behind a call that has failed", line)
			f.Evidence = append(f.Evidence, c.shownAt(at.File, line, "the source ends the loop when a call has failed"))
		}
		break
	}
	f.Doubts = append(f.Doubts, doubt)
}

// endsOnFailure tells whether the loop is left when a call on a line has failed, and where.
func (l loop) endsOnFailure(line int) (at int, ends bool) {
	w := l.answers(line)
	for _, x := range exits(l.body.List) {
		if failing(x.cond, x.on, w) {
			at, _ = l.source.lines(x.cond)
			return at, true
		}
	}
	return 0, false
}
