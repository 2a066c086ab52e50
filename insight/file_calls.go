package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Calls on files: what they are, and what depends on a sync.

// fileCall is a kind of call on files.
type fileCall int

const (
	fileOther fileCall = iota
	fileSyncs
	fileExamines
	fileWalks // goes through a tree of files and examines each, as filepath.Walk does
	fileLists // lists folders, alone or all of a tree
	fileReads
	fileWrites
	fileMakes // writes a whole file in one call, or creates, renames or removes one
	fileOpens // for reading or for writing, as the stack does not show
)

// wholeFile are functions that write or create a whole file.
var wholeFile = []string{"os.WriteFile", "os.Create", "os.CreateTemp", "os.MkdirTemp"}

// fileCallOf tells of a stack, the leaf first, what it does with a file.
func fileCallOf(frames []stack.Frame) fileCall {
	if syncs(frames) {
		return fileSyncs
	}
	if slices.ContainsFunc(frames, func(f stack.Frame) bool { return slices.Contains(wholeFile, f.Func) }) {
		return fileMakes
	}
	listing := lists(frames)
	for i, f := range frames {
		switch pkg := stack.Package(f.Func); pkg {
		case "syscall", "internal/syscall/unix", "golang.org/x/sys/unix", "os", "internal/poll":
			name := strings.ToLower(lastName(f.Func))
			switch {
			case strings.Contains(name, "stat") || name == "info":
				if slices.ContainsFunc(frames[i:], func(f stack.Frame) bool { return f.Func == "path/filepath.Walk" }) {
					return fileWalks
				}
				if listing {
					return fileLists
				}
				return fileExamines
			case listing:
				return fileLists
			case strings.Contains(name, "read") || strings.Contains(name, "open") || strings.Contains(name, "getdents"):
				if opensEither(frames[i:]) {
					return fileOpens
				}
				return fileReads
			case strings.Contains(name, "rename") || strings.Contains(name, "unlink") || strings.Contains(name, "mkdir") || strings.Contains(name, "remove"):
				return fileMakes
			case strings.Contains(name, "write") || strings.Contains(name, "truncate"):
				return fileWrites
			}
		}
	}
	return fileOther
}

// lists tells of a stack, the leaf first, that its calls list folders, to walk through a tree or for the program itself: they move
// no content of a file, though they open and read.
func lists(frames []stack.Frame) bool {
	for _, f := range frames {
		if !stack.IsStandard(stack.Package(f.Func)) {
			return false
		}
		name := strings.ToLower(lastName(f.Func))
		if strings.HasPrefix(name, "readdir") || strings.Contains(name, "getdents") || slices.Contains(treeWalkers, f.Func) {
			return true
		}
	}
	return false
}

// content are the functions that move what is in a file.
var content = []string{"os.(*File).Read", "os.(*File).ReadAt", "os.(*File).Write", "os.(*File).WriteAt", "os.(*File).WriteString", "internal/poll.(*FD).Read", "internal/poll.(*FD).Pread", "internal/poll.(*FD).Write", "internal/poll.(*FD).Pwrite",
	"syscall.Read", "syscall.Pread", "syscall.Write", "syscall.Pwrite", "golang.org/x/sys/unix.Read", "golang.org/x/sys/unix.Pread", "golang.org/x/sys/unix.Write", "golang.org/x/sys/unix.Pwrite"}

// unbuffered tells of a stack that it moves the content of a file, in a call that a buffer could make rarer: there is none yet, and
// it is not of a whole file.
func unbuffered(frames []stack.Frame) bool {
	moves := false
	for _, f := range frames {
		if name := f.Func; strings.HasPrefix(name, "bufio.") || name == "os.ReadFile" || name == "io/ioutil.ReadFile" || slices.Contains(wholeFile, name) {
			return false
		}
		moves = moves || slices.Contains(content, f.Func)
	}
	return moves
}

// opensEither tells whether it is os.OpenFile that the program calls, which opens a file for
// whatever its flags say; os.Open and os.ReadFile call it to read.
func opensEither(frames []stack.Frame) bool {
	i := slices.IndexFunc(frames, func(f stack.Frame) bool { return f.Func == "os.OpenFile" })
	return i >= 0 && (i+1 == len(frames) || stack.Package(frames[i+1].Func) != "os")
}

