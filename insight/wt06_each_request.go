package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt06 = &Rule{
	ID: "WT06", Title: "Each request opens a new connection or file, looks up a name or starts a process",
	About: "Each request starts a process, looks up a name, opens a connection with its handshake, opens the same file, or makes or loads something with the same arguments as all others, and " +
		"waits for it: work that could be done once and kept. That the arguments are the same is read in the source. CP18 covers repeated computation instead of waiting.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.1, "share of the time", "chosen: it is pure overhead"},
		{"warning", 0.3, "share of the time", "chosen: requests then take two thirds of the time"},
		{"made", 0.5, "times in one", "chosen: less is a pool or a cache filling up"},
		unitsParam,
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkEachRequest),
}

// anew is what can be asked for anew, by the kind of the call.
type anew struct {
	what   string   // "starts", of "a process"
	one    string   // "a process"
	kinds  []string // of the rows that are a part of it
	advice string
	// until is, of what may be done without any wait, as a connect on the same machine, what is waited for: only the waits are counted.
	until string
}

// anews are those of the kinds of calls that have any.
var anews = map[string]anew{
	"process":   {"starts", "a process", []string{"process", "pipe"}, "Do not start a process for each request: do it in the program (a library), keep one running and talk to it through a pipe, or cache its answers.", ""},
	"dial":      {"makes", "a connection", []string{"dial", "dns", "tls"}, "Create one client and keep it: bodies read to the end and closed, enough idle connections (MaxIdleConnsPerHost), no DisableKeepAlives, no separate client or transport per request.", "for peers to accept connections"},
	"tls":       {"makes", "a TLS handshake", []string{"dial", "dns", "tls"}, "Reuse connections (keep-alive), so that handshakes are rare: one client and one tls.Config for all requests, with a session cache.", "for TLS handshakes"},
	"dns":       {"makes", "a DNS lookup", []string{"dns"}, "Keep connections alive, so that their names need not be looked up again, or cache the addresses for a few seconds.", "for DNS lookups"},
	"file_call": {"opens or examines", "a file", []string{"file_call"}, "Read the file once and keep the result; read it again when it has changed, or from time to time.", ""},
}

// needs says, of what requests spend little on at a line, how much that is, and how often where all calls are counted.
func (a anew) needs(g facts.UnitGroup, at stack.Frame, each float64, spent time.Duration) string {
	share := unit.Percent(g.All.Share(spent))
	if a.until != "" {
		return fmt.Sprintf("%s waits %s of its time %s%s", unitOf(g), share, a.until, atFrame(at))
	}
	return fmt.Sprintf("%s needs %s%s %s times, %s of its time", unitOf(g), a.one, atFrame(at), unit.Number(each), share)
}

// callsAt is how many calls of the kind of one a group makes at its line, whichever way leads there.
func callsAt(g facts.UnitGroup, c *facts.UnitCall) (n int64) {
	for i := range g.Calls {
		if o := &g.Calls[i]; o.Kind == c.Kind && o.Path[0] == c.Path[0] {
			n += o.Count
		}
	}
	return n
}

func checkEachRequest(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	fine = unitOf(g) + " starts no process, opens no connection and opens no file that it waits for"
	if name := g.Unit.String(); name != "request" && name != "task" {
		return nil, "only requests and tasks are examined, which repeat the same work"
	}
	found = makesTheSame(r, in, t, g)
	nearest := time.Duration(-1)
	seen := map[stack.Frame]bool{}
	for i := range g.Calls {
		c := &g.Calls[i]
		kind, ok := anews[c.Kind.Key()]
		if !ok || c.Count == 0 || seen[c.Path[0]] || c.Kind.Key() == "file_call" && syncs(t.Frames(c.Stack)) {
			continue
		}
		seen[c.Path[0]] = true
		rows, spent := partsOf(g, c.Path[0], kind.kinds)
		each := float64(callsAt(g, c)) / float64(max(1, g.Wall.Count+nameless(in.Facts.Units(), g)))
		if len(found) > 0 && found[0].waits != nil && overlaps(found[0].waits, rows) {
			continue // it is a part of what is made
		}
		if each < r.param("made") || g.All.Share(spent) < r.param("share") {
			if spent > nearest { // the one that comes nearest
				nearest, fine = spent, kind.needs(g, c.Path[0], each, spent)
			}
			continue
		}
		found = append(found, eachRequestFinding(r, in, t, g, c, kind, rows, spent))
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return b.Score - a.Score })
	return found[:min(2, len(found))], fine
}

// partsOf are the parts of a group's time of some kinds at a line.
func partsOf(g facts.UnitGroup, at stack.Frame, kinds []string) (rows []*facts.UnitRow, spent time.Duration) {
	for i := range g.All.Rows {
		if row := &g.All.Rows[i]; row.Site.Frame == at && slices.Contains(kinds, row.Kind.Key()) {
			rows = append(rows, row)
			spent += row.Time
		}
	}
	return rows, spent
}

func eachRequestFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup, c *facts.UnitCall, kind anew, rows []*facts.UnitRow, spent time.Duration) Finding {
	share, each := g.All.Share(spent), float64(callsAt(g, c))/float64(max(1, g.Wall.Count))
	often := unit.Number(each) + " times in each"
	if kind.until != "" {
		often = "and waits for that " + often
	}
	f := r.answer(Found, "%s %s %s%s, %s: %s of its time, %s of %s%s", unitOf(g), kind.what, kind.one, atFrame(c.Path[0]), often,
		unit.Percent(share), unit.Duration(spent/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g)), overUnits(g))
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.7)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(c.Stack), c.Path[0], "%s, %s", strings.TrimPrefix(often, "and "), unit.Duration(spent/unitCount(g)))}
	f.Advice = kind.advice
	if key := c.Kind.Key(); key == "dial" || key == "tls" {
		d := whoDials(t.Frames(c.Stack), in.Session.Scope().IsUser)
		f.Advice, f.connects = cmp.Or(d.keepAdvice(key == "tls"), f.Advice), true
	}
	f.Verify = "Record again under the same load: loupe trace requests should no longer show this wait in each request."
	f.Doubts = in.traceDoubts(t, "if each request needs a different one, such as the file that it asks for, there is nothing to keep")
	if c.Kind.Key() == "file_call" {
		f.Severity = Info // a server of files does what it is there for
		switch call := fileCallOf(t.Frames(c.Stack)); call {
		case fileExamines, fileWalks, fileLists:
			f.Advice = "Keep what was found out about the files, and examine them again when they may have changed, or from time to time."
		case fileWrites, fileMakes:
			f.Advice = call.advice()
		}
	}
	namelessDoubt(in, g, &f)
	f.waits = rows
	return f
}

// makesTheSame finds what requests make or load with the same arguments as all others, and wait
// for.
func makesTheSame(r *Rule, in *Input, t *traced, g facts.UnitGroup) []Finding {
	type made struct {
		sameCall
		calls int64
		stack stack.ID
		lines map[stack.Frame]bool // where it waits
	}
	var all []*made
	for i := range g.Calls {
		c := &g.Calls[i]
		inner := ""
		if frames := t.Frames(c.Stack); len(c.Path) > 0 {
			if at := slices.Index(frames, c.Path[0]); at > 0 {
				inner = frames[at-1].Func
			}
		}
		call, ok := sameCallOn(in.code, c.Path, inner)
		if !ok {
			continue
		}
		at := slices.IndexFunc(all, func(m *made) bool { return m.sameCall == call })
		if at < 0 {
			at = len(all)
			all = append(all, &made{sameCall: call, stack: c.Stack, lines: map[stack.Frame]bool{}})
		}
		m := all[at]
		m.calls = max(m.calls, c.Units)
		m.lines[c.Path[0]] = true
	}
	for _, m := range all {
		var rows []*facts.UnitRow
		spent := time.Duration(0)
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			if m.lines[row.Site.Frame] && row.Kind.Outside() && slices.Contains(t.Frames(row.Site.Stack), m.at) {
				rows = append(rows, row)
				spent += row.Time
			}
		}
		each := float64(m.calls) / float64(max(1, g.Wall.Count+nameless(in.Facts.Units(), g)))
		if share := g.All.Share(spent); each >= r.param("made") && share >= r.param("share") {
			return []Finding{sameFinding(r, in, t, g, m.sameCall, m.stack, rows, spent, each)}
		}
	}
	return nil
}

// overlaps tells whether a row is among others.
func overlaps(rows, of []*facts.UnitRow) bool {
	return slices.ContainsFunc(of, func(row *facts.UnitRow) bool { return slices.Contains(rows, row) })
}

func sameFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup, call sameCall, id stack.ID, rows []*facts.UnitRow, spent time.Duration, each float64) Finding {
	share := g.All.Share(spent)
	f := r.answer(Found, "%s calls %s%s %s, and waits for it: %s of its time, %s of %s%s", unitOf(g), stack.Short(call.callee), atFrame(call.at), call.sameness(" as all others"),
		unit.Percent(share), unit.Duration(spent/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g)), overUnits(g))
	f.Title = "The same thing is made or loaded again for each request"
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.7)
	f.Severity = Warning
	if share < r.param("warning") || call.unsure != "" {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(id), call.at, "in %s of the requests, %s", unit.Percent(min(1, each)), unit.Duration(spent/unitCount(g)))}
	f.Advice = "Call it once and keep the result for all requests: at startup, or when it is first needed (sync.Once, singleflight). If the result can change, keep it for a limited time and refresh it in the background."
	f.Verify = "Record again under the same load: loupe trace requests should no longer show this wait in each request."
	doubt := "that the arguments are the same is read in the source; if the answer has to be up to date for each request, it cannot be kept"
	if call.unsure != "" {
		f.Advice = "If the answer is the same each time, call it once and keep the result for all requests, or for a limited time with a refresh in the background."
		doubt = call.unsure
	}
	f.Doubts = in.traceDoubts(t, doubt)
	call.tellOneUser(in.code, &f)
	namelessDoubt(in, g, &f)
	f.waits = rows
	return f
}
