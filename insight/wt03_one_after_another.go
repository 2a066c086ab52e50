package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var wt03 = &Rule{
	ID: "WT03", Title: "Sequential calls that could run concurrently",
	About: "A request calls several peers, or one of them for several things, from different lines of one function, and waits for each answer before making the next call. If no call needs " +
		"another's answer, all of them together need take no longer than the longest. The function's source shows the dependencies, by its variables and conditions.",
	Asks: []facts.Question{facts.Scheduling},
	Params: []Param{
		{"share", 0.2, "share of the time", "chosen: the gain if independent calls are made concurrently"},
		{"warning", 0.3, "share of the time", "chosen: requests then take two thirds of the time"},
		{"part", 0.05, "share of the time", "chosen: per call; less is not worth a goroutine"},
		{"phase", 0.25, "share of the time", "chosen: of each of two phases that could overlap; less would hardly be felt"},
		{"units", 10, "requests or tasks", "chosen: fewer are a momentary effect"},
		groupParam,
	},
	Part:  true,
	Check: onUnits(checkSideBySide),
}

// series are calls that one function makes one after another, in the order of the lines.
type series struct {
	at    stack.Frame // the function, and its first line
	calls []outward   // by line
	lines []stack.Frame
	known bool // the source says what needs what
	needs []callSet
	gain  time.Duration
	raced string // a place that several of them change without a lock
	key   string // that calls have in common which may have effects
	// unclear are the names of those that may.
	unclear []string
}

func checkSideBySide(r *Rule, in *Input, t *traced, g facts.UnitGroup) (found []Finding, fine string) {
	if name := g.Unit.String(); name == "benchmark" || name == "test" {
		return nil, "a " + name + " makes its calls in the order that it is meant to test"
	}
	defer func() { // what overlaps gains whatever is made concurrently: it comes where that has nothing to say
		if len(found) > 0 {
			return
		}
		if f, ok := phasesFinding(r, in, t, g); ok {
			found = []Finding{f}
		}
	}()
	var best *series
	for _, s := range seriesOf(r, g) {
		s.weigh(in, t)
		if best == nil || s.gain > best.gain {
			best = s
		}
	}
	switch {
	case best == nil:
		return nil, unitOf(g) + " makes no two long calls from different lines of one function"
	case g.All.Share(best.gain) < r.param("share"):
		return nil, fmt.Sprintf("%s makes calls one after another in %s that depend on each other, change something, or are too short: made concurrently they would save %s of its time", unitOf(g), stack.Short(best.at.Func), unit.Percent(g.All.Share(best.gain)))
	}
	return []Finding{seriesFinding(r, in, t, g, best)}, ""
}

// seriesOf are the functions of a group that make calls at several lines, all of them in
// most of the units.
func seriesOf(r *Rule, g facts.UnitGroup) (all []*series) {
	by := map[string]*series{}
	for _, o := range outwards(g) {
		if 2*o.units < g.Wall.Count || o.each() > 2 {
			continue
		}
		for i, f := range o.path {
			key := f.Func + fmt.Sprint(o.path[i+1:])
			if by[key] == nil {
				by[key] = &series{at: f}
				all = append(all, by[key])
			}
			by[key].add(f, o)
		}
	}
	return slices.DeleteFunc(all, func(s *series) bool {
		for i := len(s.calls) - 1; i >= 0; i-- {
			if g.All.Share(s.calls[i].time) < r.param("part") {
				s.calls, s.lines = slices.Delete(s.calls, i, i+1), slices.Delete(s.lines, i, i+1)
			}
		}
		return len(s.calls) < 2
	})
}

// add adds a call at a line.
func (s *series) add(f stack.Frame, o *outward) {
	i, found := slices.BinarySearchFunc(s.lines, f, func(a, b stack.Frame) int { return cmp.Compare(a.Line, b.Line) })
	if found {
		s.calls[i].time += o.time
		return
	}
	s.lines, s.calls = slices.Insert(s.lines, i, f), slices.Insert(s.calls, i, *o)
}

