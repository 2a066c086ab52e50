package insight

import (
	"fmt"
	"go/ast"
	"go/types"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Titles of lists whose array keeps what was taken out of them.
const (
	tailTitle   = "Elements that were left out of a list stay in its array"
	maybeTailed = "Elements that were left out of a list may stay in its array"
	// keptNotCounted is the doubt where nothing shows how much is left out.
	keptNotCounted = "how much of it stays was not counted at %s: where most does, little is behind the end (a recording of the package counts it, but where -phases leaves out repeats)"
	tailIsListed   = "what is still in the list is in use, too: a profile does not tell how much that is (compare its length with what it was at most)"
)

// tailHeap is such a list, with what is in use of all that makes its elements.
type tailHeap struct {
	*cutList
	bytes, allocated int64
	maker            string
	// line is the one that has most of it, with those that lead to it.
	line   stack.Frame
	frames []stack.Frame
	most   int64
	// before and kept are how many elements its filter went through and kept, in the run that counts; 0 where that is not known.
	before, kept int64
	// collections is how many collections found that much of it in use, where no profile shows it but those at peaks.
	collections int
}

// mostTailed finds a list that gets shorter, where most of what is in use was allocated by what makes its elements, and
// most of what these have allocated has gone again: what comes in leaves it.
func mostTailed(r *Rule, in *Input, all *facts.Retention) *tailHeap {
	look := all.Most
	if look.AtExit || float64(look.Bytes) < r.param("least")*(1<<20) || float64(look.Samples) < r.param("samples") && look.Doubt > r.param("doubt") {
		return nil
	}
	d := newDerivations(in.code)
	blocks, _ := repetition.BlocksIn(in.Session)
	var best *tailHeap
	for _, cut := range cutLists(d) {
		x := &tailHeap{cutList: cut}
		x.add(in, all)
		if blocks != nil && x.filters() {
			x.before, x.kept, _ = x.countLeft(&countedTurns{d, blocks})
		}
		switch {
		case 2*x.kept > x.before: // little is behind the end
		case float64(x.bytes) < r.param("share")*float64(look.Bytes), x.allocated == 0, float64(x.bytes) > r.param("left")*float64(x.allocated), !x.staysInUse(in, all):
		case best == nil || cut.filters() && !best.filters():
			best = x
		}
	}
	return best
}

// add sums up what is in use of what makes the elements.
func (x *tailHeap) add(in *Input, all *facts.Retention) {
	isUser := in.Session.Scope().IsUser
	most := map[string]int64{}
	for frames, w := range facts.EachStack(all.Most.InUse) {
		i := x.makes(frames)
		if i < 0 {
			continue
		}
		x.bytes += w
		name := stack.Short(frames[i].Func)
		if most[name] += w; x.maker == "" || most[name] > most[x.maker] {
			x.maker = name
		}
		for j, f := range frames {
			if !isUser(f) {
				continue
			}
			if w > x.most {
				x.most, x.line, x.frames = w, f, frames[j:]
			}
			break
		}
	}
	for _, look := range append([]*facts.Look{all.Most}, all.Looks...) { // also what came after the peak
		if look.AtExit || look.Entry.Run == all.Most.Entry.Run {
			x.allocated = max(x.allocated, x.allocatedBy(look))
		}
	}
}

// allocatedBy is what those that make elements had allocated at a moment.
func (x *cutList) allocatedBy(look *facts.Look) (n int64) {
	for frames, w := range facts.EachStackAllocated(look.InUse) {
		if x.makes(frames) >= 0 {
			n += w
		}
	}
	return n
}

// makes is the frame of a stack, the outermost one, in a function that returns elements of the list, or at a line that makes one; -1
// where there is none.
func (x *cutList) makes(frames []stack.Frame) int {
	for i := len(frames) - 1; i >= 0; i-- {
		made, known := x.makers[frames[i]]
		if !known {
			fn, ok := x.d.at(frames[i])
			made = ok && (x.returns(fn.decl) || x.literalOn(fn.decl, frames[i].Line))
			x.makers[frames[i]] = made
		}
		if made {
			return i
		}
	}
	return -1
}

// returns tells of a function that it returns elements, or a list, map or channel of them.
func (x *cutList) returns(decl *ast.FuncDecl) bool {
	fn, ok := x.d.t.info.Defs[decl.Name].(*types.Func)
	if !ok {
		return false
	}
	results := fn.Type().(*types.Signature).Results()
	for i := range results.Len() {
		if leadsTo(results.At(i).Type(), x.of) {
			return true
		}
	}
	return false
}

// literalOn tells of a line of a function that an element is made there.
func (x *cutList) literalOn(decl *ast.FuncDecl, line int) (found bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if n == nil || found || !coversLine(x.d, n, line) {
			return false
		}
		switch n := n.(type) {
		case *ast.CompositeLit:
			t := x.d.t.typeOf(n)
			found = t != nil && sourceType(t) == x.of
		case *ast.CallExpr:
			t := x.d.t.typeOf(n)
			found = isNamed(n.Fun, "new") && t != nil && sourceType(t) == x.of
		}
		return true
	})
	return found
}

