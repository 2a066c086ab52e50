package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is read as a whole and only gone through once, from its beginning to its end. The source has to show that nothing
// else is done with it, that nothing happens between the reading and that, and that no turn keeps a part: then a part at a
// time would do.

// wayThrough is how something is gone through.
type wayThrough string

const (
	inParts  wayThrough = "parts"  // slices of it, one after the other
	inLines  wayThrough = "lines"  // what newlines divide
	inStream wayThrough = "stream" // a reader of it
	inHash   wayThrough = "hash"   // it is hashed
	inWrite  wayThrough = "write"  // it is written to something else
	inWrites wayThrough = "writes" // it is written to several others
	// inChecked is that it is hashed, and written to a file if the sum is right.
	inChecked wayThrough = "checked"
	inSinks   wayThrough = "sinks" // it is given to several that could take a stream, as a file and hashes
)

// passage is how, and where, a whole is gone through.
type passage struct {
	way wayThrough
	at  Evidence
	// to is what takes it, as the source has it: the hash of inHash, the function of inStream that reads; empty where it has no name.
	to string
	// file tells that a file is read by its name, which could be opened instead; by is the function that does, where another one
	// goes through it.
	file bool
	by   string
	// limit says that a time limit covers the reading; empty where the source shows none.
	limit string
}

// wholeReaders read all of a file or of a reader.
var wholeReaders = lazily(`^(io|ioutil)\.ReadAll$|^(os|ioutil)\.ReadFile$`)

// wholeReader looks at the functions between the line that reads and what goes through it.
type wholeReader struct {
	c     *code
	k     *keeper
	seen  map[string]bool
	turns map[turnVariable]bool // variables of turns, by whether nothing keeps what they have
	read  string                // what reads, as the source has it
	to    string                // what takes all of it; see passage
	// sure tells that what takes it is a hash, by its type or its function: whatever else has a method of that name keeps nothing of it.
	sure  bool
	plain bool // what is read is no body of a request
}

// goneThroughOnce finds how what a line reads as a whole is gone through, and where. frames are those of the user's code
// from the line outward. It is false where the source does not show all of it.
func goneThroughOnce(c *code, frames []stack.Frame) (p passage, ok bool) {
	if len(frames) == 0 {
		return p, false
	}
	r := &wholeReader{c: c, k: newTextKeeper(c), seen: map[string]bool{}, turns: map[turnVariable]bool{}}
	reads := func(call *ast.CallExpr) bool { return wholeReaders.MatchString(types.ExprString(call.Fun)) }
	for i, f := range frames[:min(len(frames), maxKeepUp)] {
		fn := c.function(f)
		if fn == nil {
			return p, false
		}
		list, at, name, call := statementThatReads(c, f, reads)
		if call == nil && i == 0 {
			list, at, name, call = bufferThatReads(derivationsOf(c), f)
		}
		if call == nil {
			return p, false
		}
		if i == 0 {
			r.read = types.ExprString(call)
			r.plain = !strings.Contains(r.read, ".Body")
		}
		if name != "" {
			d := declaration{fn, f.File}
			p, ok = r.after(d, list[at+1:], name)
			switch {
			case ok:
				ok = r.sure || len(c.storesOf(frames)) == 0 && !keepsParts(c, f, fn)
			case returnsIt(list[at+1:], name):
				reads = namesCall(fn)
				continue
			case len(c.storesOf(frames)) > 0:
				return p, false
			default:
				r.to = ""
				p, ok = r.sinks(d, list[at+1:], name)
			}
			if p.to, p.file = r.to, readsFile.MatchString(r.read); i > 0 {
				p.by = c.function(frames[0]).Name.Name
			}
			if l, limited := limitOfReading(c, frames[0]); ok && limited {
				p.limit = l.advice()
			}
			return p, ok
		}
		reads = namesCall(fn)
	}
	return p, false
}

