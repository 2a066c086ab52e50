package insight

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"

	"loupe/value/stack"
)

// What is read as a whole and only gone through once, from its beginning to its end: the source shows of its variable, and
// of what that is passed to, that a part at a time would do.

// wayThrough is how something is gone through.
type wayThrough int

const (
	inParts  wayThrough = iota // slices of it, one after the other
	inLines                    // what a separator divides
	inStream                   // a reader of it
	inHash                     // it is hashed
	inWrite                    // it is written to something else
)

// wholeReaders read all of a file or of a reader.
var wholeReaders = regexp.MustCompile(`^(io|ioutil)\.ReadAll$|^(os|ioutil)\.ReadFile$`)

// readWhole is what follows what a line reads.
type readWhole struct {
	k       *keeper
	seen    map[string]bool
	ways    map[wayThrough]Evidence
	repeats int  // how many uses go through all of it
	length  bool // its length is asked for
}

// goneThroughOnce finds how what a line reads as a whole is gone through, and where. frames are those of the user's code
// from the line outward. It is false where the source does not show that nothing else is done with it, or that parts of
// it are kept.
func goneThroughOnce(c *code, frames []stack.Frame) (r *readWhole, ok bool) {
	if len(frames) == 0 || len(c.storesOf(frames)) > 0 {
		return nil, false
	}
	r = &readWhole{k: &keeper{c: c, funcs: c.functions(), text: true, seen: map[*ast.FuncDecl]taint{}}, seen: map[string]bool{}, ways: map[wayThrough]Evidence{}}
	reads := func(call *ast.CallExpr) bool { return wholeReaders.MatchString(types.ExprString(call.Fun)) }
	for _, f := range frames[:min(len(frames), maxKeepUp)] {
		fn := c.function(f)
		if fn == nil {
			return nil, false
		}
		name, returned := r.madeOn(f, reads)
		if name != "" {
			var fine bool
			if returned, fine = r.variable(declaration{fn, f.File}, name); !fine || !returned && keepsParts(c, f, fn) {
				return nil, false
			}
		}
		switch {
		case !returned:
			return r, name != "" && r.fits()
		case len(r.ways) > 0:
			return nil, false
		}
		reads = func(call *ast.CallExpr) bool { return calledName(call) == fn.Name.Name }
	}
	return nil, false
}

// keepsParts tells whether a function returns parts of what a frame's line reads, stores them, or gathers them in a list.
func keepsParts(c *code, f stack.Frame, fn *ast.FuncDecl) bool {
	k := &keeper{c: c, funcs: c.functions(), text: true, seen: map[*ast.FuncDecl]taint{}, back: map[string]*ast.FuncLit{}, fields: map[string]bool{}, channels: map[string]taint{}, file: f.File, fn: fn}
	vars := map[string]taint{}
	if k.begin(f, fn, vars) || k.body(declaration{fn, f.File}, vars) > clean || len(k.stores) > 0 {
		return true
	}
	return hasCall(fn.Body, func(call *ast.CallExpr) bool {
		return isNamed(call.Fun, "append") && !call.Ellipsis.IsValid() && k.of(call, vars) > clean
	})
}

// fits tells whether one pass does all: one way, or a sum beside what is written.
func (r *readWhole) fits() bool {
	_, hash := r.ways[inHash]
	_, write := r.ways[inWrite]
	return r.repeats == 1 && len(r.ways) == 1 || r.repeats == 2 && len(r.ways) == 2 && hash && write
}

// madeOn is the variable that a call on a frame's line is assigned to, or that it is returned as it is.
func (r *readWhole) madeOn(f stack.Frame, made func(*ast.CallExpr) bool) (name string, returned bool) {
	r.k.c.parse(f.File).onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, ok := n.Rhs[0].(*ast.CallExpr)
			if id, named := n.Lhs[0].(*ast.Ident); ok && named && len(n.Rhs) == 1 && made(call) {
				name = id.Name
			}
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				call, ok := n.Results[0].(*ast.CallExpr)
				returned = returned || ok && made(call)
			}
		}
	})
	if name == "_" {
		return "", false
	}
	return name, returned
}