// staysInUse tells that as much is in use in another profile that is none of a peak, or in one that followed a collection, or after one
// collection after the other: it is not that of calls in progress at one moment.
func (x *tailHeap) staysInUse(in *Input, all *facts.Retention) bool {
	if !all.Most.Peak {
		return true
	}
	for _, look := range all.Looks {
		if look.Peak || look.Entry.Partial {
			continue
		}
		other := &tailHeap{cutList: x.cutList}
		other.add(in, &facts.Retention{Most: look})
		if 2*other.bytes >= x.bytes {
			return true
		}
	}
	x.collections = neverFell(in, float64(x.bytes)/float64(max(1, all.Most.Bytes)), x.bytes)
	return x.collections >= enoughCollections
}

// enoughCollections is how many collections have to find that most of it is still there. Chosen: by chance, as between two bursts, few do.
const enoughCollections = 10

// neverFell is how many collections, from the first that found half of the most, found so much live that half of a share of all that
// had been live before was among it; 0 where one of them did not, in any round that had half of what is asked about live.
func neverFell(in *Input, share float64, bytes int64) (n int) {
	for i := range in.Facts.Rounds {
		if in.Facts.Rounds[i].GC == nil {
			continue
		}
		rows, last := in.Facts.Rounds[i].GC.Cycles, 0.0
		for _, row := range rows {
			last = max(last, row.HeapLiveMB)
		}
		if 2*last*(1<<20) < float64(bytes) {
			continue
		}
		found, most := 0, 0.0
		for _, row := range rows {
			if most = max(most, row.HeapLiveMB); 2*most < last {
				continue
			}
			if found++; row.HeapLiveMB < (1-share/2)*most {
				return 0
			}
		}
		n = max(n, found)
	}
	return n
}

// tailOr is what the rule says of a list that gets shorter, where most of the live heap may be what was left out of it; another
// answer where there is none.
func tailOr(r *Rule, in *Input, all *facts.Retention, otherwise Finding) Finding {
	if otherwise.State == Found && otherwise.Title != r.Title {
		return otherwise
	}
	x := mostTailed(r, in, all)
	if x == nil {
		return otherwise
	}
	f := r.answer(Found, "")
	share := float64(x.bytes) / float64(max(1, all.Most.Bytes))
	f.Score, f.Impact, f.Severity = score(share*float64(all.Most.Bytes), 64<<20, 1<<30), exactly(share, "share of what is in use"), Info
	x.tell(r, in, all.Most, &f)
	if otherwise.State == Found && f.Title != tailTitle && (x.before > 0 || !x.filters() || !x.lives || x.elsewhere != nil) {
		return otherwise // the line says more
	}
	if f.Severity.AtLeast(Warning) {
		f.felt = share * min(1, float64(x.bytes)/(r.param("fills")*(1<<20)))
	}
	return f
}

