package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

var lk06 = &Rule{
	ID: "LK06", Title: "Queries wait for a connection from the database pool",
	About: "With SetMaxOpenConns, a goroutine that finds all connections of a sql.DB in use waits in (*DB).conn. The database may be idle " +
		"meanwhile: the pool is what is slow, and neither a CPU profile nor the database's own statistics show it.",
	Asks: []facts.Question{facts.WaitTimes},
	Params: []Param{
		{"share", 0.05, "share of the blocked time", "research"},
		{"warning", 0.25, "share of the blocked time", "chosen: five times the lower limit"},
		{"waits", 10, "waits", "chosen: fewer are a momentary effect, such as startup"},
	},
	Check: checkPoolWait,
}

// poolWait is the function that waits for a connection.
const poolWait = "database/sql.(*DB).conn"

// poolSite is a line of the program whose queries wait.
type poolSite struct {
	at      stack.Frame
	frames  []stack.Frame
	longest time.Duration
	time    time.Duration
	count   int64
}

func checkPoolWait(r *Rule, in *Input) []Finding {
	all, err := in.Facts.WaitsOf(recording.Block, recording.ExecTrace)
	if len(all) == 0 {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	w := all[0]
	if len(w.All) == 0 {
		w = all[len(all)-1]
	}
	sites, waited, open, count := poolSites(w, in.Session.Scope().IsUser)
	total := w.Total() + open
	if total == 0 {
		return []Finding{r.short("the %s shows nobody waiting: apply load to the program", w.What)}
	}
	share := float64(waited) / float64(total)
	if share < r.param("share") {
		return []Finding{r.answer(Fine, "queries waited %s for a connection to the database, %s of the blocked time%s", unit.Duration(waited), unit.Percent(share), unended(w))}
	}
	if float64(count) < r.param("waits") {
		return []Finding{r.short("queries waited for a connection in %s; %g are needed: apply more load", unit.Plural(count, "case"), r.param("waits"))}
	}
	f := r.answer(Found, "queries waited %s for a connection to the database, %s of the blocked time%s: %s, %s on average",
		unit.Duration(waited), unit.Percent(share), w.Of(), unit.Plural(count, "wait"), unit.Duration(waited/time.Duration(count)))
	f.Impact = exactly(share, "share of the blocked time")
	f.Severity, f.Score = Info, score(share, r.param("share"), 3*r.param("warning"))
	if share >= r.param("warning") {
		f.Severity = Warning
	}
	for _, s := range sites[:min(3, len(sites))] {
		e := in.fileAt(w.Entry, s.at, s.frames, "%s, %s", unit.Plural(s.count, "wait"), unit.Duration(s.time))
		f.Evidence = append(f.Evidence, e)
	}
	f.Advice = "Allow more connections (SetMaxOpenConns, and SetMaxIdleConns to match, or they are closed and reopened), as far as the database can serve them; and " +
		"hold each for a shorter time: close rows and end transactions as soon as possible."
	f.waits = databaseRows(in)
	if of := oneWriterOf(in); of != "" {
		adviseOneWriter(in, of, f.waits, &f)
	}
	f.Verify = "Record again under the same load: DB.Stats().WaitDuration and this share should fall, and the latency with them."
	f.Doubts = append(in.doubts(), "the limit may be there to protect the database: then there are too many queries, or they are too slow")
	tellHolders(in, &f)
	return []Finding{f}
}

// tellHolders says what those wait for meanwhile who have the connections, where that is most of what the waits of
// requests are for and is not the database.
func tellHolders(in *Input, f *Finding) {
	by, all := map[string]*facts.UnitRow{}, time.Duration(0)
	var most *facts.UnitRow
	for _, row := range f.waits {
		key := row.Cause.Kind.Key() + " " + fmt.Sprint(row.Cause.Site.Frame)
		all += row.Time
		if by[key] == nil {
			by[key] = &facts.UnitRow{Cause: row.Cause}
		}
		if by[key].Time += row.Time; most == nil || by[key].Time > most.Time {
			most = by[key]
		}
	}
	if most == nil || float64(most.Time) < halfOfAll*float64(all) || most.Cause.Site.Frame.Func == "" ||
		slices.Contains([]string{"none", "unknown", "running", "runnable", "pool"}, most.Cause.Kind.Key()) {
		return
	}
	frames := facts.Frames(in.Facts.Units().Reader.Stacks(), most.Cause.Site.Stack)
	if slices.ContainsFunc(frames, func(x stack.Frame) bool { return strings.HasPrefix(x.Func, sqlPackage) }) {
		return // it is the database that they wait for, by a driver that may be the program's own
	}
	at := most.Cause.Site.Frame
	f.Summary += fmt.Sprintf("; who has one meanwhile is mostly %s%s", most.Cause.Kind.Clause(), atPlace(most.Cause.Site))
	f.Evidence = append(f.Evidence, in.code.shownAt(at.File, at.Line, "a connection is held here, while its holder is %s", most.Cause.Kind.Clause()))
	f.Advice = fmt.Sprintf("Hold no connection while waiting for something else: get it after what is done at %s:%d, or give it back before. More connections (SetMaxOpenConns) only let more wait so.", baseName(at.File), at.Line)
	f.Doubts = append(f.Doubts, "if it has to be done within the transaction, it cannot be moved: then shorten it")
}

// databaseRows are the parts of the time of units that are waits for a connection to the
// database.
func databaseRows(in *Input) (rows []*facts.UnitRow) {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	for _, g := range u.Judged {
		for i := range g.All.Rows {
			row := &g.All.Rows[i]
			if row.Kind.Key() == "pool" && slices.ContainsFunc(facts.Frames(u.Reader.Stacks(), row.Site.Stack), func(f stack.Frame) bool { return f.Func == poolWait }) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// poolSites are the lines of the program whose queries wait for a connection,
// the longest time first, and what they wait together; open is the part of those whose
// waits had not ended when the trace did.
func poolSites(w *facts.AllWaits, isUser func(stack.Frame) bool) (sites []*poolSite, waited, open time.Duration, count int64) {
	by := map[string]*poolSite{}
	for _, x := range w.All {
		pool := slices.IndexFunc(x.Frames, func(f stack.Frame) bool { return f.Func == poolWait })
		if pool < 0 || !waitsHere(x.Frames[:pool]) {
			continue
		}
		at := x.Frames[pool]
		for _, f := range x.Frames[pool:] {
			if isUser(f) {
				at = f
				break
			}
		}
		key := fmt.Sprintf("%s:%s:%d", at.Func, at.File, at.Line)
		s := by[key]
		if s == nil {
			s = &poolSite{at: at}
			by[key], sites = s, append(sites, s)
		}
		if s.frames == nil || x.Time > s.longest {
			s.frames, s.longest = x.Frames, x.Time
		}
		s.time += x.Time
		s.count += x.Count
		waited += x.Time
		if x.Open > 0 {
			open += x.Time
		}
		count += x.Count
	}
	slices.SortStableFunc(sites, func(a, b *poolSite) int { return int(min(max(b.time-a.time, -1), 1)) })
	return sites, waited, open, count
}

// waitsHere tells that nothing lies between a function and its wait but the
// runtime: it waits for nobody's mutex, and opens no connection.
func waitsHere(called []stack.Frame) bool {
	return !slices.ContainsFunc(called, func(f stack.Frame) bool { return !stack.IsRuntime(stack.Package(f.Func)) })
}