// wholeRead is a function on the way of what a line reads as a whole: the first is that of the line, the others are given it by the one before.
type wholeRead struct {
	frame stack.Frame
	fn    *ast.FuncDecl
	call  *ast.CallExpr // that reads, or returns what was read
	name  string        // the variable that has it; empty where it is returned at once
	rest  []ast.Stmt    // the statements behind the call
	first bool
	// returned tells that the function returns it to the next one.
	returned bool
}

// followWholeRead goes up from the first of some frames of the user's code, as far as what is read is returned, and the source shows that. It ends where do is
// false.
func followWholeRead(c *code, frames []stack.Frame, do func(r wholeRead) bool) {
	reads := func(call *ast.CallExpr) bool { return wholeReaders.MatchString(types.ExprString(call.Fun)) }
	for i, f := range frames[:min(len(frames), maxKeepUp)] {
		fn := c.function(f)
		if fn == nil {
			return
		}
		list, at, name, call := statementThatReads(c, f, reads)
		if call == nil {
			return
		}
		r := wholeRead{frame: f, fn: fn, call: call, name: name, rest: list[at+1:], first: i == 0}
		r.returned = name == "" || returnsIt(r.rest, name)
		if !do(r) || !r.returned {
			return
		}
		reads = namesCall(fn)
	}
}

// namesCall tells of a call whether it is one of a function, by its name.
func namesCall(fn *ast.FuncDecl) func(*ast.CallExpr) bool {
	return func(call *ast.CallExpr) bool { return calledName(call) == fn.Name.Name }
}

// newTextKeeper follows texts that functions are given.
func newTextKeeper(c *code) *keeper {
	return &keeper{c: c, funcs: c.functions(), text: true, seen: map[*ast.FuncDecl]taint{}, back: map[string]*ast.FuncLit{}, fields: map[string]bool{}, channels: map[string]taint{}, up: whole}
}

// statementThatReads is the statement on a frame's line with the call, in the list that it is in, and the variable that it
// declares; no variable where the call is returned.
func statementThatReads(c *code, f stack.Frame, reads func(*ast.CallExpr) bool) (list []ast.Stmt, at int, name string, call *ast.CallExpr) {
	c.parse(f.File).onLine(f.Line, func(n ast.Node, around []ast.Node) {
		x, ok := n.(*ast.CallExpr)
		if call != nil || !ok || !reads(x) || len(around) < 2 {
			return
		}
		stmts := statements(around[len(around)-2])
		s, ok := around[len(around)-1].(ast.Stmt)
		i := slices.Index(stmts, s)
		if !ok || i < 0 {
			return
		}
		switch s := s.(type) {
		case *ast.AssignStmt:
			id, named := s.Lhs[0].(*ast.Ident)
			if named && id.Name != "_" && s.Tok == token.DEFINE && len(s.Rhs) == 1 {
				list, at, name, call = stmts, i, id.Name, x
			}
		case *ast.ReturnStmt:
			if s.Results[0] == ast.Expr(x) {
				list, at, call = stmts, i, x
			}
		}
	})
	return list, at, name, call
}

// returnsIt tells of statements that nothing is done with a variable but to return it.
func returnsIt(list []ast.Stmt, name string) bool {
	uses, returned := 0, 0
	for _, s := range list {
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if n.Name == name {
					uses++
				}
			case *ast.ReturnStmt:
				if len(n.Results) > 0 && isNamed(underConversions(n.Results[0]), name) {
					returned++
				}
			}
			return true
		})
	}
	return uses > 0 && uses == returned
}

// keepsParts tells whether a function returns parts of what a frame's line reads, stores them, or gathers them in a list.
func keepsParts(c *code, f stack.Frame, fn *ast.FuncDecl) bool {
	k := newTextKeeper(c)
	k.file, k.fn = f.File, fn
	vars := map[string]taint{}
	if k.begin(f, fn, vars) || k.body(declaration{fn, f.File}, vars) > clean || len(k.stores) > 0 {
		return true
	}
	return hasCall(fn.Body, func(call *ast.CallExpr) bool {
		return isNamed(call.Fun, "append") && !call.Ellipsis.IsValid() && k.of(call, vars) > clean
	})
}