// tell makes a finding say what the array keeps, and how to let go of it.
func (x *tailHeap) tell(r *Rule, in *Input, look *facts.Look, f *Finding) {
	cut := x.d.placeOf(x.cut)
	f.Title = maybeTailed
	how := fmt.Sprintf("%s gets shorter at %s", x.text, cut.text())
	if x.filters() {
		how = fmt.Sprintf("%s is filtered in place (%s) and gets shorter at %s", x.text, x.d.placeOf(x.from).text(), cut.text())
	}
	f.Summary = fmt.Sprintf("of %s in use, %s were allocated by %s, which makes the elements of %s (%s); according to the source %s, and nothing there clears what is behind its new end: the array still refers to what was left out, until something else is put in its place",
		unit.BytesOf(float64(look.Bytes)), unit.Percent(float64(x.bytes)/float64(max(1, look.Bytes))), x.maker, x.text, x.of.Obj().Name(), how)
	if x.before > 0 {
		f.Summary += fmt.Sprintf("; in the run that counts, %s of the %s that it went through stayed", unit.Count(x.kept), unit.Plural(x.before, "element"))
	}
	if x.collections > 0 {
		f.Summary += fmt.Sprintf("; %d collections one after the other found at least half of that still live", x.collections)
	}
	f.Evidence = []Evidence{in.code.shownAt(cut.file, cut.line, "%s gets shorter here, and its array keeps what is behind the end", x.text)}
	if x.filters() && x.d.placeOf(x.from).line != cut.line {
		from := x.d.placeOf(x.from)
		f.Evidence = append(f.Evidence, in.code.shownAt(from.file, from.line, "what stays is moved to the front of the same array"))
	}
	f.Evidence = append(f.Evidence, in.fileAt(look.Entry, x.line, x.frames, "%s of it in use were allocated here; of all that makes the elements, %s of %s allocated are in use", unit.BytesOf(float64(x.most)), unit.BytesOf(float64(x.bytes)), unit.BytesOf(float64(x.allocated))))
	f.Advice = x.advice(f)
	f.Verify = "Record again under the same load: what is in use after a collection should be lower."
	f.Doubts = append(f.Doubts, tailIsListed)
	switch {
	case x.elsewhere != nil:
		f.Doubts = append(f.Doubts, fmt.Sprintf("the source clears it, or gives it a new array, at %s: if that comes soon enough, nothing is kept", x.d.placeOf(x.elsewhere).text()))
	case !x.lives:
		f.Doubts = append(f.Doubts, "the source does not show that what has the list lives longer than the call that makes it")
	case !x.filters():
		f.Doubts = append(f.Doubts, "where it becomes as long again at once, what is new takes the place of the old, and little is kept")
	case x.before == 0:
		f.Doubts = append(f.Doubts, fmt.Sprintf(keptNotCounted, x.d.placeOf(x.from).text()))
	case float64(x.bytes) >= r.param("tail")*(1<<20):
		f.Title, f.Severity, f.Score = tailTitle, Warning, max(f.Score, 50)
	}
}

// advice says how to let go of what is behind the end: by clearing it, or, where others have the array and would see that, by another array for what stays.
func (x *tailHeap) advice(f *Finding) string {
	cut := x.d.placeOf(x.cut)
	own, others := x.shares()
	if own == nil && others == nil {
		says := fmt.Sprintf("Clear what is left behind the end, before %s: clear(%s).", cut.text(), x.rest)
		if x.filters() {
			says += " Or use slices.DeleteFunc, which does that by itself (since Go 1.22). Where the list is usually much shorter than it once was, a new slice for what stays lets go of the array as well."
		}
		return says
	}
	why := ""
	switch {
	case own != nil && own.use != nil:
		why = fmt.Sprintf("%s (%s) has the same array, and is used after that, at %s", own.v.Name(), x.d.placeOf(own.at).text(), x.d.placeOf(own.use).text())
		f.Doubts = append(f.Doubts, fmt.Sprintf("with a new slice what stays is no longer moved to the front of %s: what looks for it there has to look into the new one", own.v.Name()))
	case own != nil:
		why = fmt.Sprintf("%s hands on %s", x.d.placeOf(own.at).text(), own.text())
	default:
		why = fmt.Sprintf("%s hands on %s, and whoever has that may read the places behind the end", x.d.placeOf(others.at).text(), others.text())
	}
	how := fmt.Sprintf("Copy what stays to a new slice at %s (slices.Clone)", cut.text())
	if x.filters() {
		how = fmt.Sprintf("Gather what stays in a new slice, and not at the front of the same array (%s)", x.d.placeOf(x.from).text())
	}
	return fmt.Sprintf("Do not clear what is behind the end, and do not use slices.DeleteFunc, which clears it: %s. %s: then the array goes with the last one who has it.", why, how)
}