// weigh finds out what is to be had. Without the source it is what would be if no call
// needed another, but for calls that change something: these keep their order.
func (s *series) weigh(in *Input, t *traced) {
	var took []int64
	var lines []int
	sum := int64(0)
	for i, c := range s.calls {
		took, lines = append(took, int64(c.time)), append(lines, s.lines[i].Line)
		sum += int64(c.time)
	}
	needs, raced, known := callNeeds(in.code, s.at, lines)
	if !known {
		needs = make([]callSet, len(lines))
	}
	writes := callSet(0)
	for i, c := range s.calls {
		if changesBy(in.code, t.Frames(c.stack), c.path[:slices.Index(c.path, s.lines[i])+1]) != "" {
			needs[i] |= writes
			writes |= 1 << i
		}
	}
	s.ofOneKey(in.code, needs, writes)
	s.compares(in.code, needs)
	s.raced = raced
	s.known, s.needs, s.gain = known, needs, time.Duration(sum-longestWay(took, needs))
}

// ofOneKey adds what has to stay in order since one of two calls changes something and both are given the same key: to
// read back what was written, or before it is. Where neither is seen to change anything, and one does not say by its name that it
// only reads, that one may have an effect that the other needs.
func (s *series) ofOneKey(c *code, needs []callSet, writes callSet) {
	for j := range s.calls {
		name, keys := keysAt(c, s.lines[j])
		if writeNames.MatchString(name) {
			writes |= 1 << j
		}
		for i := range j {
			other, before := keysAt(c, s.lines[i])
			key := slices.IndexFunc(keys, func(k string) bool { return slices.Contains(before, k) })
			if key < 0 {
				continue
			}
			if writes.has(i) || writes.has(j) {
				needs[j] |= 1 << i
				continue
			}
			for _, n := range []string{other, name} {
				if !readNames.MatchString(n) && !slices.Contains(s.unclear, n) {
					s.unclear = append(s.unclear, n)
					s.key = cmp.Or(s.key, keys[key])
				}
			}
		}
	}
}

// effectDoubt says of calls with the same key what speaks against making them at once.
func (s *series) effectDoubt() string {
	if len(s.unclear) == 1 {
		return fmt.Sprintf("Calls are given the same key (%s), and the name of %s does not say that it only reads. If it has no effect on what another one answers, make them concurrently (errgroup), or ask for all in one call.", s.key, s.unclear[0])
	}
	return fmt.Sprintf("Calls are given the same key (%s), and the names of %s do not say that they only read. If none of them has an effect on what another one answers, make them concurrently (errgroup), or ask for all in one call.", s.key, listed(s.unclear, 3))
}

// readNames are names of functions that only read, as far as their first word says.
var readNames = lazily(`^(?:(?i:get|load|fetch|find|list|read|look|lookup|query|select|count|search|describe|show|exist|exists|resolve|download|stat|head|peek|view|scan)|is|Is|has|Has)(?:[A-Z_0-9].*)?$`)

// noKeys are names of arguments by which a call is made and that are no keys: handles, and what came from outside.
var noKeys = lazily(`(?i)(ctx|context|client|conn|pool|db|tx|base|url|addr|host|log|logger|http|opts|options|cfg|config|w|r|req|request)$`)

// keysAt are the name of what is called on a line, and the variables that it is given as keys, by their text.
func keysAt(c *code, at stack.Frame) (name string, keys []string) {
	calls := c.lineCalls(at)
	if len(calls) == 0 {
		return "", nil
	}
	for _, x := range calls[0].Args {
		switch x.(type) {
		case *ast.Ident, *ast.SelectorExpr:
			if text := types.ExprString(x); !noKeys.MatchString(lastName(text)) && text != "nil" && text != "true" && text != "false" && mayBeKey(c, at, x) {
				keys = append(keys, text)
			}
		}
	}
	return ownCallName(calls[0]), keys
}

// compares adds what has to stay in order where a call is made again after others, with the same
// arguments: it may be there to find out whether something has changed meanwhile.
func (s *series) compares(c *code, needs []callSet) {
	texts := make([]string, len(s.lines))
	for i, f := range s.lines {
		if calls := c.lineCalls(f); len(calls) > 0 {
			texts[i] = types.ExprString(calls[0])
		}
	}
	for j := range texts {
		i := slices.Index(texts[:j], texts[j])
		if texts[j] == "" || i < 0 {
			continue
		}
		for k := i + 1; k < j; k++ {
			needs[k] |= 1 << i
			needs[j] |= 1 << k
		}
	}
}