// after looks at the statements behind the one that has made a variable: the first one that uses it has to go through it,
// those before it may do nothing, and none behind it may use it.
func (r *wholeReader) after(d declaration, list []ast.Stmt, name string) (p passage, ok bool) {
	for i, s := range list {
		if !mentions(s, name) {
			if !doesNothing(s) && !r.makesHash(d, s) {
				return p, false
			}
			continue
		}
		if to, copied := convertedTo(s, name); copied {
			if slices.ContainsFunc(list[i+1:], func(s ast.Stmt) bool { return mentions(s, name) }) {
				return p, false
			}
			return r.after(d, list[i+1:], to)
		}
		if slices.ContainsFunc(list[i+1:], func(s ast.Stmt) bool { return mentions(s, name) }) {
			return p, false
		}
		return r.consumed(d, s, list[i+1:], name)
	}
	return p, false
}

// convertedTo tells of a statement that it only converts or trims a variable into another one.
func convertedTo(s ast.Stmt, name string) (to string, ok bool) {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.DEFINE || !isNamed(underConversions(a.Rhs[0]), name) {
		return "", false
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	return types.ExprString(a.Lhs[0]), ok && id.Name != "_"
}

// underConversions is what an expression converts.
func underConversions(x ast.Expr) ast.Expr {
	for {
		call, ok := x.(*ast.CallExpr)
		if ok && len(call.Args) == 0 {
			if sel, is := call.Fun.(*ast.SelectorExpr); is && (sel.Sel.Name == "Bytes" || sel.Sel.Name == "String") { // of a buffer
				x = sel.X
				continue
			}
		}
		if !ok || len(call.Args) != 1 {
			return x
		}
		switch types.ExprString(call.Fun) {
		case "string", "[]byte", "strings.TrimSpace", "bytes.TrimSpace":
			x = call.Args[0]
		default:
			return x
		}
	}
}

// doesNothing tells of a statement that it does nothing that others could notice: it asks for an error, or declares what calls
// of nothing but makers give.
func doesNothing(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.IfStmt:
		return s.Init == nil && s.Else == nil && asksError(s.Cond, token.NEQ)
	case *ast.DeclStmt, *ast.EmptyStmt:
		return makesOnly(s)
	case *ast.AssignStmt:
		return s.Tok == token.DEFINE && makesOnly(s)
	case *ast.DeferStmt:
		return calledName(s.Call) == "Close"
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		asksForError := func(x ast.Expr) bool { return isError(types.ExprString(x)) }
		return ok && (calledName(call) == "Close" && len(call.Args) == 0 || len(call.Args) == 1 && asksForError(call.Args[0]))
	}
	return false
}

func makesOnly(n ast.Node) bool {
	return !hasCall(n, func(call *ast.CallExpr) bool {
		switch text := types.ExprString(call.Fun); text {
		case "make", "new", "len", "cap", "min", "max":
			return false
		default:
			return !strings.HasSuffix(text, ".New") && !strings.HasSuffix(text, ".Now")
		}
	})
}

var (
	// readsOn make something of a reader that reads as it goes.
	readsOn  = lazily(`^(bufio\.New(Scanner|Reader|ReaderSize)|csv\.NewReader|(xml|gob|base64|hex)\.NewDecoder|(gzip|zlib|zstd|flate|bzip2|lzw|lz4|snappy|xz|brotli|tar|transform)\.NewReader|io\.(Copy|CopyBuffer))$`)
	asReader = lazily(`^(bytes\.New(Reader|Buffer)|(bytes\.NewBufferString|strings\.NewReader))$`)
)

