package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt02 = &Rule{
	ID: "WT02", Title: "N+1 queries: the same call is made repeatedly, one after another",
	About: "A request (or a task, or a program that runs to its end) calls a peer, opens a file or starts a process many times along the same code path, and waits for each answer before " +
		"making the next call (N+1 queries). Each call pays a round trip; the request takes longer with each item. An answer that comes in pieces is one call.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"calls", 5, "calls in one", "chosen: from here on one call for all is worthwhile"},
		{"share", 0.2, "share of the time", "chosen: less is rarely the first thing to change"},
		{"warning", 0.4, "share of the time", "chosen: a factor of two is within reach"},
		{"each", 200e-6, "s", "chosen: a unit's wait for all of them; less is scheduler and kernel overhead"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkManyCalls),
}

// callWords say what calls of a kind are, and what one does.
var callWords = map[string][2]string{
	"network":       {"the same call to a peer", "waits for the answer"},
	"network_write": {"the same call to a peer", "waits for the peer to read it"},
	"dial":          {"a new connection", "connects"},
	"dns":           {"the same DNS lookup", "waits for DNS"},
	"tls":           {"a TLS handshake", "waits for the handshake"},
	"file_call":     {"a call on files", "waits for the file system"},
	"process":       {"another process", "waits for it"},
	"query":         {"a query of the database", "asks the database"},
}

func checkManyCalls(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	if name := g.Unit.String(); name == "benchmark" || name == "test" {
		return nil, "a " + name + " may repeat the same call; that is its purpose"
	}
	found, fine = checkSameCalls(r, in, t, g)
	if f, ok := pingsFinding(r, in, t, g); ok {
		return append([]Finding{f}, found...), ""
	}
	f, own := ownTransactionsFinding(r, in, t, g)
	switch {
	case own && len(found) > 0 && (found[0].Impact == nil || found[0].Impact.Value <= f.Impact.Value):
		return append([]Finding{f}, found...), ""
	case own:
		return append(found, f), ""
	}
	return found, fine
}

// checkSameCalls looks for calls of what is outside of the program, and for queries.
func checkSameCalls(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	var most *outward
	calls := outwards(g)
	for _, o := range calls {
		if asking, asks := askingAround(in.code, o.path); asks {
			fine = cmp.Or(fine, fmt.Sprintf("%s makes %s, %s", unitOf(g), o.callsAt(asking.at), asking.why()))
			continue
		}
		if at, chained := chainedAround(in.code, o.path, innerOf(t.Frames(o.stack), o.path)); chained {
			fine = cmp.Or(fine, fmt.Sprintf("%s makes %s, each of which needs what an earlier one has given: they cannot be combined, nor made concurrently", unitOf(g), o.callsAt(at)))
			continue
		}
		if o.kind == "file_call" && walks(t.Frames(o.stack)) && !syncs(t.Frames(o.stack)) {
			each := "each of them"
			if o.calls > 0 {
				each = "each of " + timesOf(o.each())
			}
			fine = cmp.Or(fine, fmt.Sprintf("%s goes through a tree of files, and makes a call%s for %s: none of them is made twice", unitOf(g), atFrame(o.path[0]), each))
			continue
		}
		if all, ways := withOtherWays(in, t, o, calls); all.isMany(r) {
			f := manyCallsFinding(r, in, t, all, ways, besidesOf(all, ways, calls))
			withOuter(r, in, t, all, ways, calls, &f)
			tellFurther(r, in, t, all, ways, calls, &f)
			return []Finding{f}, ""
		}
		if most == nil || o.each() > most.each() {
			most = o
		}
	}
	asked := queries(in, t, g)
	for _, o := range asked {
		_, asks := askingAround(in.code, o.path)
		_, chained := chainedAround(in.code, o.path, innerOf(t.Frames(o.stack), o.path))
		if asks || chained {
			fine = cmp.Or(fine, fmt.Sprintf("%s makes a query%s about %.0f times, one after another: by the source, whether there is another one, or what it asks for, depends on those before", unitOf(g), atFrame(o.path[0]), o.each()))
			continue
		}
		if all, ways := withOtherWays(in, t, o, asked); all.isMany(r) {
			f := manyCallsFinding(r, in, t, all, ways, besides{})
			withOuter(r, in, t, all, ways, asked, &f)
			return []Finding{f}, ""
		}
	}
	if fine != "" {
		return nil, fine
	}
	if most == nil {
		return nil, unitOf(g) + " calls nothing outside the program"
	}
	if most.calls == 0 {
		return nil, unitOf(g) + " repeats no call that takes long by one way through the code"
	}
	return nil, fmt.Sprintf("%s repeats no call that takes long by one way through the code: most often one%s, %s, %s of its time", unitOf(g), atFrame(most.path[0]), plurals(most.each(), "time"), unit.Percent(most.share()))
}

