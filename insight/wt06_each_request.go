package insight

import (
	"fmt"
	"slices"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt06 = &Rule{
	ID: "WT06", Title: "Each request opens a new connection or file, looks up a name or starts a process",
	About: "Each request starts a process, looks up a name, opens a connection with its handshake, or opens the same file, and waits for it: work that could be done once and " +
		"kept. CP18 covers repeated computation instead of waiting.",
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
	what   string   // "starts 1.00 processes"
	one    string   // "a process"
	kinds  []string // of the rows that are a part of it
	advice string
}

// anews are those of the kinds of calls that have any.
var anews = map[string]anew{
	"process":   {"starts", "a process", []string{"process", "pipe"}, "Do not start a process for each request: do it in the program (a library), keep one running and talk to it through a pipe, or cache its answers."},
	"dial":      {"makes", "a connection", []string{"dial", "dns", "tls"}, "Create one client and keep it: bodies read to the end and closed, enough idle connections (MaxIdleConnsPerHost), no DisableKeepAlives, no separate client or transport per request."},
	"tls":       {"makes", "a TLS handshake", []string{"dial", "dns", "tls"}, "Reuse connections (keep-alive), so that handshakes are rare: one client and one tls.Config for all requests, with a session cache."},
	"dns":       {"makes", "a DNS lookup", []string{"dns"}, "Keep connections alive, so that their names need not be looked up again, or cache the addresses for a few seconds."},
	"file_call": {"opens or examines", "a file", []string{"file_call"}, "Read the file once and keep the result; read it again when it has changed, or from time to time."},
}

func checkEachRequest(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	fine = unitOf(g) + " starts no process, opens no connection and opens no file that it waits for"
	if name := g.Unit.String(); name != "request" && name != "task" {
		return nil, "only requests and tasks are examined, which repeat the same work"
	}
	seen := map[stack.Frame]bool{}
	for i := range g.Calls {
		c := &g.Calls[i]
		kind, ok := anews[c.Kind.Key()]
		if !ok || c.Count == 0 || seen[c.Path[0]] || c.Kind.Key() == "file_call" && syncs(t.Frames(c.Stack)) {
			continue
		}
		seen[c.Path[0]] = true
		rows, spent := partsOf(g, c.Path[0], kind.kinds)
		each := float64(c.Count) / float64(max(1, g.Wall.Count+nameless(in.Facts.Units(), g)))
		if each < r.param("made") || g.All.Share(spent) < r.param("share") {
			fine = fmt.Sprintf("%s needs %s%s %s times, %s of its time", unitOf(g), kind.one, atFrame(c.Path[0]), unit.Number(each), unit.Percent(g.All.Share(spent)))
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
	share, each := g.All.Share(spent), float64(c.Count)/float64(max(1, g.Wall.Count))
	f := r.answer(Found, "%s %s %s%s, %s times in each: %s of its time, %s of %s%s", unitOf(g), kind.what, kind.one, atFrame(c.Path[0]), unit.Number(each),
		unit.Percent(share), unit.Duration(spent/unitCount(g)), unit.Duration(g.All.Wall/unitCount(g)), overUnits(g))
	f.Impact = exactly(ofAll(in, g, share), "share of the time of "+pluralOf(g))
	f.Score = score(share, r.param("share"), 0.7)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	f.Evidence = []Evidence{t.seenAt(t.Frames(c.Stack), c.Path[0], "%s times in each, %s", unit.Number(each), unit.Duration(spent/unitCount(g)))}
	f.Advice = kind.advice
	f.Verify = "Record again under the same load: loupe trace requests should no longer show this wait in each request."
	f.Doubts = in.traceDoubts(t, "if each request needs a different one, such as the file that it asks for, there is nothing to keep")
	if c.Kind.Key() == "file_call" {
		f.Severity = Info // a server of files does what it is there for
	}
	namelessDoubt(in, g, &f)
	f.waits = rows
	return f
}