// consumed is how a statement goes through a variable; rest are those behind it.
func (r *wholeReader) consumed(d declaration, s ast.Stmt, rest []ast.Stmt, name string) (p passage, ok bool) {
	switch s := s.(type) {
	case *ast.ForStmt:
		return r.parts(d, s, name)
	case *ast.RangeStmt:
		return r.pieces(d, s, s.X, name)
	}
	var uses []*ast.CallExpr // the calls with it, the innermost first
	other := false
	eachNode(s, func(n ast.Node, around []ast.Node) {
		id, is := n.(*ast.Ident)
		if !is || id.Name != name {
			return
		}
		if handsOff(around) || uses != nil || inTurns(append(slices.Clone(around), n)) {
			other = true
			return
		}
		for _, a := range slices.Backward(around) {
			call, is := a.(*ast.CallExpr)
			if !is && ofBuffer(a, id) {
				continue
			}
			if !is {
				break
			}
			uses = append(uses, call)
		}
	})
	if other || len(uses) == 0 {
		return p, false
	}
	for len(uses) > 1 && isNamed(underConversions(uses[0]), name) {
		uses = uses[1:]
	}
	call := uses[0]
	text := types.ExprString(call.Fun)
	sel, method := call.Fun.(*ast.SelectorExpr)
	switch {
	case rereads(text) == rereadHash:
		r.to, r.sure = text, true
		return r.found(d, inHash, call)
	case asReader.MatchString(text) && len(uses) > 1:
		return r.streamed(d, s, rest, uses[1])
	case asReader.MatchString(text):
		return r.reader(d, s, rest)
	case readsOn.MatchString(text), text == "json.NewDecoder":
		return r.streamed(d, s, rest, call)
	case text == "os.WriteFile" || text == "ioutil.WriteFile":
		return r.copied(d, call)
	case text == "bytes.Split" || text == "strings.Split":
		return r.listed(d, s, rest, call)
	case method && writesOrGives[calledName(call)] && len(call.Args) == 1 && r.plain:
		to := sel.X
		if calledName(call) == "WriteTo" {
			to = call.Args[0]
		}
		return r.written(d, to, call)
	case text == "io.WriteString" && len(call.Args) == 2 && r.plain:
		return r.written(d, call.Args[0], call)
	}
	return r.handed(d, call, name)
}

// writesOrGives are methods that write all of it: to their receiver, or to what they are given.
var writesOrGives = map[string]bool{"Write": true, "WriteString": true, "WriteTo": true}

// hashName is how variables that are hashes are called.
var hashName = lazily(`(?i)(hash|hasher|digest|^h)$`)

func (r *wholeReader) found(d declaration, way wayThrough, at ast.Node) (passage, bool) {
	return passage{way: way, at: r.c.shownAt(d.file, r.k.lineOf(d.file, at.Pos()), "%s", wayTexts[way])}, true
}

// copied is a file that is written with what was read: another one.
func (r *wholeReader) copied(d declaration, call *ast.CallExpr) (passage, bool) {
	if len(call.Args) != 3 || strings.Contains(r.read, types.ExprString(call.Args[0])) {
		return passage{}, false
	}
	return r.found(d, inWrite, call)
}

// listed is a list of its lines, which is then only ranged over.
func (r *wholeReader) listed(d declaration, s ast.Stmt, rest []ast.Stmt, call *ast.CallExpr) (p passage, ok bool) {
	a, ok := s.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || a.Tok != token.DEFINE || a.Rhs[0] != ast.Expr(call) || !byNewline(call) {
		return p, false
	}
	name := types.ExprString(a.Lhs[0])
	for i, s := range rest {
		if !mentions(s, name) {
			if !doesNothing(s) {
				return p, false
			}
			continue
		}
		loop, ok := s.(*ast.RangeStmt)
		if !ok || !isNamed(loop.X, name) || mentions(loop.Body, name) || slices.ContainsFunc(rest[i+1:], func(s ast.Stmt) bool { return mentions(s, name) }) {
			return p, false
		}
		return r.each(d, loop, inLines)
	}
	return p, false
}

// byNewline tells of a call that it divides by newlines.
func byNewline(call *ast.CallExpr) bool {
	switch calledName(call) {
	case "Lines":
		return len(call.Args) == 1
	case "Split", "SplitSeq", "Cut":
		if len(call.Args) != 2 {
			return false
		}
		sep := types.ExprString(underConversions(call.Args[1]))
		return sep == `"\n"`
	case "IndexByte":
		return len(call.Args) == 2 && types.ExprString(call.Args[1]) == `'\n'`
	}
	return false
}