// callsAt are the calls at a place, with how many they are. Of what goes on with earlier ones, such as the reading of a file, no calls are counted.
func (o *outward) callsAt(at stack.Frame) string {
	if o.calls == 0 {
		return "calls" + atFrame(at)
	}
	return fmt.Sprintf("a call%s %s times", atFrame(at), timesOf(o.each()))
}

// atFrame is where a call is, as a clause.
func atFrame(f stack.Frame) string { return atPlace(facts.UnitSite{Frame: f}) }

// isMany tells whether calls are as many, and take as long, as the rule asks.
func (o *outward) isMany(r *Rule) bool {
	return o.each() >= r.param("calls") && o.share() >= r.param("share") && (o.time/unitCount(o.group)).Seconds() >= r.param("each")
}

func manyCallsFinding(r *Rule, in *Input, t *traced, o *outward, ways []callWay, more besides) Finding {
	g := o.group
	words := callWords[o.kind]
	at, looped := in.loopLine(o.path)
	near, _ := nearLoop(in.code, o.path, innerOf(t.Frames(o.stack), o.path))
	if near.within() {
		at = near.items
	}
	times := timesOf(o.each())
	if o.kind == "query" { // those of units that the trace has not whole are counted too
		times = fmt.Sprintf("about %.0f", o.each())
	}
	text := manyCallsText(o, ways, at, looped, times)
	back, calledBack := calledBackBy(o.path, at)
	if calledBack && !manyLeaves(ways) {
		text += fmt.Sprintf(", which calls %s back for each (%s)", stack.Short(back.Func), fileLine(back.File, back.Line))
	}
	text += fmt.Sprintf(": %s of its time, %s each", unit.Percent(o.share()), unit.Duration(o.one()))
	if !manyLeaves(ways) && len(o.reads) == 0 {
		text += o.unevenly(t)
	}
	text += onAverage(g)
	text += readsText(o)
	text += waysText(ways)
	text += more.text(o)
	if grows := o.grows(); grows {
		text += fmt.Sprintf("; each additional call makes it %s longer (up to %s calls)", unit.Duration(o.slope), unit.Count(o.most))
	}
	f := r.answer(Found, "%s", text)
	share := g.All.Share(o.time + more.time())
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.9)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(o.stack), at, "%s times in each, %s", times, words[1])}
	if manyLeaves(ways) {
		f.Evidence = nil
		for _, w := range ways {
			f.Evidence = append(f.Evidence, t.seenAt(t.Frames(w.stack), w.at, "%s times in each, %s", timesOf(w.each()), words[1]))
		}
	}
	if calledBack {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(o.stack), back, "the loop calls this for each item"))
	}
	if len(g.Slowest) > 0 && g.Wall.Count > 1 {
		one := g.Slowest[0]
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(o.stack), at, "the slowest took %s: loupe trace requests %d", unit.Duration(one.Span.Len()), one.ID).during(t, one.Span.Start, one.Span.End).ofGoroutine(one.G))
	}
	f.Advice = manyCallsAdvice(t, o)
	f.Doubts = in.traceDoubts(t)
	tellKind(in.code, t, o, &f)
	tellProcesses(in, o, looped, &f)
	tellOneConnection(in.code, o, &f)
	if loop, ok := serialAddress(in.code, t, o.stack); ok && (o.kind == "dial" || o.kind == "tls") {
		f.Advice = "By the source, each goes to another address, that of an item of the loop at " + loop + ": they cannot be reused. Make them concurrently, with a limit (errgroup with SetLimit), so that a peer that does not answer delays nobody else; and give each a time limit that suits a peer that is up."
	}
	f.Verify = "Record again under the same load: loupe trace requests should show one call here instead of many, and the time should no longer grow with the number of items."
	if strings.HasPrefix(f.Title, "Batches are") {
		f.Verify = "Record again under the same load: loupe trace requests should show fewer calls here."
	}
	f.more = o.kind == "query" // to read the rows is done elsewhere
	switch {
	case near.within():
		near.tell(&f)
	case o.kind == "network":
		f.Doubts = append(f.Doubts, "if each call needs the previous answer (pages, links), only a better API of the peer helps; if each is a retry of a failed call, more at a time only burden a busy peer")
	}
	if first, ok := firstOf(in.code, o.path); ok {
		said := len(f.Doubts)
		if tellEnd(in.code, o.path, &f); len(f.Doubts) == said && first.earlier > 0 && !first.retries {
			f.Doubts = append(f.Doubts, fmt.Sprintf("by the source, what earlier answers have done decides at %s whether the next call is made: made concurrently, more calls would be made than that allows", fileLine(first.at.File, first.earlier)))
		}
		if first.retries {
			f.Severity = Info // the next of several that can do the same
			f.Advice = asking{seeks: true}.advice()
		}
	}
	if o.kind == "network" {
		tellLimiterBeside(in, t, o.path, o.calls, &f)
	}
	if o.kind == "file_call" && syncs(t.Frames(o.stack)) {
		weighSync(in.code, o.path, &f)
	}
	if o.kind == "file_call" && syncs(t.Frames(o.stack)) && gathersBefore(in.code, o.path[0]) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the function has a loop of its own, so each sync may be that of many writes already: larger groups need fewer, and lose more if the machine fails")
	}
	tellWholeFiles(in, t, o, &f)
	if relays(t, g, o.calls) {
		f.Severity = Info
		f.Doubts = append(f.Doubts, relayDoubt)
	}
	if g.Unit.String() == "task" {
		f.Doubts = append(f.Doubts, "if the task is a loop over independent work, this is its purpose")
	}
	namelessDoubt(in, g, &f)
	tellCountedAgain(in, t.Frames(o.stack), &f)
	f.waits = leafRows(o, ways)
	return f
}

