package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is read as a whole so that it can be sent more than once, each time from its beginning: a body for each attempt of a request. Where what is read can go
// back to its beginning itself, or be opened again, nothing has to have all of it.

// readToRepeat is such a whole, by the source.
type readToRepeat struct {
	read string // the call that reads it
	from string // what it reads: "raw", or the name of a file
	of   string // the type of that: "io.ReadSeeker"; empty of a file that is read by its name
	// opened is where the function opens it itself; the zero Evidence where it does not.
	opened Evidence
	// uses are the calls that make a reader of it; to is what the first of these is.
	uses []Evidence
	to   string
}

var (
	// takesAReader are calls that are content with what reads from the beginning to the end.
	takesAReader = lazily(`^(io\.(NopCloser|Copy|CopyBuffer|LimitReader|TeeReader)|http\.(NewRequest|NewRequestWithContext|Post)|bufio\.New(Scanner|Reader|ReaderSize)|(json|xml|gob|base64|hex|csv)\.New(Decoder|Reader)|(gzip|zlib|zstd|flate|bzip2|lzw|tar)\.NewReader)$`)
	// rewindable are types of what can go back to its beginning.
	rewindable = lazily(`^(io\.ReadSeeker|io\.ReadSeekCloser|\*os\.File|multipart\.File)$`)
	// openedByName are calls that open a file.
	openedByName = lazily(`^os\.(Open|OpenFile|Create)$`)
)

// repeatedFrom finds what a line reads as a whole for that, and what is done with it: nothing but to ask for its length and to make readers of it, in a loop or in a function
// without a name. It is false where the source does not show that, or not that it can be read again. frames are those of the user's code from the line outward.
func repeatedFrom(c *code, frames []stack.Frame) (x readToRepeat, ok bool) {
	followWholeRead(c, frames, func(r wholeRead) bool {
		switch {
		case r.first && !x.source(c, r.frame, r.fn, r.call):
			return false
		case r.returned:
			return x.of == "" // what the caller has of it is not followed
		}
		ok = x.repeats(c, r.frame, r.rest, r.name)
		return false
	})
	return x, ok
}

// source notes what a call reads, and tells whether that can be read again.
func (x *readToRepeat) source(c *code, f stack.Frame, fn *ast.FuncDecl, call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	x.read, x.from = types.ExprString(call), types.ExprString(call.Args[0])
	if readsFile.MatchString(x.read) {
		return true
	}
	id, ok := call.Args[0].(*ast.Ident)
	if !ok {
		return false
	}
	for _, field := range fn.Type.Params.List {
		if isAmong(field.Names, id.Name) {
			x.of = types.ExprString(field.Type)
		}
	}
	eachAssigned(fn.Body, func(left, right ast.Expr) {
		if !isNamed(left, id.Name) {
			return
		}
		x.of = "" // of a parameter that is replaced nothing is known
		if by, is := right.(*ast.CallExpr); is && openedByName.MatchString(types.ExprString(by.Fun)) {
			x.of = "*os.File"
			x.opened = c.shownAt(f.File, c.parse(f.File).fset.PositionFor(by.Pos(), false).Line, "it is opened here")
		}
	})
	return rewindable.MatchString(x.of)
}

// repeats looks at all that the statements do with a variable.
func (x *readToRepeat) repeats(c *code, f stack.Frame, list []ast.Stmt, name string) bool {
	fine, again := true, 0
	for _, s := range list {
		eachNode(s, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok || id.Name != name || !fine {
				return
			}
			call, outer := readerOf(id, around)
			switch {
			case call == nil:
				fine = false
			case isNamed(call.Fun, "len"):
			case !takesStream(outer):
				fine = false
			default:
				again++
				if withinLit(outer) || slices.ContainsFunc(outer, isLoop) {
					again++
				}
				x.to = types.ExprString(call.Fun)
				x.uses = append(x.uses, c.shownAt(f.File, c.parse(f.File).fset.PositionFor(call.Pos(), false).Line, "%s is given all of it here, each time anew", x.to))
			}
		})
	}
	return fine && again > 1
}

