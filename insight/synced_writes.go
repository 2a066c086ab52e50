package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Files that are opened so that each write waits until the disk has it (O_SYNC, O_DSYNC).

// syncedOpen is the call that opens one.
type syncedOpen struct {
	at   codeLine
	flag string
	// once tells that the function which opens it writes to it in a loop: nobody needs a piece before the last one is there.
	once bool
}

// slowWrite is how long a write takes on average from which on it waits for the disk: chosen, several times what copying a piece into the page cache takes.
const slowWrite = 200 * time.Microsecond

// tellSynced says of waits for writes, so many that take so long together, that the file is opened so; share is the part of the time that they take.
func tellSynced(in *Input, frames []stack.Frame, took time.Duration, calls int64, share float64, f *Finding) {
	if calls < manyWrites || took/time.Duration(calls) < slowWrite || fileCallOf(frames) != fileWrites {
		return
	}
	scope := in.Session.Scope()
	path := slices.DeleteFunc(slices.Clone(frames), func(f stack.Frame) bool { return !scope.IsUser(f) })
	open, ok := syncedOpenOf(in.code, path)
	if !ok {
		return
	}
	f.Summary += fmt.Sprintf("; the file is opened with %s, at %s: each write waits until the disk has it, %s on average", open.flag, open.at.text(), unit.Duration(took/time.Duration(calls)))
	f.Evidence = append(f.Evidence, in.code.shownAt(open.at.file, open.at.line, "opened with %s", open.flag))
	f.Advice = fmt.Sprintf("Open it without %s and sync once where all of it has to be on the disk: f.Sync() behind the last write, before Close. A crash before that may lose all of the file, and not only what had not been written yet. If each piece has to be on the disk before the next step (a log), collect several and write them at once: the wait is for the disk, not for the bytes.", open.flag)
	f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, "the time is spent in system calls") })
	if e, follows := effectBehindWrites(in.code, path, open.at); follows {
		f.Severity = Info
		f.Advice = fmt.Sprintf("By the source, %s comes after the writes, while the file stays open: if that tells somebody that they are safe, they have to be on the disk before it. Then put together what is written for one such step, and write it at once; or open the file without %s and sync once for each step (f.Sync), before it.", e, open.flag)
		f.Evidence = append(f.Evidence, in.code.shownAt(e.file, e.line, "comes after the writes"))
		return
	}
	f.Doubts = append(f.Doubts, "if somebody is told of each write that it is safe, it has to wait for the disk: then only fewer, larger writes help")
	f.Severity = Info
	if open.once && share >= muchWaiting {
		f.Severity = Warning
	}
}

// Limits of such writes, chosen: as many have to be there for one sync to take their place, and this part of the time is one that a warning is about, as for [wt01].
const (
	manyWrites  = 10
	muchWaiting = 0.4
)

// syncedOpenOf finds the call that opens the file which some frames, the innermost first, write to: in one of their functions, or, where the folder of the innermost
// opens files nowhere else, in that.
func syncedOpenOf(c *code, frames []stack.Frame) (open syncedOpen, ok bool) {
	for _, f := range frames {
		fn := c.function(f)
		if fn == nil {
			continue
		}
		if x, n := opensToWrite(c, declaration{fn, f.File}); x.flag != "" && n == 1 {
			x.once = len(loopsAround(c, f)) > 0
			return x, true
		}
	}
	if len(frames) == 0 {
		return open, false
	}
	all := 0
	for _, list := range c.functions() {
		for _, fn := range list {
			if folderOf(fn.file) != folderOf(frames[0].File) {
				continue
			}
			x, n := opensToWrite(c, fn)
			if all += n; x.flag != "" {
				open = x
			}
		}
	}
	return open, all == 1 && open.flag != ""
}

// opensToWrite is the call of a function that opens a file for writes which wait for the disk, and how many it opens to write to.
func opensToWrite(c *code, fn declaration) (open syncedOpen, n int) {
	s := c.parse(fn.file)
	ast.Inspect(fn.Body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch name := lastName(calledName(call)); {
		case name == "OpenFile" && len(call.Args) >= 2:
			n++
			if flag := syncFlag(c, fn, call.Args[1], 0); flag != "" {
				line, _ := s.lines(call)
				open = syncedOpen{at: codeLine{fn.file, line}, flag: flag}
			}
		case name == "Create" || name == "CreateTemp":
			n++
		}
		return true
	})
	return open, n
}

// syncFlag is the flag among those of a call that has each write wait: in the expression, or in what its variables and constants are set to.
func syncFlag(c *code, fn declaration, x ast.Expr, depth int) (flag string) {
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if n.Sel.Name == "O_SYNC" || n.Sel.Name == "O_DSYNC" {
				flag = rootName(n) + "." + n.Sel.Name
			}
			return false
		case *ast.Ident:
			if depth > 2 || flag != "" {
				return false
			}
			eachSet(c, fn, n.Name, func(value ast.Expr) {
				if flag == "" {
					flag = syncFlag(c, fn, value, depth+1)
				}
			})
		}
		return true
	})
	return flag
}

// eachSet visits what a function sets a variable to, and what its file declares the name as.
func eachSet(c *code, fn declaration, name string, visit func(ast.Expr)) {
	named := func(lhs, rhs ast.Expr) {
		if isNamed(lhs, name) {
			visit(rhs)
		}
	}
	eachAssigned(fn.Body, named)
	for _, d := range c.parse(fn.file).file.Decls {
		if gen, ok := d.(*ast.GenDecl); ok {
			eachAssigned(gen, named)
		}
	}
}