// manyCallsText says how many calls are made, and where.
func manyCallsText(o *outward, ways []callWay, at stack.Frame, looped bool, times string) string {
	if manyLeaves(ways) {
		about := ""
		if o.kind == "query" {
			about = "about "
		}
		return leavesText(o, ways, about)
	}
	text := fmt.Sprintf("%s %s %s %s times, one after another,%s", unitOf(o.group), o.verb(), callWords[o.kind][0], times, atFrame(o.path[0]))
	if at != o.path[0] {
		text += fmt.Sprintf(", called%s", atFrame(at))
	}
	if looped {
		text += " in a loop"
	}
	return text
}

// verb is what a unit does with calls of a kind.
func (o *outward) verb() string {
	if o.kind == "process" {
		return "starts"
	}
	return "makes"
}

// onAverage says over how many units a figure of one was taken.
func onAverage(g facts.UnitGroup) string {
	if over := overUnits(g); over != "" {
		return "," + over
	}
	return ""
}

// unevenly says of calls whose average a few long ones make how long they are.
func (o *outward) unevenly(t *traced) string {
	for _, b := range t.OwnBlocks(func(b *sched.Block) bool { return b.Stack == o.stack }) {
		if half := b.Wait.Quantile(0.5); half > 0 && b.Wait.Count <= o.calls+o.calls/5 && o.one() > 2*half && b.Wait.Max > o.one() {
			return fmt.Sprintf(" on average (half of them wait no longer than %s, the longest %s)", unit.Duration(half), unit.Duration(b.Wait.Max))
		}
	}
	return ""
}