// readerOf is the call that asks for the length of a variable, or makes a reader of it, with what is around that; nil where another thing is done with it.
func readerOf(id *ast.Ident, around []ast.Node) (call *ast.CallExpr, outer []ast.Node) {
	for i := len(around) - 1; i >= 0; i-- {
		one, ok := around[i].(*ast.CallExpr)
		if !ok {
			return nil, nil
		}
		text := types.ExprString(one.Fun)
		if text == "string" || text == "[]byte" {
			continue
		}
		if text != "len" && !asReader.MatchString(text) || len(one.Args) != 1 || !isNamed(underConversions(one.Args[0]), id.Name) {
			return nil, nil
		}
		return one, around[:i]
	}
	return nil, nil
}

// takesStream tells of what is around a reader that it is content with a stream: a call that is known to be, or a function without a name that returns it as a reader.
func takesStream(around []ast.Node) bool {
	for i := len(around) - 1; i >= 0; i-- {
		switch n := around[i].(type) {
		case *ast.CallExpr:
			return takesAReader.MatchString(types.ExprString(n.Fun))
		case *ast.ReturnStmt:
			for _, outer := range slices.Backward(around[:i]) {
				if lit, ok := outer.(*ast.FuncLit); ok {
					return lit.Type.Results != nil && len(lit.Type.Results.List) > 0 && slices.Contains([]string{"io.Reader", "io.ReadCloser", "io.ReadSeeker", "io.ReadSeekCloser"}, types.ExprString(lit.Type.Results.List[0].Type))
				}
			}
			return false
		default:
			return false
		}
	}
	return false
}

// advice is how to do without.
func (x readToRepeat) advice() string {
	const part = " Then only a buffer of it is in memory at a time, however long it is."
	if x.of == "" {
		return fmt.Sprintf("Do not read it as a whole: open the file (os.Open) each time it is needed, and give that where %s is given it now; its Stat tells the length.", x.to) + part
	}
	if x.opened.File != "" {
		return fmt.Sprintf("Do not read it as a whole: stream it. Open the file anew each time it is needed, and give that where %s is given it now; its Stat tells the length. The one of %s could be closed by then.", x.to, fileLine(x.opened.File, x.opened.Line)) + part
	}
	return fmt.Sprintf("Do not read it as a whole: stream it from %[1]s itself (%[2]s), which can go back. Note where it begins and where it ends: start is %[1]s.Seek(0, io.SeekCurrent), end is %[1]s.Seek(0, io.SeekEnd). "+
		"Each time it is needed, call %[1]s.Seek(start, io.SeekStart), and give io.LimitReader(%[1]s, end-start) where %[3]s is given it now.", x.from, x.of, x.to) + part
}

// tell makes a finding say that it could be streamed each time.
func (x readToRepeat) tell(f *Finding) {
	f.Title = sinksTitle
	can := "which the source can open again"
	if x.of != "" && x.opened.File == "" {
		can = fmt.Sprintf("of %s, which can go back to its beginning (%s)", x.from, x.of)
	}
	f.Summary += fmt.Sprintf("; according to the source, %s reads it as a whole, and %s at %s only makes a reader of that each time, %s", x.read, x.to, fileLine(x.uses[0].File, x.uses[0].Line), can)
	f.Advice = x.advice()
	for _, e := range x.uses[:min(len(x.uses), maxWholeUses)] {
		if !shows(f, evidenceLine(e)) {
			f.Evidence = append(f.Evidence, e)
		}
	}
	f.Doubts = append(f.Doubts, "if it may change in between, a copy is what makes all of them the same",
		"if two are read at the same time, each needs a reader of its own (io.NewSectionReader of a file)")
	if x.of != "" && x.opened.File == "" {
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s has to be open until the last one is done, and a pipe cannot go back", x.from))
	} else if strings.HasPrefix(x.of, "*os") {
		f.Doubts = append(f.Doubts, "a pipe cannot be opened again")
	}
}

// tellRepeated makes a warning of memory for what is read as a whole to be sent more than once, where a line has so many bytes of it and that is not little.
func tellRepeated(in *Input, own []stack.Frame, held, enough float64, f *Finding) {
	x, ok := repeatedFrom(in.code, own)
	if !ok {
		return
	}
	x.tell(f)
	if held >= enough {
		f.Severity, f.Score = Warning, max(f.Score, 50)
	}
}