// variable follows the uses of a variable: returned tells that it is a first result and fine that all others go through it.
func (r *readWhole) variable(d declaration, name string) (returned, fine bool) {
	key := d.file + " " + d.Name.Name + " " + methodOf(d.FuncDecl) + " " + name
	if r.seen[key] || len(r.seen) > 12 {
		return false, false
	}
	r.seen[key] = true
	scope, fine := blockOfName(d, name)
	parts, advanced := 0, false
	eachNode(scope, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !fine || !ok || id.Name != name || len(around) == 0 {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.SelectorExpr:
			if p.Sel == id {
				return
			}
		case *ast.KeyValueExpr:
			if p.Key == ast.Expr(id) {
				return
			}
		case *ast.ReturnStmt:
			if returned = p.Results[0] == ast.Expr(id); returned {
				return
			}
		}
		if fine = !handsOff(around); !fine {
			return
		}
		switch r.use(d, id, around) {
		case useFails:
			fine = false
		case usePart:
			parts++
			advanced = advanced || cutsItself(around, name)
		}
	})
	if fine && parts > 0 {
		r.repeats++
		// Of one part after the other, each begins behind the one before.
		fine = advanced || r.ascends(scope, name)
	}
	return returned, fine
}

// blockOfName is the block in which a function declares a variable, or its body if that is a parameter. It is false where it
// declares several of that name.
func blockOfName(d declaration, name string) (scope *ast.BlockStmt, ok bool) {
	scope, found := d.Body, 0
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		a, is := n.(*ast.AssignStmt)
		if !is || a.Tok != token.DEFINE || !slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, name) }) {
			return
		}
		found++
		for _, n := range around {
			if b, ok := n.(*ast.BlockStmt); ok {
				scope = b
			}
		}
	})
	return scope, found == 0 || found == 1 && !slices.Contains(parameters(d.Type), name)
}

// handsOff tells of nodes around a use that another goroutine or a function literal has it.
func handsOff(around []ast.Node) bool {
	return slices.ContainsFunc(around, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return true
		}
		return false
	})
}

// wholeUse is what is done with it at one place.
type wholeUse int

const (
	useFails  wholeUse = iota // something else
	useAsks                   // its length
	usePart                   // a part is taken in a loop, or looked for
	usePasses                 // all of it is gone through
)

// use tells what stands around an expression that is all of it.
func (r *readWhole) use(d declaration, e ast.Expr, around []ast.Node) wholeUse {
	switch p := around[len(around)-1].(type) {
	case *ast.ParenExpr:
		return r.use(d, p, around[:len(around)-1])
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, e) {
			return r.set(p, e)
		}
		return r.named(d, p, e, around)
	case *ast.BinaryExpr:
		if isNamed(p.X, "nil") || isNamed(p.Y, "nil") {
			return useAsks
		}
	case *ast.RangeStmt:
		if p.X == e && !inTurns(around) {
			return r.pass(d, inStream, p.X)
		}
	case *ast.SliceExpr:
		if p.X == e && !p.Slice3 && inTurns(around) {
			r.note(d, inParts, p)
			return usePart
		}
	case *ast.CallExpr:
		return r.call(d, p, e, around[:len(around)-1])
	}
	return useFails
}

// set is an assignment to the variable: by what reads it, or by its own rest.
func (r *readWhole) set(a *ast.AssignStmt, e ast.Expr) wholeUse {
	rhs := a.Rhs[min(slices.Index(a.Lhs, e), len(a.Rhs)-1)]
	switch x := rhs.(type) {
	case *ast.CallExpr:
		return useAsks // which is followed by itself, or the one that reads
	case *ast.SliceExpr:
		if types.ExprString(x.X) == types.ExprString(e) && x.Low != nil && x.High == nil {
			return useAsks
		}
	}
	return useFails
}

// named is an assignment of it to another variable, or of what a call has made of it.
func (r *readWhole) named(d declaration, a *ast.AssignStmt, e ast.Expr, around []ast.Node) wholeUse {
	i := slices.Index(a.Rhs, e)
	if i < 0 || len(a.Lhs) != len(a.Rhs) || a.Tok != token.DEFINE {
		return useFails
	}
	id, ok := a.Lhs[i].(*ast.Ident)
	if !ok {
		return useFails
	}
	if returned, fine := r.variable(d, id.Name); returned || !fine {
		return useFails
	}
	return useAsks // what is done with that is counted there
}

// cutsItself tells of a use that it is the rest that its variable is set to: data = data[n:].
func cutsItself(around []ast.Node, name string) bool {
	if len(around) < 2 {
		return false
	}
	a, ok := around[len(around)-2].(*ast.AssignStmt)
	cut, is := around[len(around)-1].(*ast.SliceExpr)
	return ok && is && a.Tok == token.ASSIGN && len(a.Lhs) == len(a.Rhs) && cut.Low != nil && cut.High == nil && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return isNamed(x, name) })
}