// grows tells whether the length of units follows the number of calls.
func (o *outward) grows() bool {
	return o.fit >= 0.5 && o.slope > 0 && float64(o.most) >= 1.3*o.each() && o.slope < 3*o.one() && o.slope > o.one()/3
}

// loopLine finds where on a way through the code the loop is that makes a call again and
// again: the frame nearest to the call whose line lies in one; else the nearest.
func (in *Input) loopLine(path []stack.Frame) (at stack.Frame, looped bool) {
	for _, f := range path {
		if lineInLoop(in.code, f) == loopYes {
			return f, true
		}
	}
	return path[0], false
}

// manyCallsAdvice is what to do, by what is called.
func manyCallsAdvice(t *traced, o *outward) string {
	switch {
	case o.kind == "query":
		return "Ask for all at once: one query with many keys (IN, a join); or load what the loop needs beforehand, and look it up in memory (N+1 queries)."
	case o.kind == "process":
		return oneProcessForAll // see [tellProcesses]
	case o.kind == "dial" || o.kind == "tls":
		return "Keep one connection and use it for all of them (one client for all requests, bodies read to the end and closed), and ask for all at once if the peer supports it (a batch, a join)."
	case o.kind == "dns":
		return "Resolve the name once before the loop, or keep the connection that it was resolved for."
	case o.kind == "file_call" && slices.Contains([]fileCall{fileExamines, fileWalks}, fileCallOf(t.Frames(o.stack))):
		return "Read a folder in one go (os.ReadDir), whose entries have names and types, instead of a call for each file. If it is the same file each time, examine it once, before the loop."
	case o.kind == "file_call" && (fileCallOf(t.Frames(o.stack)) == fileMakes || fileCallOf(t.Frames(o.stack)) == fileWrites):
		return fileCallOf(t.Frames(o.stack)).advice()
	case o.kind == "file_call" && fileCallOf(t.Frames(o.stack)) == fileOpens:
		return "If it is the same file each time, open it once, before the loop. If each is another one, keep in memory those that are read again, and write only those whose content has changed."
	case o.kind == "file_call" && fileCallOf(t.Frames(o.stack)) == fileLists:
		return "If it is the same folder each time, list it once, before the loop, and keep the result. If each is another one, go through them once for all that is wanted of them."
	case o.kind == "file_call":
		return "If it is the same file each time, open and read it once, before the loop, and keep the result. If each is another one, keep those that are read again in memory, or read several at once, with a limit (errgroup with SetLimit)."
	}
	return "Ask for all at once: one query with many keys (IN, a join), a bulk or batch call, a pipeline; load what the loop needs beforehand, and look it up in memory (N+1 queries). If the peer has no such call, make the calls concurrently, with a limit (errgroup with SetLimit)."
}

// gathersBefore tells whether the function of a line has a loop that the line is not in: what it
// writes to disk there may be what the loop has gathered.
func gathersBefore(c *code, at stack.Frame) (found bool) {
	fn, s := c.scopeAt(at), c.parse(at.File)
	if fn == nil {
		return false
	}
	ast.Inspect(fn.body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			found = found || !s.covers(n, at.Line)
		}
		return !found
	})
	return found
}

// syncs tells whether a stack makes a file reach the disk.
func syncs(frames []stack.Frame) bool {
	return slices.ContainsFunc(frames, func(f stack.Frame) bool {
		name, isCall := strings.CutPrefix(f.Func, "syscall.")
		if !isCall {
			name, isCall = strings.CutPrefix(f.Func, "golang.org/x/sys/unix.")
		}
		return f.Func == "os.(*File).Sync" || isCall && slices.Contains([]string{"fsync", "fdatasync", "msync", "sync"}, strings.ToLower(name))
	})
}
