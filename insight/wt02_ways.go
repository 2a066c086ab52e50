package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// callWay is one of several ways by which a loop makes calls.
type callWay struct {
	*outward
	at stack.Frame // its line in the loop
}

// withOtherWays adds to calls that a loop makes those of the same kind that it makes by other ways through the code, as two
// queries for each item are: below the same line, or at another line of the loop. all are those of the group.
func withOtherWays(in *Input, t *traced, o *outward, all []*outward) (sum *outward, ways []callWay) {
	at, looped := in.loopLine(o.path)
	from := slices.Index(o.path, at)
	if !looped {
		return o, nil
	}
	total := *o
	ways = []callWay{{o, at}}
	for _, x := range all {
		if x.kind != o.kind || slices.Equal(x.path, o.path) {
			continue
		}
		inner, is := in.loopLine(x.path)
		if !is || !slices.Equal(x.path[slices.Index(x.path, inner)+1:], o.path[from+1:]) || !sameLoop(in.code, inner, at) {
			continue // in a loop of its own, or called from elsewhere
		}
		if x.path[0] != o.path[0] && !likewise(in.code, t, o, x) {
			continue
		}
		_, asks := askingAround(in.code, x.path)
		_, chained := chainedAround(in.code, x.path, innerOf(t.Frames(x.stack), x.path))
		if asks || chained || x.each() < sameTurns*o.each() || sameTurns*x.each() > o.each() {
			continue
		}
		if x.path[0] == o.path[0] && x.statement != o.statement && x.statement != facts.NoStatement && o.statement != facts.NoStatement {
			total.time += x.time // another part of the same queries
			continue
		}
		ways = append(ways, callWay{x, inner})
		total.calls += x.calls
		total.units = max(total.units, x.units)
		total.time += x.time
		total.most += x.most
		total.fit = 0 // of one way alone
	}
	for _, x := range answerReads(in, o, from, all) {
		total.time += x.time
		total.reads = append(total.reads, x)
	}
	if len(ways) == 1 {
		ways = nil
	}
	return &total, ways
}

// sameTurns is how far the numbers of calls by two ways may be from each other, where each turn makes both: chosen.
const sameTurns = 0.5

// sameLoop tells of two lines that the innermost loop around both is the same one.
func sameLoop(c *code, a, b stack.Frame) bool {
	if a.File != b.File || a.Func != b.Func {
		return false
	}
	la, lb := loopsAround(c, a), loopsAround(c, b)
	return a == b || len(la) > 0 && len(lb) > 0 && ast.Node(la[len(la)-1].stmt) == ast.Node(lb[len(lb)-1].stmt)
}

// likewise tells of calls at two lines that the same is to be said of both: that they carry batches, change something, or
// none of these. Calls on files are as different as what they do.
func likewise(c *code, t *traced, a, b *outward) bool {
	if a.kind == "file_call" {
		return false
	}
	var fa, fb Finding
	tellKind(c, t, a, &fa)
	tellKind(c, t, b, &fb)
	return fa.Title == fb.Title && fa.Severity == fb.Severity && (fa.Advice == "") == (fb.Advice == "")
}

// manyLeaves tells whether the calls of some ways are made at several lines.
func manyLeaves(ways []callWay) bool {
	return slices.ContainsFunc(ways, func(w callWay) bool { return w.path[0] != ways[0].path[0] })
}

// callsWords are what calls of a kind are together.
var callsWords = map[string]string{
	"network": "calls to a peer", "network_write": "calls to a peer", "dial": "new connections", "dns": "DNS lookups", "tls": "TLS handshakes", "process": "other processes", "query": "queries of the database",
}

// leavesText says of calls that a loop makes at several lines how many there are at each.
func leavesText(o *outward, ways []callWay, about string) string {
	var each []string
	for _, w := range ways {
		where := fmt.Sprintf("%s%s", timesOf(w.each()), atFrame(w.path[0]))
		if w.at != w.path[0] {
			where += fmt.Sprintf(", called%s", atFrame(w.at))
		}
		each = append(each, where)
	}
	return fmt.Sprintf("%s %s %s%s %s, one after another, in a loop: %s", unitOf(o.group), o.verb(), about, timesOf(o.each()), callsWords[o.kind], strings.Join(each[:len(each)-1], "; ")+"; and "+each[len(each)-1])
}

