package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Why connections are not used again, as far as the source and what was counted tell: the peer may be the same program, and an early way out
// may be taken too seldom.

// leastOwn is the part of the connections that a program opens from which on the ones that it accepts may be the same; chosen: some may have been
// accepted before the trace began.
const leastOwn = 0.9

// tellOwnServer names the line by which the program itself closes connections as a server, where it accepted as many as it opened.
func tellOwnServer(f *Finding, t *traced, sources connSources, opened int64) {
	accepted := t.served()
	if float64(accepted) < leastOwn*float64(opened) || len(sources.closings()) == 0 {
		return
	}
	f.Summary += fmt.Sprintf("; it accepted %s itself meanwhile", unit.Plural(accepted, "connection"))
	tellClosings(f, sources)
}

// explainsMost is the part of the new connections that early ways out have to be taken for at least to be why. Chosen.
const explainsMost = 0.5

// tooSeldom tells of the early ways out of a function that too few of its calls take them to explain the connections that were made for a part of
// the answers, by the counts of blocks; false where these do not tell.
func (b *bodyWays) tooSeldom(counts *countedTurns, at stack.Frame, part float64) (taken, calls int64, seldom bool) {
	if counts == nil || len(b.unread) == 0 {
		return 0, 0, false
	}
	in, ok := counts.d.at(at)
	if !ok {
		return 0, 0, false
	}
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		_, line, _ := counts.d.t.at(n.Pos())
		_, last, _ := counts.d.t.at(n.End())
		switch n.(type) {
		case *ast.AssignStmt:
			if calls == 0 && line <= at.Line && at.Line <= last {
				n, known := counts.reaches(around, n)
				calls, ok = n, ok && known
			}
		case *ast.ReturnStmt:
			if slices.Contains(b.unread, line) {
				n, known := counts.reaches(around, n)
				taken, ok = taken+n, ok && known
			}
		}
	})
	return taken, calls, ok && calls > 0 && float64(taken) < explainsMost*part*float64(calls)
}

// tellWays says what the source does with the body of the answers of a line, for a part of which connections were made: an early way out that
// was taken too seldom for that is no more than a doubt.
func tellWays(f *Finding, b *bodyWays, sources connSources, at stack.Frame, part float64) {
	others := sources.others(at)
	taken, calls, seldom := b.tooSeldom(blockCountsOf(sources.code), at, part)
	if !seldom || b.handed > 0 {
		b.tell(f, others)
		return
	}
	if others != "" {
		f.Advice = strings.ToUpper(others[:1]) + others[1:]
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("the function also returns before it has read the body, but in %s of %s: that explains few of these connections", unit.Count(taken), unit.Plural(calls, "call")))
}