// advice is what to do about the time that calls of the kind take.
func (k fileCall) advice() string {
	switch k {
	case fileSyncs:
		return "Sync less often: collect the writes of a request, or of several that wait at the same time, and sync once for all of them (group commit). Or let another goroutine do it if nobody needs to wait for it."
	case fileExamines:
		return "Examine fewer files: keep what was found out until it may have changed. The entries of os.ReadDir have names and types without a call for each file."
	case fileWalks:
		return walkAdvice(true)
	case fileLists:
		return walkAdvice(false)
	case fileReads:
		return "Read less: keep in memory what is read again; read in larger blocks, or several files at once. If each request needs other data that is on the disk alone, the disk is the limit."
	case fileWrites:
		return "Write less often: collect the writes if they are small (bufio; large ones gain nothing from it), or let another goroutine write if nobody needs to wait for it."
	case fileMakes:
		return wholeFilesAdvice + " Or let another goroutine do it if nobody needs to wait for it."
	case fileOpens:
		return "Open fewer files: keep in memory what is read again, and collect what is written to one file, so that it is opened once for all of it."
	}
	return "Do less of it per request: keep what is asked for again in memory, or let another goroutine do it if nobody needs to wait for it."
}

// walkAdvice is what to do about going through folders; stats tells that each file is examined.
func walkAdvice(stats bool) string {
	text := "List fewer folders: skip whole ones below which nothing is wanted (a callback of WalkDir returns fs.SkipDir), list once and keep what was found until it may have changed, and examine no file again whose entry has the name and the type (Info only where it is needed)."
	if stats {
		return text + walksStat
	}
	return text
}

// wholeFilesAdvice is what to do about calls each of which writes, renames or removes a whole file.
const wholeFilesAdvice = "Create, write, rename and remove fewer files: only those whose content has changed, or several in one (an archive, a database). Each call is for a whole file, so that a buffer in front makes none of them rarer."

// treeWalkers call a function for each file of a tree.
var treeWalkers = []string{"path/filepath.WalkDir", "path/filepath.Walk", "io/fs.WalkDir"}

// walks tells whether a stack goes through the files of a tree, each of which it meets once.
func walks(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool { return slices.Contains(treeWalkers, f.Func) })
}

// turnOf is the part of the code that one turn of the loop around a call has on a way through the
// code: of each frame the body of the loop or of the function around its line, the nearest first,
// up to the first loop.
func turnOf(c *code, path []stack.Frame) (parts []turnPart) {
	for _, f := range path {
		p, looped, ok := turnIn(c, f)
		if !ok {
			return parts
		}
		if parts = append(parts, p); looped {
			return parts
		}
	}
	return parts
}

// turnIn is the part of one frame; looped tells that it is the body of a loop. A function literal
// that begins on the line is given to the call there, and is not where the call is made.
func turnIn(c *code, f stack.Frame) (p turnPart, looped, ok bool) {
	p = turnPart{s: c.parse(f.File), file: f.File, line: f.Line}
	p.s.onLine(f.Line, func(n ast.Node, _ []ast.Node) {
		switch n := n.(type) {
		case *ast.FuncDecl:
			p.body, looped = n.Body, false
		case *ast.FuncLit:
			if first, _ := p.s.lines(n); first < f.Line {
				p.body, looped = n.Body, false
			}
		case *ast.ForStmt:
			if p.s.covers(n.Body, f.Line) {
				p.body, looped = n.Body, true
			}
		case *ast.RangeStmt:
			if p.s.covers(n.Body, f.Line) {
				p.body, looped = n.Body, true
			}
		}
	})
	return p, looped, p.body != nil
}

// turnPart is the part of one function.
type turnPart struct {
	s    *syntax
	file string
	line int // that leads to the call
	body *ast.BlockStmt
	but  []string // names of calls that are no effect
}

// effect is something that a turn does after a call.
type effect struct {
	name string
	file string
	line int
}

func (e effect) String() string { return fmt.Sprintf("%s at %s:%d", e.name, baseName(e.file), e.line) }

// effectAfter finds what one turn of a loop does after a call on a way through the code, other than
// to handle its error and to keep count.
func effectAfter(c *code, path []stack.Frame) (e effect, found bool) {
	for _, p := range turnOf(c, path) {
		if e, found = p.effectAfter(); found {
			return e, true
		}
	}
	return e, false
}

// effectAfter is that of one part.
func (p turnPart) effectAfter() (e effect, found bool) {
	ast.Inspect(p.body, func(n ast.Node) bool {
		if n == nil || found {
			return false
		}
		first, last := p.s.lines(n)
		if last <= p.line {
			return false
		}
		switch n := n.(type) {
		case *ast.IfStmt:
			if ofErrorAlone(n.Cond) {
				if n.Else != nil {
					e, found = p.effectIn(n.Else)
				}
				return false
			}
		case *ast.FuncLit:
			return first < p.line && p.line <= last
		case *ast.DeferStmt:
			return false
		case ast.Stmt:
			if first > p.line {
				if e, found = p.effectOf(n); found {
					return false
				}
			}
		}
		return true
	})
	return e, found
}

// effectIn is the first effect in a statement.
func (p turnPart) effectIn(n ast.Stmt) (e effect, found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok && !found {
			e, found = p.effectOf(s)
		}
		return !found
	})
	return e, found
}