// pieces is a range over what a call divides it into.
func (r *wholeReader) pieces(d declaration, loop *ast.RangeStmt, x ast.Expr, name string) (p passage, ok bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || !isNamed(underConversions(call.Args[0]), name) || mentions(loop.Body, name) {
		return p, false
	}
	switch text := types.ExprString(call.Fun); text {
	case "slices.Chunk":
		return r.each(d, loop, inParts)
	case "strings.Split", "bytes.Split", "strings.SplitSeq", "bytes.SplitSeq", "strings.Lines", "bytes.Lines":
		if byNewline(call) {
			return r.each(d, loop, inLines)
		}
	}
	return p, false
}

// each is a loop over pieces none of which is kept by a turn.
func (r *wholeReader) each(d declaration, loop *ast.RangeStmt, way wayThrough) (passage, bool) {
	v := loop.Value
	if call, ok := loop.X.(*ast.CallExpr); ok && v == nil || ok && strings.HasSuffix(types.ExprString(call.Fun), "Seq") {
		v = loop.Key // of an iterator
	}
	if v == nil || loop.Tok != token.DEFINE || r.answers(d, loop.Body) || !r.passing(d, loop.Body, types.ExprString(v), 0) {
		return passage{}, false
	}
	return r.found(d, way, loop)
}

// parts is a loop that cuts one part after the other off it, or takes them by a counter.
func (r *wholeReader) parts(d declaration, loop *ast.ForStmt, name string) (p passage, ok bool) {
	way, high, low, fine, counter, step := inParts, "", "", !r.answers(d, loop.Body), "", ""
	if post, ok := loop.Post.(*ast.AssignStmt); ok && post.Tok == token.ADD_ASSIGN {
		counter, step = types.ExprString(post.Lhs[0]), types.ExprString(post.Rhs[0])
	}
	pieces := []string{}
	eachNode(loop, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name || !fine {
			return
		}
		if fine = !handsOff(around); !fine {
			return
		}
		switch p := around[len(around)-1].(type) {
		case *ast.CallExpr:
			switch {
			case isNamed(p.Fun, "len"):
			case byNewline(p) && calledName(p) == "IndexByte":
				way = inLines
			case byNewline(p) && calledName(p) == "Cut":
				a, ok := around[len(around)-2].(*ast.AssignStmt)
				if fine = ok && len(a.Lhs) == 3; fine {
					way, high, low = inLines, "cut", "cut"
					pieces = append(pieces, types.ExprString(a.Lhs[0]))
					fine = isNamed(a.Lhs[1], name) || setsTo(loop.Body, name, types.ExprString(a.Lhs[1]))
				}
			default:
				fine = false
			}
		case *ast.SliceExpr:
			a, own := around[len(around)-2].(*ast.AssignStmt)
			switch {
			case p.Slice3:
				fine = false
			case own && len(a.Lhs) == 1 && isNamed(a.Lhs[0], name) && p.High == nil && p.Low != nil:
				low, fine = types.ExprString(p.Low), low == ""
			case p.High == nil || high != "":
				fine = false
			case p.Low == nil:
				high = types.ExprString(p.High)
			default:
				fine = counter != "" && types.ExprString(p.Low) == counter && partEndsAt(loop.Body, p.High, counter+" + "+step)
				high, low = "counted", "counted"
			}
			if fine && !own {
				fine = r.passingFrom(d, p, around[:len(around)-1], 0)
			} else if fine && p.High != nil {
				pieces = append(pieces, types.ExprString(a.Lhs[0]))
				fine = a.Tok == token.DEFINE && len(a.Lhs) == 1
			}
		case *ast.AssignStmt:
			fine = slices.Contains(p.Lhs, ast.Expr(id))
		default:
			fine = false
		}
	})
	switch {
	case !fine || high == "" || low == "":
		return p, false
	case way == inParts && high != low, way == inLines && !strings.HasPrefix(low, high):
		return p, false
	}
	for _, x := range pieces {
		if !r.passing(d, loop.Body, x, 0) {
			return p, false
		}
	}
	return r.found(d, way, loop)
}

