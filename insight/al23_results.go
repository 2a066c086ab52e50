package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

var al23 = &Rule{
	ID: "AL23", Title: "Avoidable allocation by a library call (strings.Split, URL.Query)",
	About: "strings.Split makes a slice for each call, r.URL.Query parses and fills a map, strconv.Itoa makes a string. " +
		"The source shows what becomes of the result: where it is only ranged over, indexed at fixed positions, counted, compared with nil, or copied into a buffer, the standard library has a function that gives as much and allocates nothing.",
	Asks: []facts.Question{facts.Allocations},
	Params: []Param{
		{"share", 0.05, "share of allocated bytes", "chosen: as for other buffers, AL13; the lower bound of the interval counts, of all lines together"},
		{"warn", 0.20, "share of allocated bytes", "chosen: as for AL13"},
		g0,
	},
	Check: checkResults,
}

// resultRows are the functions, by their set in the table of signatures, with what tells from the source that
// less would do. A row says nothing where the source does not show it.
var resultRows = []struct {
	set  string
	tell func(r *resultAt) *spared
}{
	{"result.split", spareSplit},
	{"result.query", spareQuery},
	{"result.encode", spareEncode},
	{"result.hash", spareHash},
	{"result.collect", spareCollect},
	{"result.match", spareMatch},
	{"result.repeat", spareRepeat},
	{"result.address", spareAddress},
	{"result.header", spareHeader},
}

// resultAt is a call of such a function.
type resultAt struct {
	*derivations
	decl   *ast.FuncDecl
	call   *ast.CallExpr
	around []ast.Node // the nodes around the call in the function
	name   string     // of the function: "Split"
	pkg    string     // how the source has its package: "strings"
	minor  int        // the minor release of Go; 0 where it is not known
}

// has tells whether the toolchain of the recording has what Go 1.minor came with, as far as it is known.
func (r *resultAt) has(minor int) bool { return r.minor == 0 || r.minor >= minor }

// spared is what avoids a result.
type spared struct {
	uses   string // what becomes of the result: "is only ranged over"
	advice string
	// works tells that the work of the function is done all the same: what is saved is the memory.
	works  bool
	doubts []string
}

// checkResults adds up the lines of whose results the source shows that they can be avoided.
func checkResults(r *Rule, in *Input) []Finding {
	found := map[*hitLine]*spared{}
	l := &look{of: facts.Allocations, sample: "alloc_space", limit: "share", warn: "warn", set: "result", skip: []string{"startup", "logging"}, direct: true,
		through: []string{"net/http", "net/textproto", "net/url", "slices", "maps", "strings", "bytes"}, what: "came from results of library functions that less would do for",
		tell: func(h *hit, f *Finding) { tellResults(h, found, f) }}
	h, short := l.measure(r, in)
	if h == nil {
		return []Finding{short}
	}
	all := h.weight
	scan := &resultScan{d: newDerivations(in.code)}
	if b, err := facts.BuildOf(in.Facts); err == nil {
		scan.minor = b.Minor()
	}
	unread := int64(0)
	kept := h.lines[:0]
	h.weight, h.samples = 0, 0
	for _, line := range h.lines {
		switch s := scan.at(line); {
		case s != nil:
			found[line] = s
			kept = append(kept, line)
			h.weight += line.Weight
			h.samples += line.Samples
		case line.Caller.Func != "" && line.via == "" && in.code.parse(line.Caller.File) == nil:
			unread += line.Weight
		}
	}
	h.lines = kept
	if f, ok := h.finding(r); ok {
		return []Finding{f}
	}
	if h.interval(h.weight+unread).Low >= r.param("share") && unread > 0 {
		return []Finding{r.answer(TooLittle, "cannot tell what becomes of the results of library functions that are %s of the allocated bytes: the recording has no source of who calls them; record where the source is",
			unit.Percent(h.part(unread)))}
	}
	switch {
	case all == 0:
		return []Finding{r.answer(Fine, nothing+"%s", h.entry.Path)}
	case h.weight == 0:
		return []Finding{r.answer(Fine, "library functions such as strings.Split allocate %s of the bytes, and the source does not show that less would do", unit.Percent(h.part(all)))}
	}
	return []Finding{r.answer(Fine, "%s of the allocated bytes %s", unit.Percent(h.part(h.weight)), h.what)}
}

// tellResults says of the heaviest line what to do, and of each what becomes of its result.
func tellResults(h *hit, found map[*hitLine]*spared, f *Finding) {
	top := found[h.lines[0]]
	f.Summary += ", whose result " + top.uses
	f.Advice = top.advice
	f.Doubts = append(f.Doubts, top.doubts...)
	for i, line := range h.lines {
		f.costs[i].allocating = found[line].works
	}
	others := map[string]bool{top.advice: true}
	for i := range f.Evidence {
		s := found[h.lines[i]]
		f.Evidence[i].Text += ", whose result " + s.uses
		if i > 0 && !others[s.advice] && len(others) < 3 {
			others[s.advice] = true
			at := fileLine(f.Evidence[i].File, f.Evidence[i].Line)
			f.Advice += fmt.Sprintf(" At %s: %s", at, s.advice)
			for _, doubt := range s.doubts {
				if !slices.Contains(f.Doubts, doubt) {
					f.Doubts = append(f.Doubts, at+": "+doubt)
				}
			}
		}
	}
	f.Verify = "Record again under the same load: these lines should be gone from loupe pprof -top -sample_index alloc_space, and allocations per request should fall by as much."
}

// resultScan looks at calls in the sources.
type resultScan struct {
	d     *derivations
	minor int
}

// at is what avoids the results of a line; nil where the source does not show it for each call of
// the function on the line.
func (s *resultScan) at(line *hitLine) *spared {
	if line.Caller.Func == "" || line.via != "" {
		return nil
	}
	row := slices.IndexFunc(resultRows, func(r struct {
		set  string
		tell func(r *resultAt) *spared
	}) bool {
		return inSet(r.set, line.Callee)
	})
	in, ok := s.d.at(line.Caller)
	if row < 0 || !ok {
		return nil
	}
	callee, _, _ := strings.Cut(line.Callee, "[")
	names := []string{lastName(callee)}
	if resultRows[row].set == "result.header" {
		names = []string{"Get", "Set", "Add", "Del", "Values"}
	}
	var first *spared
	for _, name := range names {
		for _, call := range s.d.callsOn(in, line.Caller, name) {
			r := &resultAt{derivations: s.d, decl: in.decl, call: call, name: name, minor: s.minor}
			if sel, ok := uninstantiated(call).(*ast.SelectorExpr); ok {
				r.pkg = s.d.t.fromPackage(sel)
			}
			eachNode(in.decl.Body, func(n ast.Node, around []ast.Node) {
				if n == call {
					r.around = slices.Clone(around)
				}
			})
			one := resultRows[row].tell(r)
			if one == nil {
				return nil
			}
			first = cmp.Or(first, one)
		}
	}
	return first
}

// brief is an expression as an advice names it; other where it is long.
func brief(x ast.Expr, other string) string {
	if text := types.ExprString(x); len(text) <= 40 && !strings.Contains(text, "\n") {
		return text
	}
	return other
}
