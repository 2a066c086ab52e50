package insight

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// What is done under a lock and needs none, by what is known of libraries.

var (
	// requestTypes are types of net/http whose values are one request's own, or only tell something.
	requestTypes = lazily(`^net/http\.(Request|Response|Header|Cookie|URL|ResponseWriter|ResponseController|Flusher|Body|Trailer|Form|PostForm|MultipartForm|TLS)$|^net/url\.`)
	// knownFunctions are functions that neither leave the program nor change what is not given to them for that.
	knownFunctions = lazily(`^(net/http\.(StatusText|DetectContentType|CanonicalHeaderKey|Error|NotFound|Redirect|SetCookie|MaxBytesReader|ParseTime|ParseHTTPVersion|NewResponseController)|net\.(SplitHostPort|JoinHostPort|ParseIP|ParseCIDR|ParseMAC|IPv4|CIDRMask)|os\.(Getpid|Getppid|Getuid|Geteuid|Hostname|TempDir|IsExist|IsPermission|IsTimeout|Getwd|UserHomeDir|Executable|Environ|Expand|ExpandEnv)|database/sql\.Named|runtime/debug\.Stack|(mime|mime/multipart|image|image/[a-z/]+|net/mail|net/textproto|io/fs|unicode/.*)\.[A-Z].*)$`)
	// answersRequest are functions of net/http that write an answer.
	answersRequest = lazily(`^(Error|NotFound|Redirect|SetCookie|ServeContent)$`)
)

// withoutDriver are the frames of a stack that holds a lock without those of a database's driver: package database/sql gives each of its connections to one
// goroutine at a time. Where those who wait are in the driver as well, the lock is one of the driver's own.
func withoutDriver(holder, waiter []stack.Frame) []stack.Frame {
	for i := len(holder) - 1; i > 0; i-- {
		if !strings.HasPrefix(holder[i].Func, "database/sql.(*") {
			continue
		}
		within := slices.ContainsFunc(holder[:i], func(f stack.Frame) bool {
			return slices.ContainsFunc(waiter, func(w stack.Frame) bool { return sameFunction(w, f) })
		})
		if within {
			return holder
		}
		return holder[i:]
	}
	return holder
}

// opensForWrites says of a call of os.OpenFile what it does; empty where the file can only be read.
func opensForWrites(call *ast.CallExpr) string {
	if len(call.Args) == 3 && types.ExprString(call.Args[1]) == "os.O_RDONLY" {
		return ""
	}
	return "a file is opened to be written to (os.OpenFile)"
}

// answersOwn tells of a call that it writes the answer of the request which its function was called for: nobody else has where that goes.
func answersOwn(d *derivations, call *ast.CallExpr) bool {
	pkg, name := d.t.fromPackage(uninstantiated(call)), ownCallName(call)
	var to ast.Expr
	switch {
	case pkg == "net/http" && answersRequest.MatchString(name), pkg == "fmt" && strings.HasPrefix(name, "Fprint"), pkg == "io" && name == "WriteString":
		if len(call.Args) > 0 {
			to = call.Args[0]
		}
	case pkg == "":
		to = receiverOf(call)
		switch by, _ := to.(*ast.CallExpr); {
		case by == nil:
		case ownCallName(by) == "NewEncoder" && len(by.Args) == 1:
			to = by.Args[0]
		case ownCallName(by) == "Header" && len(by.Args) == 0:
			to = receiverOf(by)
		}
	}
	if to == nil || libraryTypeOf(d, to, 0).text() != "net/http.ResponseWriter" {
		return false
	}
	for _, decl := range d.t.decls {
		if v := d.variable(ast.Unparen(to)); isLocal(decl, v) {
			return isOwnAnswer(d, decl, v, 0)
		}
	}
	return false
}

// isOwnAnswer tells of a variable that it is a parameter of a function which answers a request, or of one that such functions give theirs.
func isOwnAnswer(d *derivations, decl *ast.FuncDecl, v types.Object, depth int) bool {
	params := decl.Type.Params
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		if lit, ok := n.(*ast.FuncLit); ok && lit.Pos() <= v.Pos() && v.Pos() < lit.Body.Pos() {
			params = lit.Type.Params
		}
		return true
	})
	if !slices.Contains(givenVariables(d, params), v) || depth > effectDepth {
		return false
	}
	if slices.ContainsFunc(params.List, func(f *ast.Field) bool { return libraryTypeNamed(d, f.Type).text() == "net/http.Request" }) {
		return true
	}
	calls := whoCalls(d, decl)
	return len(calls) > 0 && !slices.ContainsFunc(calls, func(by callBy) bool {
		x := argumentFor(d, decl, by.call, v)
		given := d.variable(x)
		return x == nil || given == nil || !isLocal(by.in, given) || !isOwnAnswer(d, by.in, given, depth+1)
	})
}

// countsAlone is the one place under the lock that others may change, with its line: it is counted on before the call, once, and nothing there asks for it.
// Empty where that is not proved.
func countsAlone(p *lockPurpose) (place string, at codeLine) {
	if p.unseen || p.reads || len(p.signs) != 1 || len(p.state) != 1 {
		return "", at
	}
	s := p.signs[0]
	if s.rank != signChanges || !p.counted[s.at] || s.at.file != p.u.file || s.at.line >= p.u.call || !p.u.held.has(s.at.line) {
		return "", at
	}
	for v, uses := range p.state {
		if len(uses) != 1 || v.Name() != fieldOfPlace(s.place) || isStruct(v.Type()) || mapType(v.Type()) {
			return "", at
		}
	}
	return s.place, s.at
}
