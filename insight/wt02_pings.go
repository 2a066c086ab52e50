package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Calls that only ask whether a peer is there, made before it is used: the use itself would find that out.

// pingsTitle is the title of a finding about them.
const pingsTitle = "A ping of the peer before it is used"

var (
	// pingNames are names of functions that only ask whether a peer is there.
	pingNames = lazily(`^(?i:ping)(Context|Server|DB|Conn)?$`)
	// pingTexts are statements that ask a database for nothing.
	pingTexts = lazily(`(?i)^\s*SELECT\s+['"]?1['"]?(\s+AS\s+\w+)?(\s+FROM\s+dual)?\s*;?\s*$`)
	// healthNames are names and paths of what somebody asks to find out whether the program is well: there a ping is the work.
	healthNames = lazily(`(?i)health|readi|readyz|livez|liveness|alive|probe|heartbeat|diagnos|^(is)?(ready|live|up)$|(^|/)(ping|statusz?"?$)`)
)

// pingOn finds on a stack the outermost function that only asks whether a peer is there; -1 where none is called by the program.
func pingOn(frames []stack.Frame, isUser func(stack.Frame) bool) int {
	for i := len(frames) - 2; i >= 0; i-- {
		fn := frames[i].Func
		if (pingNames.MatchString(ownName(fn)) || strings.Contains(fn, "grpc_health_v1") && ownName(fn) == "Check") && isUser(frames[i+1]) {
			return i
		}
	}
	return -1
}

// pings are those of the units of a group.
type pings struct {
	ways  []*outward // by which they are made
	lines []pingLine
	calls int64
	uses  int64 // other calls of the same peer
	time  time.Duration
	sql   string // the type of database/sql that is asked, "DB" or "Conn"; empty of other peers
}

// pingLine is a line that makes some of them.
type pingLine struct {
	at    stack.Frame
	stack stack.ID
	calls int64
	time  time.Duration
}

// pingsOf are the pings of a group's units before other calls of the same peer; nil where there are none, or where they are the work of the units.
func pingsOf(in *Input, t *traced, g facts.UnitGroup) *pings {
	p := &pings{}
	var others []*outward
	var asked [][]stack.Frame // the frames of each ping, up to the function that makes it
	for _, o := range outwards(g) {
		if farOf(o.kind) != farPeer || o.calls == 0 || len(o.path) == 0 {
			continue
		}
		frames := t.Frames(o.stack)
		i, at := pingOn(frames, t.Scope.IsUser), stack.Frame{}
		switch {
		case i >= 0:
			at, asked = frames[i+1], append(asked, frames[:i+1])
			if name, ok := strings.CutPrefix(frames[i].Func, sqlPackage+"(*"); ok {
				p.sql, _, _ = strings.Cut(name, ")")
			}
		case asksForNothing(in.code, o.path):
			own := max(1, slices.IndexFunc(frames, t.Scope.IsUser))
			at, asked = o.path[0], append(asked, frames[:own])
			if name, ok := strings.CutPrefix(frames[own-1].Func, sqlPackage+"(*"); ok {
				p.sql, _, _ = strings.Cut(name, ")")
			}
		default:
			others = append(others, o)
			continue
		}
		p.add(o, at)
	}
	if len(p.ways) == 0 || checksHealth(in.code, g, p.ways[0].path) {
		return nil
	}
	for _, o := range others {
		if slices.ContainsFunc(asked, func(frames []stack.Frame) bool { return samePeer(frames, t.Frames(o.stack), t.Scope.IsUser) }) {
			p.uses += o.calls
		}
	}
	return p
}

// add takes a way into account.
func (p *pings) add(o *outward, at stack.Frame) {
	p.ways = append(p.ways, o)
	p.calls += o.calls
	p.time += o.time
	i := slices.IndexFunc(p.lines, func(l pingLine) bool { return l.at == at })
	if i < 0 {
		i = len(p.lines)
		p.lines = append(p.lines, pingLine{at: at, stack: o.stack})
	}
	p.lines[i].calls += o.calls
	p.lines[i].time += o.time
}

// asksForNothing tells of a way through the code that the statement on its first line asks a database for nothing.
func asksForNothing(c *code, path []stack.Frame) bool {
	_, text := queryOn(c, path)
	return pingTexts.MatchString(cmp.Or(text, executedText(c, path)))
}

// samePeer tells of a call that it goes to the peer of a ping, as far as the code tells: by the same line of the program in the end, through the package
// that makes the ping, or through the type of the program that does.
func samePeer(ping, other []stack.Frame, isUser func(stack.Frame) bool) bool {
	last := ping[len(ping)-1]
	made := stack.Package(last.Func)
	of, _, method := strings.Cut(last.Func, ")")
	own := slices.IndexFunc(ping, isUser)
	return slices.ContainsFunc(other, func(f stack.Frame) bool {
		if isUser(last) {
			return method && strings.HasPrefix(f.Func, of+")") || own >= 0 && f == ping[own]
		}
		return stack.Package(f.Func) == made || own >= 0 && f == ping[own]
	})
}

// checksHealth tells of units that somebody asks them whether the program is well, by the name of what serves them or its path.
func checksHealth(c *code, g facts.UnitGroup, path []stack.Frame) bool {
	root := path[len(path)-1]
	return healthNames.MatchString(ownName(g.Name)) || healthNames.MatchString(ownName(root.Func)) || healthNames.MatchString(routeOf(c, root))
}