// ascends tells whether the parts of a variable begin at a counter that its loop only raises.
func (r *readWhole) ascends(scope ast.Node, name string) bool {
	fine, found := true, false
	eachNode(scope, func(n ast.Node, around []ast.Node) {
		cut, ok := n.(*ast.SliceExpr)
		if !ok || !isNamed(cut.X, name) {
			return
		}
		found = true
		by := ""
		for _, n := range around {
			f, ok := n.(*ast.ForStmt)
			if !ok {
				continue
			}
			if a, ok := f.Post.(*ast.AssignStmt); ok && a.Tok == token.ADD_ASSIGN {
				by = types.ExprString(a.Lhs[0])
			}
		}
		fine = fine && by != "" && cut.Low != nil && types.ExprString(cut.Low) == by
	})
	return found && fine
}

func (r *readWhole) note(d declaration, way wayThrough, e ast.Expr) {
	if _, ok := r.ways[way]; !ok {
		r.ways[way] = r.k.c.shownAt(d.file, r.k.lineOf(d.file, e.Pos()), "%s", wayTexts[way])
	}
}

// pass notes a use that goes through all of it.
func (r *readWhole) pass(d declaration, way wayThrough, e ast.Expr) wholeUse {
	r.repeats++
	r.note(d, way, e)
	return usePasses
}

var (
	// readsOn make something of a reader that reads as it goes.
	readsOn  = regexp.MustCompile(`^(bufio\.New(Scanner|Reader|ReaderSize)|csv\.NewReader|xml\.NewDecoder|(gzip|zlib|zstd|flate|bzip2|lz4|xz|s2|snappy|tar)\.NewReader|io\.(Copy|CopyBuffer))$`)
	sumsUp   = regexp.MustCompile(`^(md5\.Sum|sha1\.Sum|sha256\.Sum(224|256)|sha512\.Sum(384|512)\w*|crc32\.ChecksumIEEE|xxhash\.Sum64|blake2b\.Sum\d+|blake3\.Sum\d+)$`)
	seeks    = regexp.MustCompile(`^(bytes|strings)\.(Index\w*|HasPrefix|Contains\w*)$`)
	divides  = regexp.MustCompile(`^(bytes|strings)\.(Split|SplitSeq|SplitAfter|SplitAfterSeq|Lines)$`)
	asWriter = regexp.MustCompile(`(?i)(w|writer|file|f|out|dst|dest|rw|conn|pw)$`)
	asHash   = regexp.MustCompile(`(?i)(hash|hasher|sum|digest|^h)$`)
)

// call tells what a call does with it.
func (r *readWhole) call(d declaration, call *ast.CallExpr, e ast.Expr, around []ast.Node) wholeUse {
	text, arg := types.ExprString(call.Fun), slices.Index(call.Args, e)
	again := inTurns(around)
	switch {
	case arg < 0:
		return useFails
	case text == "len":
		r.length = r.length || !inTurns(around) && !inCondition(around)
		return useAsks
	case text == "string" || text == "[]byte":
		return r.use(d, call, around)
	case seeks.MatchString(text):
		if arg == 0 && again {
			return usePart
		}
		return useFails
	case text == "slices.Chunk":
		if p, ok := around[len(around)-1].(*ast.RangeStmt); ok && p.X == ast.Expr(call) && !inTurns(around) {
			return r.pass(d, inParts, call)
		}
		return useFails
	case divides.MatchString(text):
		return r.divided(d, call, around)
	case again:
		return useFails // more than once
	case sumsUp.MatchString(text):
		return r.pass(d, inHash, call)
	case text == "os.WriteFile" || text == "ioutil.WriteFile" || text == "io.WriteString" && arg == 1:
		return r.pass(d, inWrite, call)
	case slices.Contains([]string{"bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader"}, text):
		if outer, ok := around[len(around)-1].(*ast.CallExpr); ok && readsOn.MatchString(types.ExprString(outer.Fun)) {
			return r.pass(d, inStream, call)
		}
		return useFails
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Write" || sel.Sel.Name == "WriteString") && len(call.Args) == 1 {
		switch on := lastName(types.ExprString(sel.X)); {
		case asHash.MatchString(on):
			return r.pass(d, inHash, call)
		case asWriter.MatchString(on):
			return r.pass(d, inWrite, call)
		}
		return useFails
	}
	r.k.fn, r.k.file = d.FuncDecl, d.file
	all := r.k.fitting(call, arg)
	if len(all) != 1 || call.Ellipsis.IsValid() {
		return useFails
	}
	names := parameters(all[0].Type)
	if arg >= len(names) {
		return useFails
	}
	if returned, fine := r.variable(all[0], names[arg]); returned || !fine {
		return useFails
	}
	return useAsks // what is done there is counted there
}