// effectOf is what a statement does itself: it sends, or calls something.
func (p turnPart) effectOf(n ast.Stmt) (e effect, found bool) {
	var parts []ast.Expr
	switch n := n.(type) {
	case *ast.SendStmt:
		line, _ := p.s.lines(n)
		return effect{"a send on " + types.ExprString(n.Chan), p.file, line}, true
	case *ast.ExprStmt:
		parts = []ast.Expr{n.X}
	case *ast.AssignStmt:
		parts = n.Rhs
	case *ast.ReturnStmt:
		parts = n.Results
	case *ast.GoStmt:
		parts = []ast.Expr{n.Call}
	case *ast.IfStmt:
		if n.Init != nil {
			return p.effectOf(n.Init)
		}
	}
	for _, x := range parts {
		ast.Inspect(x, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && !found && !countsOnly(call) && !slices.Contains(p.but, calledName(call)) {
				line, _ := p.s.lines(call)
				e, found = effect{types.ExprString(call.Fun), p.file, line}, true
			}
			return !found
		})
	}
	return e, found
}

// onlyCounts are names of methods that keep count, end something or say what went on.
var (
	onlyCounts   = lazily(`^(Add|Inc|Dec|Observe|Done|Store|Load|Swap|Lock|Unlock|RLock|RUnlock|Close|Err|Error|Errorf|Sprintf?|Sprint|Sprintln|Printf?|Println|Debugf?|Infof?|Warnf?|Logf?|Now|Since|Sub|String|Text|Bytes|Len|Is|As|Join|Wrapf?|append|delete|make|new|int|int64|float64|string|len|cap)$`)
	onlyCountsOf = lazily(`^(log|slog|errors|fmt\.(E|S|P)|time|strings|strconv|bytes|atomic|math)(\.|$)`)
)

// countsOnly tells of a call, by its name, that nothing outside of the program depends on it.
func countsOnly(call *ast.CallExpr) bool {
	name := types.ExprString(call.Fun)
	if strings.HasPrefix(name, "fmt.Fprint") && len(call.Args) > 0 && types.ExprString(call.Args[0]) == "os.Stderr" {
		return true
	}
	return onlyCounts.MatchString(lastName(name)) || onlyCountsOf.MatchString(name) || harmless(name)
}

// ownFile tells whether each turn of the loop around a sync opens the file that it syncs.
func ownFile(c *code, path []stack.Frame) (found bool) {
	for _, p := range turnOf(c, path) {
		ast.Inspect(p.body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				line, _ := p.s.lines(call)
				found = found || line <= p.line && slices.Contains([]string{"os.Create", "os.OpenFile", "os.Open", "os.CreateTemp", "ioutil.TempFile"}, types.ExprString(call.Fun))
			}
			return !found
		})
	}
	return found
}

// combineSyncs is what to do about a sync that is made again and again, and what speaks against one
// for several; doubt is empty where nothing does.
func combineSyncs(c *code, path []stack.Frame) (advice, doubt string) {
	e, next, follows := syncTold(c, path)
	own := ownFile(c, path)
	switch {
	case follows && !next:
		doubt = fmt.Sprintf("%s follows each sync: if it must not happen before the data is on the disk (an acknowledgement, a rename, a send), the syncs cannot simply be combined", e)
	case follows && !own:
		doubt = nextDoubt(e)
	}
	switch {
	case own:
		return "Each sync is of a file of its own, so that one cannot serve for several. If the files need not reach the disk one by one, write all of them first, and then sync them concurrently, or the file system once (unix.Syncfs).", doubt
	case follows:
		return "Sync once for several only if what follows each sync can wait for it: gather some, write them, sync once, and then do that for each (group commit). If each has to be on the disk before the next one begins, only a faster sync helps (a file of a fixed size and fdatasync, a faster disk).", doubt
	}
	return "Sync once for all of them instead of for each (group commit): collect the writes, write them in one go, and then sync. In a database that is a file of the program (bbolt, SQLite): many changes in one transaction.", ""
}

// weighSync makes an info of a finding about syncs that may have to be as many as they are.
func weighSync(c *code, path []stack.Frame, f *Finding) {
	advice, doubt := combineSyncs(c, path)
	if f.Advice = advice; doubt != "" {
		f.Severity = Info
		f.Doubts = append(f.Doubts, doubt)
	}
}

// heldSyncDoubt is what speaks against one sync for all who wait for a lock, where something follows
// the sync under it; empty where nothing does. taken is the function that takes the lock.
func heldSyncDoubt(in *Input, frames []stack.Frame, taken string) []string {
	var path []stack.Frame
	scope := in.Session.Scope()
	for _, f := range frames {
		if scope.IsUser(f) {
			path = append(path, f)
		}
		if f.Func == taken {
			if e, ok := effectAfter(in.code, path); ok {
				return []string{fmt.Sprintf("%s follows the sync under the lock: with a shared sync it has to be done after that, in the same order", e)}
			}
			return nil
		}
	}
	return nil
}