// setsTo tells whether a body sets a variable to another one.
func setsTo(body ast.Node, name, to string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		found = found || ok && len(a.Lhs) == 1 && isNamed(a.Lhs[0], name) && isNamed(a.Rhs[0], to)
		return !found
	})
	return found
}

// partEndsAt tells of the end of a part that it is an expression, or the smaller one of that and the length, by itself or as the
// variable that a body declares.
func partEndsAt(body ast.Node, high ast.Expr, want string) (found bool) {
	is := func(x ast.Expr) bool {
		if call, ok := x.(*ast.CallExpr); ok && isNamed(call.Fun, "min") && len(call.Args) == 2 {
			return types.ExprString(call.Args[0]) == want || types.ExprString(call.Args[1]) == want
		}
		return types.ExprString(x) == want
	}
	if is(high) {
		return true
	}
	ast.Inspect(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		found = found || ok && a.Tok == token.DEFINE && len(a.Lhs) == 1 && types.ExprString(a.Lhs[0]) == types.ExprString(high) && is(a.Rhs[0])
		return !found
	})
	return found
}

// answers tells of a body that it writes the answer to the request whose body is read: what is written first may end the
// reading.
func (r *wholeReader) answers(d declaration, body ast.Node) (found bool) {
	if r.plain {
		return false
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			found = found || answersBy(f.Type, body)
		}
		return !found
	})
	return found || answersBy(d.Type, body)
}

func answersBy(f *ast.FuncType, body ast.Node) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		return types.ExprString(p.Type) == "http.ResponseWriter" && slices.ContainsFunc(p.Names, func(id *ast.Ident) bool { return mentions(body, id.Name) })
	})
}

// turnVariable is a variable in the body of a loop.
type turnVariable struct {
	body ast.Node
	name string
}

// passingDepth is how many functions and variables a piece is followed through.
const passingDepth = 4

// passing tells of a variable in a body that has a piece that nothing keeps it beyond the turn.
func (r *wholeReader) passing(d declaration, body ast.Node, name string, depth int) bool {
	if name == "_" {
		return true
	}
	at := turnVariable{body, name}
	if fine, known := r.turns[at]; known {
		return fine
	}
	r.turns[at] = true // while it is looked at
	fine := depth < passingDepth
	defer func() { r.turns[at] = fine }()
	eachNode(body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name || !fine || len(around) == 0 {
			return
		}
		if sel, ok := around[len(around)-1].(*ast.SelectorExpr); ok && sel.Sel == id {
			return
		}
		fine = !handsOff(around) && r.passingFrom(d, id, around, depth)
	})
	return fine
}

// passingCalls are functions that keep nothing of a text, and give nothing that has it.
var passingCalls = lazily(`^(strconv|utf8|unicode|binary|hex|base64|json\.Unmarshal$|fmt\.(Print|Fprint|Sprint|Sscan)|log\.|md5\.|sha1\.|sha256\.|crc32\.|(bytes|strings)\.(Index|Has|Contains|Equal|Compare|Count|LastIndex)|len$|string$|\[\]byte$|copy$|os\.WriteFile$|slices\.(Contains|Index|Clone))`)

// passingFrom tells of an expression with a piece, by what is around it, that nothing keeps it.
func (r *wholeReader) passingFrom(d declaration, e ast.Expr, around []ast.Node, depth int) bool {
	outer := around[:len(around)-1]
	switch p := around[len(around)-1].(type) {
	case *ast.ParenExpr:
		return r.passingFrom(d, p, outer, depth)
	case *ast.BinaryExpr:
		return p.Op != token.ADD
	case *ast.SliceExpr:
		return p.X == e && r.passingFrom(d, p, outer, depth)
	case *ast.IndexExpr:
		if p.X != e {
			return false // the key of a map
		}
		switch outer[len(outer)-1].(type) {
		case *ast.BinaryExpr:
			return true // a byte of it, or compared
		}
		return r.passingFrom(d, p, outer, depth)
	case *ast.RangeStmt:
		return p.X == e && (p.Value == nil || r.passing(d, p.Body, types.ExprString(p.Value), depth+1))
	case *ast.SwitchStmt, *ast.CaseClause, *ast.IfStmt, *ast.ValueSpec:
		return true
	case *ast.AssignStmt:
		if slices.Contains(p.Lhs, e) {
			body, ok := around[0].(*ast.BlockStmt)
			return p.Tok == token.DEFINE || ok && declares(body, types.ExprString(e)) // another one each turn
		}
		return r.declares(d, p, around, depth)
	case *ast.CallExpr:
		return p.Fun != e && r.passingCall(d, p, e, outer, depth)
	}
	return false
}

