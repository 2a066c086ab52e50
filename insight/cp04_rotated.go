package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"loupe/value/stack"
)

// A file that is kept open is the one that was opened: whoever renames, removes or replaces it leaves those who have it open with the old one.

// fileMoves are the calls after which a name means another file, or none, by the place of the name among their arguments.
var fileMoves = []struct {
	name string
	arg  int
	does string
}{
	{"os.Rename", 0, "renamed"}, {"syscall.Rename", 0, "renamed"}, {"unix.Rename", 0, "renamed"},
	{"os.Rename", 1, "replaced"}, {"syscall.Rename", 1, "replaced"}, {"unix.Rename", 1, "replaced"}, {"renameio.WriteFile", 0, "replaced"},
	{"os.Remove", 0, "removed"}, {"syscall.Unlink", 0, "removed"}, {"unix.Unlink", 0, "removed"},
	{"os.Truncate", 0, "truncated"}, {"syscall.Truncate", 0, "truncated"}, {"unix.Truncate", 0, "truncated"},
}

// movedFile is a place at which one of some files gets another name, or is no more what was opened.
type movedFile struct {
	does string
	in   declaration
	at   Evidence
}

// movesOf finds where the sources do so with one of some files, but for what only the end of the program does, and what its start clears away.
func movesOf(c *code, names []fileName) (all []movedFile) {
	if len(names) == 0 {
		return nil
	}
	of := &sourceNames{c: c}
	for _, m := range fileMoves {
		for _, w := range callsNamed(c, lastName(m.name)) {
			if types.ExprString(w.call.Fun) != m.name || m.arg >= len(w.call.Args) || m.does != "renamed" && onlyAtStart(c, w, 0) || atTheEnd(w) {
				continue
			}
			if !slices.ContainsFunc(of.of(w.call.Args[m.arg], w.in), func(to fileName) bool {
				return slices.ContainsFunc(names, func(a fileName) bool { return a.same(to) })
			}) {
				continue
			}
			line, _ := c.parse(w.in.file).lines(w.call)
			at := c.shownAt(w.in.file, line, "the file is %s here, in %s", m.does, w.in.Name.Name)
			if !slices.ContainsFunc(all, func(x movedFile) bool { return x.at.File == at.File && x.at.Line == at.Line }) {
				all = append(all, movedFile{m.does, w.in, at})
			}
		}
	}
	return all
}

// atTheEnd tells of a call that main defers it: it comes when the program is over.
func atTheEnd(w callFrom) bool {
	return w.in.Name.Name == "main" && slices.ContainsFunc(w.around, func(n ast.Node) bool { _, is := n.(*ast.DeferStmt); return is })
}

// nameOpeners are the calls that open or examine a file of a name, which comes first.
var nameOpeners = lazily(`^(os\.(Open|OpenFile|Create|ReadFile|WriteFile|Stat|Lstat)|ioutil\.(ReadFile|WriteFile)|syscall\.Open|unix\.Open)$`)

// namesOpened are the names of the files that the calls on a line open.
func namesOpened(c *code, at stack.Frame) (all []fileName) {
	fn := c.function(at)
	if fn == nil {
		return nil
	}
	of := &sourceNames{c: c}
	for _, call := range c.lineCalls(at) {
		if nameOpeners.MatchString(types.ExprString(call.Fun)) && len(call.Args) > 0 {
			all = append(all, of.of(call.Args[0], declaration{fn, at.File})...)
		}
	}
	return all
}

// says tells it in words, of at most two places.
func sayMoves(moves []movedFile) string {
	var all []string
	for _, m := range moves[:min(len(moves), 2)] {
		all = append(all, fmt.Sprintf("%s at %s", m.does, fileLine(m.at.File, m.at.Line)))
	}
	return andList(all)
}

// adviseMoved begins an advice to keep a file open with what becomes of it by the sources; it is false where they show nothing.
func adviseMoved(f *Finding, at stack.Frame, moves []movedFile, otherwise string) bool {
	if len(moves) == 0 {
		return false
	}
	f.Advice = fmt.Sprintf("The file that is opened at %s is %s: who keeps it open goes on with the old one. "+
		"If it is kept open, whoever does that has to open the new one in the same step, under the lock of those who use it. ", fileLine(at.File, at.Line), sayMoves(moves)) + otherwise
	for _, m := range moves[:min(len(moves), 2)] {
		f.Evidence = append(f.Evidence, m.at)
	}
	return true
}