// waysText says that calls at one line are made by several ways.
func waysText(ways []callWay) string {
	if len(ways) < 2 || manyLeaves(ways) {
		return ""
	}
	var each []string
	for _, w := range ways {
		each = append(each, timesOf(w.each()))
	}
	return fmt.Sprintf("; the loop makes it by %d ways, %s times", len(ways), strings.Join(each[:len(each)-1], ", ")+" and "+each[len(each)-1])
}

// besides is what units spend at the lines of calls beyond the waits for what is called: in the system calls that send and
// read, and waiting for a P whenever an answer is there. Without the calls it is not there either.
type besides struct {
	calls, ready time.Duration
}

func (b besides) time() time.Duration { return b.calls + b.ready }

// mostOfLine is the part of the calls at a line that have to be of a loop, for what else is spent there to be of them: chosen.
// eachWait is how often units may wait for a P there for each wait and each system call: more are of computing that is interrupted.
const (
	mostOfLine = 0.95
	eachWait   = 1.2
)

// besidesOf finds that of calls to a peer; all are the calls of the group.
func besidesOf(o *outward, ways []callWay, all []*outward) (b besides) {
	if o.kind != "network" && o.kind != "network_write" {
		return b
	}
	if ways == nil {
		ways = []callWay{{outward: o}}
	}
	for at, ours := range byLeaf(ways) {
		total := int64(0)
		for _, x := range all {
			if x.path[0] == at && farOf(x.kind) == farPeer {
				total += x.calls
			}
		}
		if float64(ours) < mostOfLine*float64(total) {
			continue
		}
		calls, ready, waits, readies := time.Duration(0), time.Duration(0), int64(0), int64(0)
		for i := range o.group.All.Rows {
			row := &o.group.All.Rows[i]
			if row.Site.Frame != at {
				continue
			}
			switch key := row.Kind.Key(); {
			case key == "socket_call":
				calls += row.Time
				waits += row.Count
			case key == "runnable":
				ready += row.Time
				readies += row.Count
			case row.Kind.Outside():
				waits += row.Count
			}
		}
		b.calls += calls
		if float64(readies) <= eachWait*float64(waits) {
			b.ready += ready
		}
	}
	return b
}

// byLeaf adds up the calls of ways by the line nearest to the call.
func byLeaf(ways []callWay) map[stack.Frame]int64 {
	n := map[stack.Frame]int64{}
	for _, w := range ways {
		n[w.path[0]] += w.calls
	}
	return n
}

// text says what is spent besides, and what that makes together with the waits.
func (b besides) text(o *outward) string {
	var parts []string
	if o.group.All.Share(b.calls) >= leastBesides {
		parts = append(parts, fmt.Sprintf("%s in system calls", unit.Percent(o.group.All.Share(b.calls))))
	}
	if o.group.All.Share(b.ready) >= leastBesides {
		parts = append(parts, fmt.Sprintf("%s waiting for a P", unit.Percent(o.group.All.Share(b.ready))))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("; there it spends %s as well, %s in all", strings.Join(parts, " and "), unit.Percent(o.group.All.Share(o.time+b.time())))
}

// leastBesides is the part of a unit's time from which on it is told: chosen.
const leastBesides = 0.01

// leafRows are the parts of a group's time that go into calls at the lines of ways.
func leafRows(o *outward, ways []callWay) (rows []*facts.UnitRow) {
	rows = o.rows()
	others := slices.Clone(o.reads)
	for _, w := range ways {
		others = append(others, w.outward)
	}
	for _, x := range others {
		for _, row := range x.rows() {
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// ofManyCalls tells of CPU time, or of system calls, that they are those of calls that a loop makes one after another: seen
// first at the line of these.
func ofManyCalls(t two) bool {
	if t.b.Rule != wt02.ID || t.a.Rule != cp04.ID && t.a.Rule != cp01.ID || !t.notLess() {
		return false
	}
	line := firstLine(t.a)
	return line != "" && slices.ContainsFunc(t.b.waits, func(row *facts.UnitRow) bool {
		return (row.Kind.Key() != "file_call" || t.b.Title == ownTransactionsTitle) && evidenceLine(Evidence{File: row.Site.Frame.File, Line: row.Site.Frame.Line}) == line
	})
}