// perUnit is how many pings one unit makes on average.
func (p *pings) perUnit(g facts.UnitGroup) float64 {
	return float64(p.calls) / float64(max(1, g.Wall.Count))
}

// matter tells of pings that they take enough of the units' time, and that uses follow them.
func (p *pings) matter(r *Rule, g facts.UnitGroup) bool {
	if p == nil || 2*p.uses < p.calls || g.Unit.String() == "main" && p.perUnit(g) < r.param("calls") {
		return false // or once, at the start
	}
	return g.All.Share(p.time) >= r.param("share") && (p.time/unitCount(g)).Seconds() >= r.param("each")
}

// pingsFinding says of units that they ask whether a peer is there before they use it.
func pingsFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup) (f Finding, ok bool) {
	p := pingsOf(in, t, g)
	if !p.matter(r, g) {
		return f, false
	}
	share, peer := g.All.Share(p.time), p.peer()
	text := fmt.Sprintf("%s asks whether %s is there before it uses it: %s%s, %s of its time, %s each", unitOf(g), peer, plurals(aboutWhole(p.perUnit(g)), "ping"), inEach(g), unit.Percent(share), unit.Duration(p.time/time.Duration(p.calls)))
	if per := p.perUnit(g); per < 0.95 {
		text = fmt.Sprintf("%s asks whether %s is there before it uses it, %s pings for each on average: %s of the time, %s each", unitOf(g), peer, unit.Number(per), unit.Percent(share), unit.Duration(p.time/time.Duration(p.calls)))
	}
	text += onAverage(g)
	text += fmt.Sprintf("; %s of %s to it were only pings", unit.Count(p.calls), unit.Plural(p.calls+p.uses, "call"))
	f = r.answer(Found, "%s", text)
	f.Title, f.Severity = pingsTitle, Warning
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.9)
	for _, l := range p.lines[:min(3, len(p.lines))] {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(l.stack), l.at, "asks whether %s is there, %s%s", peer, plurals(aboutWhole(float64(l.calls)/float64(max(1, g.Wall.Count))), "time"), inEach(g)))
	}
	f.Advice = p.advice()
	f.Verify = "Record again under the same load: loupe trace requests should show fewer calls, and the median should fall by the time of the pings."
	f.Doubts = in.traceDoubts(t, "if the ping has an effect of its own (it logs in, sets up a session, keeps a connection from being closed), leave it where that is needed: after a pause, or in the background")
	namelessDoubt(in, g, &f)
	f.waits, f.part = p.rows()
	return f, true
}

// rows are the parts of the units' time at the lines of the pings, and what part of these the pings are.
func (p *pings) rows() (rows []*facts.UnitRow, part float64) {
	all := time.Duration(0)
	for _, o := range p.ways {
		for _, row := range o.rows() {
			if !slices.Contains(rows, row) {
				rows = append(rows, row)
				all += row.Time
			}
		}
	}
	return rows, min(1, float64(p.time)/float64(max(1, all)))
}

// peer names what is asked.
func (p *pings) peer() string {
	if p.sql != "" {
		return "the database"
	}
	return "its peer"
}

// advice is what to do about them.
func (p *pings) advice() string {
	const once = " Ping once at the start, or in a health check."
	switch p.sql {
	case "":
		return "Leave the ping out: a peer may be gone right after it as well, so that each use has to deal with an error in any case, and tells the same without a round trip of its own. Where a connection may have died while it was idle, try again once on a new one when that error comes, or ask only after a long pause." + once
	case "Conn":
		return "Leave the ping out: a connection may break right after it as well, so that each use has to deal with that in any case. database/sql asks the driver about a connection when it comes back and when it is handed out again (driver.Validator, driver.SessionResetter), and replaces broken ones. " +
			"Statements on the *sql.DB are retried on another connection when the driver returns driver.ErrBadConn; those on a *sql.Conn are not: where no state of the connection is needed, use the *sql.DB, otherwise take another one at that error and try again. SetConnMaxIdleTime keeps connections from growing stale." + once
	}
	return "Leave the ping out: it says nothing about the connection that the next statement gets, and the database may be gone right after it. database/sql replaces broken connections by itself, and retries a statement on another one when the driver returns driver.ErrBadConn; SetConnMaxIdleTime keeps connections from growing stale." + once
}

// tellPinged says of waits at a line that some of their calls are pings.
func tellPinged(in *Input, t *traced, w *waiting, f *Finding) {
	p := pingsOf(in, t, w.group)
	if p == nil || p.uses == 0 {
		return
	}
	calls := int64(0)
	for _, o := range p.ways {
		if o.path[0] == w.site.Frame {
			calls += o.calls
		}
	}
	if calls == 0 {
		return
	}
	here := aboutWhole(float64(calls) / float64(max(1, w.group.Wall.Count)))
	f.Summary += fmt.Sprintf("; %s of the calls%s only ask whether %s is there%s", timesOf(here), inEach(w.group), p.peer(), atFrame(p.lines[0].at))
	switch {
	case p.matter(wt02, w.group):
		f.Advice = "Leave the pings out first (WT02 says why). Then: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	case 4*p.time >= w.time:
		f.Advice = p.advice() + " Then: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
	}
}

// aboutWhole is a number of calls in one unit on average, without what the units at the ends of a trace leave out of it.
func aboutWhole(n float64) float64 {
	if whole := math.Round(n); whole > 0 && math.Abs(n-whole) < 0.02 {
		return whole
	}
	return n
}