// jar is the line that gives the client of the calls a cookie jar.
func (s *series) jar(c *code, t *traced) (Evidence, bool) {
	var stacks [][]stack.Frame
	for _, x := range s.calls {
		stacks = append(stacks, t.Frames(x.stack))
	}
	return jarOf(c, stacks)
}

// listed are some parts of a sentence, and how many more there are.
func listed(parts []string, most int) string {
	if len(parts) <= most {
		return strings.Join(parts, ", ")
	}
	return strings.Join(parts[:most], ", ") + fmt.Sprintf(", and %d more", len(parts)-most)
}

// changes are words in a line that changes something: then the order may matter.
var changes = lazily(`(?i)(exec|insert|update|delete|remove|save|put|post|set|write|create|publish|send|commit|begin|store|append|push|lock)`)

func seriesFinding(r *Rule, in *Input, t *traced, g facts.UnitGroup, s *series) Finding {
	n, share := unitCount(g), g.All.Share(s.gain)
	things, needs := s.things()
	sum, ordered := time.Duration(0), false
	for i, c := range s.calls {
		sum += c.time
		text := in.code.text(s.lines[i].File, s.lines[i].Line)
		ordered = ordered || changes.MatchString(text)
	}
	text := fmt.Sprintf("%s makes %s one after another in %s (%s): %s of %s", unitOf(g), unit.Plural(int64(len(things)), "call"), stack.Short(s.at.Func), listed(s.parts(things, n), 5),
		unit.Duration(sum/n), unit.Duration(g.All.Wall/n))
	text += overUnits(g)
	jar, hasJar := s.jar(in.code, t)
	cond, proved := s.conditionOf(in.code)
	limit, limited := s.connectionLimit(in.code, t)
	if s.key == "" && !hasJar && !limited {
		text += cond.impact(proved, unit.Duration((sum-s.gain)/n))
	}
	f := r.answer(Found, "%s", text)
	f.Impact = exactly(ofAll(in, g, share), "share of the "+timeOfUnits(g))
	f.Score = score(share, r.param("share"), 0.6)
	f.Severity = Warning
	if share < r.param("warning") {
		f.Severity = Info
	}
	if limited {
		f.Impact = nil // there is nothing to gain by what the rule asks for
	}
	for i, c := range s.calls[:min(4, len(s.calls))] {
		f.Evidence = append(f.Evidence, t.seenAt(t.Frames(c.stack), s.lines[i], "%s in each: %s", unit.Duration(c.time/n), callWords[c.kind][1]))
	}
	f.Evidence = append(f.Evidence, cond.evidence(in.code)...)
	f.Advice = cond.advice(in.code, s, proved)
	s.tellStatuses(in.code, &f)
	if cond.seen {
		f.Severity = Info
	}
	f.Verify = "Record again under the same load: loupe trace requests should show one wait instead of these, about as long as the longest of them."
	f.Doubts = in.traceDoubts(t)
	if !s.known {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the source is missing or unclear: this holds only if no call needs another's answer")
	} else if !cond.seen {
		f.Doubts = append(f.Doubts, s.needDoubt(things, needs))
	}
	if s.raced != "" {
		f.Doubts = append(f.Doubts, fmt.Sprintf("several of the calls change %s, and the source shows no lock for it: it needs one then", s.raced))
	}
	if s.key != "" {
		f.Severity = Info
		f.Advice = s.effectDoubt()
	}
	if hasJar {
		f.Severity = Info
		f.Evidence = append(f.Evidence, jar)
		f.Advice = "The client has a cookie jar: what an answer sets is sent with the requests after it. Make only those calls concurrently (errgroup) that need no cookie which another one of them sets: behind the one that logs in, say."
		f.Doubts = append(f.Doubts, "a call may need the cookies that an answer before it has set ("+fileLine(jar.File, jar.Line)+")")
	}
	if ordered {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "going by its name, one of the calls changes something: then the order may matter")
	}
	if limited {
		limit.tell(in.code, &f)
	}
	for _, c := range s.calls {
		for _, row := range c.rows() {
			if !slices.Contains(f.waits, row) {
				f.waits = append(f.waits, row)
			}
		}
	}
	return f
}