// declares is a piece that is given to a variable of the turn.
func (r *wholeReader) declares(d declaration, a *ast.AssignStmt, around []ast.Node, depth int) bool {
	if a.Tok != token.DEFINE || len(around) < 2 {
		return false
	}
	body := around[0]
	for _, lhs := range a.Lhs {
		id, ok := lhs.(*ast.Ident)
		if !ok || !r.passing(d, body, id.Name, depth+1) {
			return false
		}
	}
	return true
}

// passingCall is a piece that a call is given.
func (r *wholeReader) passingCall(d declaration, call *ast.CallExpr, e ast.Expr, outer []ast.Node, depth int) bool {
	text := types.ExprString(call.Fun)
	if passingCalls.MatchString(text) || text == "append" && call.Ellipsis.IsValid() && slices.Index(call.Args, e) == 1 {
		return true
	}
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
		switch name := sel.Sel.Name; {
		case name == "Write" || name == "WriteString" || name == "Match" || name == "MatchString":
			return true
		case (isNamed(sel.X, "strings") || isNamed(sel.X, "bytes")) && (cuts(sel) || strings.HasPrefix(name, "Trim")):
			return len(outer) > 0 && r.passingResult(d, call, outer, depth)
		}
	}
	arg := slices.Index(call.Args, e)
	r.k.fn, r.k.file = d.FuncDecl, d.file
	all := r.k.fitting(call, arg)
	return len(all) == 1 && !call.Ellipsis.IsValid() && arg >= 0 && len(r.k.stores) == 0 && r.k.down(call, arg, whole) == clean && len(r.k.stores) == 0 && !gathersPieces(all[0], arg)
}

// passingResult is what a call gives that has pieces.
func (r *wholeReader) passingResult(d declaration, call *ast.CallExpr, outer []ast.Node, depth int) bool {
	if _, ok := outer[len(outer)-1].(*ast.ExprStmt); ok {
		return true
	}
	return r.passingFrom(d, call, outer, depth+1)
}

// gathersPieces tells of a function that it appends to a list what has to do with a parameter, or hands it to another goroutine.
func gathersPieces(d declaration, arg int) bool {
	names := parameters(d.Type)
	if arg >= len(names) {
		return true
	}
	name, found := names[arg], false
	eachNode(d.Body, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != name {
			return
		}
		found = found || handsOff(around) || slices.ContainsFunc(around, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			return ok && isNamed(call.Fun, "append") && !call.Ellipsis.IsValid()
		})
	})
	return found
}

// handed is a function of the program that is given it and goes through it.
func (r *wholeReader) handed(d declaration, call *ast.CallExpr, name string) (p passage, ok bool) {
	arg := slices.IndexFunc(call.Args, func(x ast.Expr) bool { return isNamed(x, name) })
	r.k.fn, r.k.file = d.FuncDecl, d.file
	all := r.k.fitting(call, arg)
	if arg < 0 || len(all) != 1 || call.Ellipsis.IsValid() {
		return p, false
	}
	names, key := parameters(all[0].Type), all[0].file+" "+all[0].Name.Name+" "+methodOf(all[0].FuncDecl)
	if arg >= len(names) || r.seen[key] || !r.plain {
		return p, false
	}
	r.seen[key] = true
	return r.after(all[0], all[0].Body.List, names[arg])
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