// divided tells of a call that divides it that its parts are only gone through.
func (r *readWhole) divided(d declaration, call *ast.CallExpr, around []ast.Node) wholeUse {
	switch p := around[len(around)-1].(type) {
	case *ast.RangeStmt:
		if p.X == ast.Expr(call) && !inTurns(around) {
			return r.pass(d, inLines, call)
		}
	case *ast.AssignStmt:
		id, ok := p.Lhs[0].(*ast.Ident)
		if !ok || len(p.Lhs) != 1 || len(p.Rhs) != 1 || inTurns(around) {
			return useFails
		}
		ranged, others := 0, false
		eachNode(d.Body, func(n ast.Node, around []ast.Node) {
			x, ok := n.(*ast.Ident)
			if !ok || x.Name != id.Name || x == id || len(around) == 0 {
				return
			}
			loop, ok := around[len(around)-1].(*ast.RangeStmt)
			if ok && loop.X == ast.Expr(x) && !handsOff(around) && !inTurns(around) {
				ranged++
			} else {
				others = true
			}
		})
		if ranged == 1 && !others {
			return r.pass(d, inLines, call)
		}
	}
	return useFails
}

// inCondition tells of nodes around another that it is in what a statement asks.
func inCondition(around []ast.Node) bool {
	for i, n := range around[:max(0, len(around)-1)] {
		switch n := n.(type) {
		case *ast.IfStmt:
			return around[i+1] == ast.Node(n.Cond)
		case *ast.ForStmt:
			return around[i+1] == ast.Node(n.Cond)
		}
	}
	return false
}

var wayTexts = map[wayThrough]string{
	inParts:  "it is gone through here, a part after the other",
	inLines:  "it is gone through here, a line or a piece after the other",
	inStream: "it is gone through here, from its beginning to its end",
	inHash:   "it is hashed here",
	inWrite:  "it is written here",
}

// advice is how to read it instead.
func (r *readWhole) advice() string {
	_, hash := r.ways[inHash]
	_, write := r.ways[inWrite]
	_, parts := r.ways[inParts]
	_, lines := r.ways[inLines]
	switch {
	case hash && write:
		return "Copy it in one pass instead of reading it first: io.Copy(io.MultiWriter(w, h), r), with h of the hash's New. Then 32 KiB of it are in memory at a time."
	case hash:
		return "Copy it into the hash instead of reading it first: io.Copy(h, r), with h of the hash's New. Then 32 KiB of it are in memory at a time."
	case write:
		return "Copy it instead of reading it first: io.Copy(w, r). Then 32 KiB of it are in memory at a time."
	case parts:
		return "Read a part at a time where it is needed: io.ReadFull into one buffer of the size of a part (the last one is shorter: io.ErrUnexpectedEOF). Then one part of it is in memory at a time."
	case lines:
		return "Read a line at a time: a bufio.Scanner (Buffer allows lines longer than 64 KiB) or a bufio.Reader with ReadBytes. Then one line of it is in memory at a time."
	}
	return "Hand on the reader itself (of a file, os.Open) instead of a reader of what was read. Then a buffer of it is in memory at a time."
}

// doubts are what speaks against it.
func (r *readWhole) doubts() (all []string) {
	if _, parts := r.ways[inParts]; parts {
		all = append(all, "what a part is handed to must not keep it when it returns: then each part needs a buffer of its own")
	}
	if r.length {
		all = append(all, "its length is asked for as well: os.File.Stat, or Content-Length, gives it without reading")
	}
	return append(all, "with a reader an error comes in the middle: if nothing may be done before all has arrived, write it to a file first")
}

// place is where it is gone through.
func (r *readWhole) place() Evidence {
	for _, way := range []wayThrough{inParts, inLines, inStream, inWrite, inHash} {
		if e, ok := r.ways[way]; ok {
			return e
		}
	}
	return Evidence{}
}

// onceTitle is the title of what is found so.
const onceTitle = "What is read as a whole is only gone through once"

// tell makes a finding about a line that reads something as a whole say what needs less memory.
func (r *readWhole) tell(f *Finding) {
	at := r.place()
	f.Summary += fmt.Sprintf("; according to the source it is read as a whole and then only gone through once, at %s:%d", baseName(at.File), at.Line)
	f.Advice = r.advice()
	f.Doubts = append(f.Doubts, r.doubts()...)
	if !shows(f, evidenceLine(at)) {
		f.Evidence = append(f.Evidence, at)
	}
}
