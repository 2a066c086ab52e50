package insight

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// What is read as a whole and then only given to several that could each take a stream of it: files, answers, hashes.

// readSinks are those that a variable is given to, in the statements behind the one that has read it.
type readSinks struct {
	r    *wholeReader
	d    declaration
	name string

	calls  []*ast.CallExpr
	to     []string // what is written to; each once
	writes int      // of calls: those that are no hash
	gives  []string // variables with what the calls give, but errors
}

// sinks looks at the statements behind the one that has made a variable: all that is done with it is to give it to what can
// take a stream, once each, and nothing that this gives is needed before the last has it.
func (r *wholeReader) sinks(d declaration, list []ast.Stmt, name string) (p passage, ok bool) {
	if limits := hasCall(d.Body, func(call *ast.CallExpr) bool { return limitsReading.MatchString(calledName(call)) }); limits {
		return p, false // the error of the reading decides whether anything is written
	}
	k := &readSinks{r: r, d: d, name: name}
	last := -1
	for i, s := range list {
		if k.takes(s, false) {
			last = i
		}
	}
	if last < 0 {
		return p, false
	}
	k.calls, k.to, k.writes = nil, nil, 0
	checked := token.NoPos
	for i, s := range list {
		switch {
		case i < last && k.decides(s):
			checked = s.Pos()
			continue
		case i > last && !k.onlyMeasures(s):
			return p, false
		case i > last || i < last && !mentions(s, name) && k.mayCome(s):
			continue
		case i < last && slices.ContainsFunc(k.gives, func(of string) bool { return mentions(s, of) }):
			return p, false
		case !k.takes(s, true) || i < last && k.measures(s) || !k.unconditional(s, i == last):
			return p, false
		}
		k.given(s)
	}
	way := inSinks
	switch {
	case checked.IsValid():
		if slices.ContainsFunc(k.calls, func(call *ast.CallExpr) bool { return call.Pos() > checked && !writesWholeFile(call) }) {
			return p, false
		}
		way = inChecked
	case len(k.calls) == 1 && k.writes == 1:
		way = inWrite
	case len(k.calls) == k.writes:
		way = inWrites
	case k.writes == 0:
		way = inHash
	}
	if way == inHash && len(k.calls) > 1 {
		way = inSinks
	}
	if way == inHash {
		r.to = k.to[0]
	}
	return r.found(d, way, k.calls[0])
}

// decides tells of a statement that it asks for what sinks have given, a sum, and leaves the function unless that is right.
func (k *readSinks) decides(s ast.Stmt) bool {
	n, ok := s.(*ast.IfStmt)
	if !ok || n.Init != nil || n.Else != nil || len(n.Body.List) == 0 || mentions(n, k.name) {
		return false
	}
	_, leaves := n.Body.List[len(n.Body.List)-1].(*ast.ReturnStmt)
	return leaves && slices.ContainsFunc(k.gives, func(of string) bool { return mentions(n.Cond, of) })
}

// writesWholeFile tells of a call that it writes a file as a whole: it may as well be written under another name, and renamed.
func writesWholeFile(call *ast.CallExpr) bool {
	text := types.ExprString(call.Fun)
	return text == "os.WriteFile" || text == "ioutil.WriteFile"
}

// takes tells of a statement that it gives the variable to a sink; with all, that this and its length is all that it does
// with it, and that no sink gets it twice.
func (k *readSinks) takes(s ast.Stmt, all bool) bool {
	some, fine := false, true
	eachNode(s, func(n ast.Node, around []ast.Node) {
		id, ok := n.(*ast.Ident)
		if !ok || id.Name != k.name || len(around) == 0 || isField(id, around) {
			return
		}
		call, to, writes := k.sink(id, around)
		switch {
		case call == nil:
			fine = fine && isLength(around) && !handsOff(around)
		case !handsOff(around):
			some = true
			fine = fine && !slices.Contains(k.to, to) && !slices.ContainsFunc(k.gives, func(of string) bool { return mentions(call, of) })
			k.calls = append(k.calls, call)
			if k.to = append(k.to, to); writes {
				k.writes++
			}
		default:
			fine = false
		}
	})
	return some && (fine || !all)
}

// isField tells of a name that it selects a field, or is the key of one in a literal.
func isField(id *ast.Ident, around []ast.Node) bool {
	switch p := around[len(around)-1].(type) {
	case *ast.SelectorExpr:
		return p.Sel == id
	case *ast.KeyValueExpr:
		return p.Key == ast.Expr(id)
	}
	return false
}

// isLength tells of what is around a variable that its length is asked for.
func isLength(around []ast.Node) bool {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	return ok && isNamed(call.Fun, "len")
}

// measures tells of a statement that it asks for the length of the variable.
func (k *readSinks) measures(s ast.Stmt) bool {
	return hasCall(s, func(call *ast.CallExpr) bool {
		return isNamed(call.Fun, "len") && len(call.Args) == 1 && isNamed(call.Args[0], k.name)
	})
}

// onlyMeasures tells of a statement that it does nothing with the variable but ask for its length.
func (k *readSinks) onlyMeasures(s ast.Stmt) bool {
	fine := true
	eachNode(s, func(n ast.Node, around []ast.Node) {
		if id, ok := n.(*ast.Ident); ok && id.Name == k.name && len(around) > 0 && !isField(id, around) {
			fine = fine && isLength(around) && !handsOff(around)
		}
	})
	return fine
}

// hashMakers make something that sums can be written to.
var hashMakers = lazily(`^(md5|sha1|sha256|sha512|sha3|crc32|crc64|adler32|fnv|hmac|blake2b|xxhash)\.New`)

