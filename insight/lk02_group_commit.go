package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A database within the program that lets one write at a time gains nothing from writes that are moved out of a lock: they wait for each other in the database then.
// What helps is to commit for several requests at once.

// commitAlone is a commit of what one request writes.
type commitAlone struct {
	of string      // the package of the database
	at stack.Frame // the line that commits
}

// commitsAlone tells of what the holder of a lock does that it commits what it alone writes, in a database within the program; nil where it does not, or where the source shows that
// it writes several things in one transaction.
func commitsAlone(c *code, work []stack.Frame) *commitAlone {
	own := slices.IndexFunc(work, func(f stack.Frame) bool { return c.session.Scope().Of(f) == stack.User })
	if own <= 0 {
		return nil
	}
	of := oneWriterIn(work[:own])
	if of == "" {
		return nil
	}
	of = oneWriter[slices.IndexFunc(oneWriter, func(p string) bool { return isOfPackages(of, []string{p}) })]
	at, called := work[own], work[own-1].Func
	name := lastName(called)
	switch fn := c.function(at); {
	case fn == nil || fn.Body == nil:
		return nil
	case name == "Commit", name == "Update" && strings.Contains(of, "bolt"):
		if writesMany(c, fn, at) {
			return nil
		}
	case strings.HasPrefix(name, "Exec") && strings.HasPrefix(called, sqlPackage) && !strings.Contains(called, ".(*Tx)."):
		if hasCall(fn.Body, func(x *ast.CallExpr) bool { return strings.HasPrefix(calledName(x), "Begin") }) || writesMany(c, fn, at) {
			return nil
		}
	default:
		return nil
	}
	return &commitAlone{of: of, at: at}
}

// writesMany tells of a function that it has a loop that writes, before what is committed at a line or within it. A loop around the commit, which tries it again, is none.
func writesMany(c *code, fn *ast.FuncDecl, at stack.Frame) (found bool) {
	s := c.parse(at.File)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if n == nil || !isLoop(n) {
			return !found
		}
		first, last := s.lines(n)
		commits := first <= at.Line && at.Line <= last
		writes := hasCall(n, func(x *ast.CallExpr) bool {
			name := calledName(x)
			return strings.HasPrefix(name, "Exec") || name == "Put" || name == "Delete"
		})
		found = found || writes && !commits || writes && commits && s.withinUpdate(fn, n, at.Line)
		return !found
	})
	return found
}

// withinUpdate tells of a loop that it stands in the function that is given to a call of Update, which begins at a line.
func (s *syntax) withinUpdate(fn *ast.FuncDecl, loop ast.Node, line int) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && calledName(call) == "Update" {
			first, _ := s.lines(call)
			found = found || first == line && call.Pos() < loop.Pos() && loop.End() <= call.End()
		}
		return !found
	})
	return found
}

// advice is what to do about it.
func (a *commitAlone) advice() string {
	text := fmt.Sprintf("Commit several requests together (group commit): let each request put what it writes into a queue, with a channel for its answer; let one goroutine take all that has come, begin one transaction, write them one after the other, "+
		"commit once (now at %s), and only then answer them. Who waits gets an answer only after the commit, and the error if that fails; a statement that fails must not undo what others write (a SAVEPOINT for each, or each again by itself). ", place(a.at))
	if strings.Contains(a.of, "bolt") {
		text += "For bolt, DB.Batch does that for calls that are made at the same time, without the lock around it; it may call its function several times, so this must do nothing else. "
	}
	return text + "To write without the lock alone gains little: the database (" + a.of + ") lets one write at a time."
}

// tellCommits makes a finding say it, with what the source proves that the lock keeps: what is asked in the database and decided by its answer is done in the same transaction.
func (p *protected) tellCommits(f *Finding) {
	if p == nil || p.first == 0 {
		p.tellSync(f)
		return
	}
	f.Summary += "; " + p.says
	f.Advice += fmt.Sprintf(" What line %d gets decides about line %d: do both for one request before the next one, in that transaction.", p.first, p.second)
	f.Evidence = append(f.Evidence, p.evidence...)
}
