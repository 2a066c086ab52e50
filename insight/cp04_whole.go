package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Whole files that are written, created and renamed again and again: which of the lines append to one, and which replace one so that a crash leaves the old or the
// new one.

// What is said of files that a program makes as its work: where nothing shows that it is the same one each time, and where the source shows that
// it is another one.
const (
	ownFileDoubt  = "nothing shows that it is the same file each time: to make as many files as there are items may be what the loop is for"
	ownFilesDoubt = "by the source it is another file each time: to make as many files as there are items may be what the program is for"
)

// makesFiles tells of calls that make files that each makes one of its own, by the source, in a program that runs to its end by itself: its
// output may be just these files.
func makesFiles(in *Input, way []stack.Frame, inner string) bool {
	return byItself(in) && eachOwnFile(in.code, way, inner)
}

// wholeLines is how many of the heaviest lines are looked at: as many as a finding shows.
const wholeLines = 3

// tellWhole gives the advice for calls each of which writes, creates, renames or removes a whole file.
func tellWhole(h *hit, f *Finding) {
	d := derivationsOf(h.in.code)
	f.Advice = wholeFilesAdvice
	told := map[codeLine]bool{}
	for i, l := range h.lines[:min(len(h.lines), wholeLines)] {
		in, ok := d.at(l.Caller)
		if !ok || in.lit != nil {
			continue
		}
		at := codeLine{l.Caller.File, l.Caller.Line}
		if open, ok := appendsAndCloses(d, in.decl); ok && d.placeOf(open.open) == at {
			f.Advice = strings.Replace(f.Advice, "Each call is for a whole file, so that a buffer in front makes none of them rarer.", "Where a call is for a whole file, a buffer in front makes none of them rarer.", 1) + fmt.Sprintf(" %s opens a file to append to it, and it is closed again: if it is often the same one, keep those that are used most open, within what may be open at a time.", at.text())
			continue
		}
		if rename, ok := replacesFile(d, in.decl, at); ok {
			if i == 0 {
				f.Severity = Info
			}
			if !told[rename] {
				f.Doubts = append(f.Doubts, fmt.Sprintf("a file that is written as a whole is renamed at %s, as a state is that has to survive a crash: fewer of these lose what came after the last one. If each step has to be kept, append what is new to a log instead", rename.text()))
			}
			told[rename] = true
		}
	}
}

// replacesFile finds where a function renames the file that it writes on a line.
func replacesFile(d *derivations, decl *ast.FuncDecl, at codeLine) (rename codeLine, ok bool) {
	var written string
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || len(call.Args) == 0 {
			return true
		}
		switch name := types.ExprString(call.Fun); {
		case d.placeOf(call) == at && slices.Contains([]string{"os.WriteFile", "os.Create", "os.OpenFile", "os.Rename"}, name):
			written = types.ExprString(call.Args[0])
			if name == "os.Rename" {
				rename, ok = at, true
			}
		case name == "os.Rename" && written != "" && types.ExprString(call.Args[0]) == written:
			rename, ok = d.placeOf(call), true
		}
		return true
	})
	return rename, ok
}