// mayCome tells of a statement without the variable that it may as well come before the reading.
func (k *readSinks) mayCome(s ast.Stmt) bool {
	if doesNothing(s) {
		return !slices.ContainsFunc(k.gives, func(of string) bool { return mentions(s, of) })
	}
	if n, ok := s.(*ast.IfStmt); ok && n.Init != nil && asksError(n.Cond, token.NEQ) { // folders
		a, ok := n.Init.(*ast.AssignStmt)
		return ok && len(a.Rhs) == 1 && strings.HasPrefix(types.ExprString(a.Rhs[0]), "os.MkdirAll(")
	}
	a, ok := s.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Rhs) != 1 {
		return false
	}
	call, ok := a.Rhs[0].(*ast.CallExpr)
	if !ok || slices.ContainsFunc(k.gives, func(of string) bool { return mentions(s, of) }) {
		return false
	}
	text := types.ExprString(call.Fun)
	opens := text == "os.CreateTemp" || (text == "os.Create" || text == "os.OpenFile") && !k.r.plain // no file that is read
	return hashMakers.MatchString(text) || opens
}

// given notes the variables that a statement sets to what sinks give.
func (k *readSinks) given(s ast.Stmt) {
	ast.Inspect(s, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && mentions(a, k.name) {
			for _, x := range a.Lhs {
				if id, ok := x.(*ast.Ident); ok && id.Name != "_" && !isError(id.Name) {
					k.gives = append(k.gives, id.Name)
				}
			}
		}
		return true
	})
}

// unconditional tells of a statement that it comes to each of its sinks, whatever the ones before give; of the last one a
// condition may ask.
func (k *readSinks) unconditional(s ast.Stmt, last bool) bool {
	fine := true
	eachNode(s, func(n ast.Node, around []ast.Node) {
		if call, ok := n.(*ast.CallExpr); !ok || !slices.Contains(k.calls, call) {
			return
		}
		for i, a := range around {
			inner := n
			if i+1 < len(around) {
				inner = around[i+1]
			}
			switch a := a.(type) {
			case *ast.IfStmt:
				fine = fine && (a.Init != nil && inner == ast.Node(a.Init) || last && inner == ast.Node(a.Cond)) && (last || asksError(a.Cond, token.NEQ))
			case *ast.BinaryExpr:
				fine = fine && a.Op != token.LAND && a.Op != token.LOR
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.LabeledStmt, *ast.BlockStmt:
				fine = false
			}
		}
	})
	return fine
}

// limitsReading are functions by whose error a reading tells that there is too much, or that it is damaged.
var limitsReading = lazily(`^(MaxBytesReader|LimitReader|LimitedReader)$`)

// sinkTypes are what makes, in the function itself, something that takes as many pieces as there are: to what comes from elsewhere one write
// may be one record, and what has taken a part may not be thrown away.
var sinkTypes = lazily(`^(os\.(Create|CreateTemp)|(bufio|gzip|zlib|flate|zstd|snappy)\.NewWriter\w*|(md5|sha1|sha256|sha512|sha3|crc32|crc64|adler32|fnv|hmac)\.New\w*)(\(\))?$`)

// sink is the call that is given a variable, with what it is written to, where a stream of it would do as well; nil where not.
func (k *readSinks) sink(id *ast.Ident, around []ast.Node) (call *ast.CallExpr, to string, writes bool) {
	call, ok := around[len(around)-1].(*ast.CallExpr)
	if !ok || !slices.Contains(call.Args, ast.Expr(id)) || call.Ellipsis.IsValid() {
		return nil, "", false
	}
	text := types.ExprString(call.Fun)
	switch {
	case rereads(text) == rereadHash:
		return call, text, false
	case writesWholeFile(call):
		if len(call.Args) != 3 || k.r.plain { // it may be the file that is read
			return nil, "", false
		}
		return call, types.ExprString(call.Args[0]), true
	case text == "bytes.NewReader" || text == "bytes.NewBuffer":
		return k.copies(call, around[:len(around)-1])
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Write" && len(call.Args) == 1 {
		return k.into(call, f.X)
	}
	return nil, "", false
}

// copies is a copy of a reader that a call makes: by io.Copy, or its WriteTo.
func (k *readSinks) copies(reader *ast.CallExpr, around []ast.Node) (call *ast.CallExpr, to string, writes bool) {
	if len(around) == 0 {
		return nil, "", false
	}
	var dst ast.Expr
	switch p := around[len(around)-1].(type) {
	case *ast.CallExpr:
		if types.ExprString(p.Fun) == "io.Copy" && len(p.Args) == 2 && p.Args[1] == ast.Expr(reader) {
			call, dst = p, p.Args[0]
		}
	case *ast.SelectorExpr:
		outer, ok := around[max(0, len(around)-2)].(*ast.CallExpr)
		if ok && p.Sel.Name == "WriteTo" && len(outer.Args) == 1 {
			call, dst = outer, outer.Args[0]
		}
	}
	if call == nil {
		return nil, "", false
	}
	return k.into(call, dst)
}

// into is a call that writes to an expression, if that takes pieces.
func (k *readSinks) into(call *ast.CallExpr, dst ast.Expr) (*ast.CallExpr, string, bool) {
	id, ok := dst.(*ast.Ident)
	if !ok {
		return nil, "", false
	}
	of := typeNameOf(k.r.c, k.d.FuncDecl, id.Name)
	if !sinkTypes.MatchString(of) {
		return nil, "", false
	}
	return call, id.Name, !hashMakers.MatchString(of)
}
