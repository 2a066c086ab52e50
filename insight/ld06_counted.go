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

// waysTaken is how often a function took its ways out before it had read the body, by the counts of blocks.
type waysTaken struct {
	calls, taken int64
	at           map[int]int64 // by the line
}

// taken counts them; false where the counts do not tell.
func (b *bodyWays) taken(counts *countedTurns, at stack.Frame) (w waysTaken, ok bool) {
	if counts == nil || len(b.unread) == 0 {
		return w, false
	}
	in, ok := counts.d.at(at)
	if !ok {
		return w, false
	}
	w.at = map[int]int64{}
	eachNode(in.body(), func(n ast.Node, around []ast.Node) {
		_, line, _ := counts.d.t.at(n.Pos())
		_, last, _ := counts.d.t.at(n.End())
		switch n.(type) {
		case *ast.AssignStmt:
			if w.calls == 0 && line <= at.Line && at.Line <= last {
				n, known := counts.reaches(around, n)
				w.calls, ok = n, ok && known
			}
		case *ast.ReturnStmt:
			if slices.Contains(b.unread, line) {
				n, known := counts.reaches(around, n)
				w.at[line] += n
				w.taken, ok = w.taken+n, ok && known
			}
		}
	})
	return w, ok && w.calls > 0
}

// explain tells whether they are taken often enough to be why connections were made for a part of the answers.
func (w waysTaken) explain(part float64) bool {
	return w.taken > 0 && float64(w.taken) >= explainsMost*part*float64(w.calls)
}

// tellWays says what the source does with the body of the answers of a line, for a part of which connections were made: an early way out that
// was taken too seldom for that is no more than a doubt. It tells whether the counts show that such a way is why.
func tellWays(f *Finding, b *bodyWays, sources connSources, at stack.Frame, part float64) (why bool) {
	others := sources.others(at)
	w, counted := b.taken(blockCountsOf(sources.code), at)
	switch {
	case !counted || b.handed > 0:
		b.tell(f, others)
		return false
	case w.explain(part):
		b.unread = slices.DeleteFunc(b.unread, func(line int) bool { return w.at[line] == 0 })
		b.counted = &w
		return b.tell(f, others)
	}
	if others != "" {
		f.Advice = strings.ToUpper(others[:1]) + others[1:]
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("the function also returns before it has read the body, but in %s of %s: that explains few of these connections", unit.Count(w.taken), unit.Plural(w.calls, "call")))
	return false
}

// whereAnswersAreRead leaves of what the source sets only what closes each connection, or keeps two to a host, where the bodies are why: how many
// are kept to all hosts together matters only for those that can be.
func whereAnswersAreRead(why bool, all []connSetting) []connSetting {
	if why {
		all = slices.DeleteFunc(all, func(x connSetting) bool { return !x.sure && !x.unset })
	}
	return all
}
