package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// A brief report fits on a screen: a sentence, the figures that matter, a few cards, and a
// line that counts the rest.
const (
	briefLines = 60
	briefCards = 5
)

// briefFigures are the rows of the table that a brief report has, by their id.
var briefFigures = []string{
	"requests", "requests_per_sec", "latency_p50", "latency_p99", "errors", "wall_time", "cpu", "cpu_per_request", "other_processes_cpu_per_request", "bytes_per_request",
	"gc_cpu_percent", "gc_pace", "collections", "peak_heap", "max_rss", "other_processes_rss",
}

// WriteBriefMarkdown is the same for an issue or a pull request.
func WriteBriefMarkdown(out io.Writer, r *Recording, more string) error {
	w := &lines{w: out}
	w.printf("# %s\n\n", escape(r.Manifest.Title))
	if r.Files == nil {
		w.printf("%s\n\n", escape(strings.Join(headFacts(r.Manifest), ", ")))
	}
	markdownIncomplete(w, r.Incomplete)
	shown := min(len(r.Cards), briefCards)
	w.printf("**%s**\n", escape(r.verdict(shown)))
	if text := r.briefFigures(); text != "" {
		w.printf("\n%s\n", escape(text))
	}
	for _, end := range r.ends() {
		w.printf("\n%s\n", escape(end))
	}
	if text := r.phaseNames(); text != "" {
		w.printf("\n%s\n", escape(text))
	}
	for _, f := range r.measurement() {
		w.printf("\n> %s: %s (%s)\n", f.Title, escape(f.Summary), f.Rule)
	}
	w.printf("\n")
	for _, c := range r.Cards[:shown] {
		r.markdownCard(w, c)
	}
	if shown > 0 {
		w.printf("\n")
	}
	markdownRuntimeLines(w, r.RuntimeLines)
	if r.Compiler != nil {
		r.Compiler.markdown(w)
		w.printf("\n")
	}
	for _, f := range r.Files {
		w.printf("- %s: %s\n", escape(f.Name), escape(describeFile(f)))
	}
	for _, n := range r.notes() {
		w.printf("> %s\n\n", escape(n))
	}
	w.printf("%s\n", escape(r.rest(shown, more)))
	return w.err
}

// markdownCard prints a cause and what was seen with it.
func (r *Recording) markdownCard(w *lines, c insight.Card) {
	f := r.Findings[c.Finding]
	w.printf("- **%s %s** (%s): %s\n", f.Rule, f.Title, f.Severity, escape(f.Summary))
	if e, ok := firstPlace(f); ok {
		markdownEvidence(w, e)
	}
	if c.Gain != nil {
		w.printf("  - %s\n", gainText(c.Gain))
	}
	w.printf("  - → %s\n", escape(f.Advice))
	for _, d := range r.ownDoubts(f) {
		w.printf("  - ? %s\n", escape(d))
	}
	if text := r.symptoms(c); text != "" {
		w.printf("  - %s\n", escape(text))
	}
}

// WriteBrief prints on a screen what matters of a recording, or of files that stand alone.
// more is the command that shows everything.
func WriteBrief(out io.Writer, r *Recording, more string, s Style) error {
	tail := &bytes.Buffer{}
	var cards [][]byte
	for _, c := range r.Cards[:min(len(r.Cards), briefCards)] {
		card := &bytes.Buffer{}
		r.writeCard(&lines{w: card}, c, s)
		cards = append(cards, card.Bytes())
	}
	briefTail(&lines{w: tail}, r, s)
	last := func(shown int) string { return s.paint(dim, wrap(r.rest(shown, more), s.width(), "")) + "\n" }
	head, shown := r.fit(cards, func(shown int) int { return height(tail.Bytes()) + height([]byte(last(shown))) }, s)
	w := &lines{w: out}
	w.Write(head)
	for _, card := range cards[:shown] {
		w.Write(card)
	}
	w.Write(tail.Bytes())
	w.Write([]byte(last(shown)))
	return w.err
}

// fit is how many cards there is room for above a tail, whose lines depend on how many are shown, and the head that says so: at least the first one, if
// there are any.
func (r *Recording) fit(cards [][]byte, tail func(shown int) int, s Style) (head []byte, shown int) {
	for shown = len(cards); ; shown-- {
		b := &bytes.Buffer{}
		briefHead(&lines{w: b}, r, shown, s)
		left := briefLines - height(b.Bytes()) - tail(shown)
		for _, card := range cards[:shown] {
			left -= height(card)
		}
		if left >= 0 || shown <= 1 {
			return b.Bytes(), shown
		}
	}
}

func height(text []byte) int { return bytes.Count(text, []byte("\n")) }

// briefHead says what the report is of, what was found, of which so many cards are shown, and the figures that matter.
func briefHead(w *lines, r *Recording, shown int, s Style) {
	if r.Files == nil {
		writeHead(w, r, s)
	} else {
		w.printf("%s\n", s.paint(bold, clean(r.Manifest.Title)))
	}
	writeIncomplete(w, r.Incomplete, s)
	w.printf("\n%s\n", s.paint(bold, wrap(clean(r.verdict(shown)), s.width(), "")))
	if text := r.briefFigures(); text != "" {
		w.printf("\n%s\n", wrap(clean(text), s.width(), ""))
	}
	for _, end := range r.ends() {
		w.printf("%s\n", s.paint(red, wrap(clean(end), s.width(), "  ")))
	}
	if text := r.phaseNames(); text != "" {
		w.printf("%s\n", s.paint(dim, wrap(clean(text), s.width(), "  ")))
	}
	for _, f := range r.measurement() {
		w.printf("%s\n", s.paint(yellow, wrap(clean(fmt.Sprintf("%s: %s (%s)", f.Title, f.Summary, f.Rule)), s.width(), "  ")))
	}
	w.printf("\n")
}

// verdict says in a sentence or two what to begin with, in a report that shows so many cards.
func (r *Recording) verdict(shown int) string {
	if len(r.Cards) == 0 {
		return r.headline()
	}
	serious := slices.ContainsFunc(r.Cards, func(c insight.Card) bool { return r.Findings[c.Finding].Severity.AtLeast(insight.Warning) })
	card := r.Cards[0]
	f := r.Findings[card.Finding]
	ended := ""
	if e := insight.Ended(r.Manifest, r.Findings); e != "" && !serious {
		ended = e + " "
	}
	if !serious && insight.OfTiming(f.Rule) { // these come last
		if text := cmp.Or(holdsMost(r), unseen(r), inFirstPart(r)); text != "" {
			return ended + text + " What stands out depends on when threads ran."
		}
		return ended + "Nothing serious was found: what stands out depends on when threads ran."
	}
	text := f.Title
	if at := seenAt(f); at != "" {
		text += ", at " + at
	}
	leak, leaks := insight.Leaks(r.Findings)
	switch {
	case card.Gain != nil:
		who := ": it accounts for "
		if n := card.Gain.Lines; n > 0 {
			who = ": this line (" + unit.Percent(card.Gain.Line) + ") and " + unit.Plural(int64(n-1), "other") + " account for "
		}
		text += who + unit.Percent(card.Gain.Share) + " of the " + card.Gain.Of
		if card.Gain.Beyond != "" {
			text += "; " + card.Gain.Beyond
		}
	case slices.ContainsFunc(leaks, func(l insight.Leak) bool { return l.Rule == f.Rule }):
		if strings.HasPrefix(leak, "A leak, proved by Go.") {
			text = strings.TrimSuffix(leak, ".")
		} else {
			text += ": a leak, unless growth stops at a bound"
		}
	case f.Impact != nil && f.Impact.Unit == "share of what is in use":
		text += ": it holds " + unit.Percent(f.Impact.Value) + " of what is in use"
	}
	text += "."
	switch n := len(r.Cards) - 1; {
	case n > 0 && !serious:
		text += " " + unit.Plural(int64(n), "further remark") + "."
	case n > 0:
		text += " " + insight.Beside(r.Findings, r.Cards, shown)
	}
	if !serious {
		begin := remarkable(card.Most)
		if begin == nothingSerious {
			begin = cmp.Or(holdsMost(r), mostlyWaits(r), keepsGrowing(r), unseen(r), inFirstPart(r), begin)
		} else if memory := holdsMost(r); memory != "" && f.Rule != "GC16" {
			// What takes the time comes first, but how much memory there is in one place is another question.
			begin += strings.Replace(memory, holdsMostBegin, " It takes", 1)
		}
		text = begin + " " + text
	}
	return ended + text
}

// remarkable is what a verdict begins with where there are only remarks: what takes most of something, where the
// first one is about that.
func remarkable(m *insight.Most) string {
	switch {
	case m == nil:
		return nothingSerious
	case m.Through != nil && m.Line > 0:
		return fmt.Sprintf("No rule names a fault, but %s of the CPU time is spent in %s, with what it calls; %s at its heaviest line, %s:%d.", unit.Percent(m.Share), shownFunction(m.Through.Function), unit.Percent(m.Line), shortFile(*m.Through), m.Through.Line)
	case m.Functions > 0:
		return fmt.Sprintf("No rule names a fault, but %d functions take %s of the CPU time.", m.Functions, unit.Percent(m.Share))
	case m.Line > 0:
		return fmt.Sprintf("No rule names a fault, but what follows is about %s of the %s; %s is at the line it names.", unit.Percent(m.Share), m.Of, unit.Percent(m.Line))
	case m.Through != nil:
		return fmt.Sprintf("No rule names a fault, but %s of the CPU time goes through %s at %s:%d.", unit.Percent(m.Share), shownFunction(m.Through.Function), shortFile(*m.Through), m.Through.Line)
	}
	return "No rule names a fault, but one place takes " + unit.Percent(m.Share) + " of the " + m.Of + "."
}

// nothingSerious is said only where there was enough to see: see unseen.
const nothingSerious = "Nothing serious was found."

// usedEnough is how many CPUs a program uses at least of which a CPU profile alone tells what it spends its time on: one that
// uses less waits for something most of the time. Chosen.
const usedEnough = 0.5

// unseen says instead that nothing shows what the program spends its time on, or too little, and how to
// get it; empty where it was seen.
func unseen(r *Recording) string {
	shown, alone := insight.TimeShownIn(r.Manifest, r.Findings), len(r.Files) > 0
	switch {
	case shown == insight.TimeSeen, shown == insight.TimeWorked && (r.Time.Used == 0 || r.Time.Used >= usedEnough):
		return ""
	case shown == insight.TimeWorked:
		text := "Nothing serious is in the CPU profile, but the program used only " + unit.Percent(r.Time.Used) + " of a CPU: what it waits for in the rest of the time is not shown"
		if alone {
			return text + "."
		}
		return text + " (" + howToSee(r.Manifest, recording.ExecTrace) + ")."
	case shown == insight.TimeUnknown && len(r.Files) == 1:
		return "Nothing in this file is serious, but what the program spends its time on is not in it."
	case shown == insight.TimeUnknown && alone:
		return "Nothing in these files is serious, but what the program spends its time on is not in them."
	case shown == insight.TimeHardly && len(r.Time.Unread) > 0:
		return "Nothing can be said of what the program spends its time on: " + strings.Join(r.Time.Unread, " and ") + " cannot be read. Record it again."
	case shown == insight.TimeHardly:
		return "Too little is in the recorded profiles to say what the program spends its time on: record longer, or under more load."
	}
	return "Nothing can be said of what the program spends its time on: there is no CPU profile and no execution trace (" +
		howToSee(r.Manifest, recording.CPU, recording.ExecTrace) + ")."
}

// howToSee says of entries that are not in a recording why not, as it notes it, or how to get those that were not asked for.
func howToSee(m *recording.Manifest, kinds ...recording.Kind) string {
	var why, phases []string
	same := true
	for _, kind := range kinds {
		reason := facts.Unrecorded(m, kind)
		switch {
		case reason != "":
			why = append(why, reason)
			same = same && reason == why[0]
		case kind == recording.CPU:
			phases = append(phases, "cpu")
		default:
			phases = append(phases, "trace")
		}
	}
	switch {
	case len(why) == 0:
		return "record with -phases " + strings.Join(phases, ",")
	case m.Target.Kind == "binary" && len(kinds) > 1: // it shows nothing by itself
		return "give loupe run the package rather than the binary, or let the program serve /debug/pprof"
	case len(phases) == 0 && same:
		return "asked for, but not recorded: " + why[0]
	}
	var parts []string
	for _, kind := range kinds {
		if reason := facts.Unrecorded(m, kind); reason != "" {
			parts = append(parts, "the "+facts.Name(kind)+" was asked for, but not recorded: "+reason)
		}
	}
	if len(phases) > 0 {
		parts = append(parts, "record with -phases "+strings.Join(phases, ","))
	}
	return strings.Join(parts, "; ")
}

// seenAt is the line at which a finding is seen first.
func seenAt(f insight.Finding) string {
	for _, e := range f.Evidence {
		if e.File == "" {
			continue
		}
		at := fmt.Sprintf("%s:%d", shortFile(e), e.Line)
		if e.Function != "" {
			at += " in " + shownFunction(e.Function)
		}
		return at
	}
	return ""
}

// shownFunction is the name of a function for people: without the folders of its package, and without the types that the compiler has chosen for an
// instance of a generic one.
func shownFunction(name string) string { return stack.FoldGenerics(stack.Short(name)) }

// briefFigures are the figures that matter, in one sentence.
func (r *Recording) briefFigures() string {
	if r.Figures == nil {
		return ""
	}
	var words []string
	for _, id := range briefFigures {
		for _, row := range r.Figures.Rows {
			if row.ID == id && len(row.Cells) > 0 {
				words = append(words, strings.TrimSpace(row.Name+" "+median(row.Unit, &row.Cells[0])))
			}
		}
	}
	text := strings.Join(words, " · ")
	if text != "" && rounds(r.Figures) != "" {
		text += " (" + rounds(r.Figures) + ")"
	}
	return text
}

// ends says of each process that ended otherwise than well, how.
func (r *Recording) ends() (all []string) {
	for i, run := range r.Manifest.Target.Runs {
		if run.Exit != "" && run.Exit != "exit status 0" && !run.Stopped {
			all = append(all, fmt.Sprintf("Process %s ended after %s: %s", processName(r.Manifest, i), unit.Duration(run.Span.Len()), run.Exit))
		} else if cut := cutOff(r.Manifest, i); cut != "" {
			text := fmt.Sprintf("The program ended by itself after %s, in the phase %s, which was cut off", unit.Duration(run.Span.Len()), clean(cut))
			if i+1 < len(r.Manifest.Target.Runs) {
				text += "; for what follows it was started again"
			}
			all = append(all, text)
		}
	}
	noisy := slices.ContainsFunc(r.Findings, func(f insight.Finding) bool { return f.Rule == "BE06" && f.State == insight.Found })
	if text := unlikeLives(r.Manifest, noisy); text != "" {
		all = append(all, text)
	}
	return all
}

// atEnd is how long before the end of a phase a process may end that ended it: the recorder takes
// some time to notice. Chosen.
const atEnd = time.Second

// cutOff names the phase in which a process came to its end by itself although it was taken for one
// that goes on, as a server does: it had phases before. Empty where there is none.
func cutOff(m *recording.Manifest, run int) string {
	r := &m.Target.Runs[run]
	if r.Exit == "" || r.Stopped {
		return ""
	}
	before := 0
	for _, p := range m.Phases {
		if !p.Has(run) {
			continue
		}
		if before > 0 && p.Span.Start < r.Span.End && r.Span.End <= p.Span.End && r.Span.End >= p.Span.End.Add(-atEnd) {
			return p.Name
		}
		before++
	}
	return ""
}

// mostOfRun is the part of a run from which on a profile may stand for it; chosen.
const mostOfRun = 0.8

// wholeRun is how long the program runs that ends by itself, without a load; 0 where it does not.
func wholeRun(m *recording.Manifest) time.Duration {
	if m == nil || len(m.Of(recording.Load)) > 0 || len(m.Target.Runs) == 0 || m.Target.Runs[0].Stopped || m.Target.Runs[0].Exit == "" {
		return 0
	}
	return m.Target.Runs[0].Span.Len()
}

// runOf is how long the run of a phase was, if it ended by itself; else otherwise.
func runOf(m *recording.Manifest, phase string, otherwise time.Duration) time.Duration {
	for _, p := range m.Phases {
		if p.Name == phase && p.Run >= 0 && p.Run < len(m.Target.Runs) {
			if run := m.Target.Runs[p.Run]; run.Exit != "" && !run.Stopped {
				return run.Span.Len()
			}
		}
	}
	return otherwise
}

// phaseNames says what was recorded for how long, and what that cost where it is known.
func (r *Recording) phaseNames() string {
	var words []string
	whole := wholeRun(r.Manifest)
	for _, p := range r.Phases {
		word := p.Name + " " + unit.Duration(p.Length.Round(time.Microsecond))
		if of := runOf(r.Manifest, p.Name, whole); (p.Name == "cpu" || p.Name == "trace") && whole > 0 && float64(p.Length) < mostOfRun*float64(of) {
			word += " of a run of " + unit.Duration(of)
		}
		if recorded, ok := r.Manifest.PhaseNamed(p.Name); ok && recorded.Lives > 1 {
			word += " of " + unit.Plural(int64(recorded.Lives), "run")
		}
		if p.Name == "allocs" && p.Error == "" && whole > 0 {
			word += allocatedUpTo(r.Manifest, whole)
		}
		switch {
		case p.Error != "":
			word += " failed"
		case p.Cost.Known():
			word += " (" + unit.Change(float64(p.Cost)) + " CPU)"
		}
		words = append(words, word)
	}
	if len(words) == 0 {
		return ""
	}
	return "Recorded: " + strings.Join(words, " · ")
}

// notes are those of the recording and of its figures.
func (r *Recording) notes() []string {
	var notes []string
	if r.Figures != nil {
		notes = r.Figures.Notes
	}
	notes = slices.Concat(notes, r.Manifest.Notes)
	if part := partNote(r); part != "" {
		notes = append(notes, part)
	}
	return notes
}

// measurement are the findings about the measurement itself.
func (r *Recording) measurement() (all []insight.Finding) {
	for _, f := range r.Findings {
		if f.State == insight.Found && insight.AboutMeasurement(f.Rule) {
			all = append(all, f)
		}
	}
	return all
}

// writeCard prints a cause and what was seen with it.
func (r *Recording) writeCard(w *lines, c insight.Card, s Style) {
	f := r.Findings[c.Finding]
	writeFindingHead(w, f, s)
	if e, ok := firstPlace(f); ok {
		writeEvidence(w, e, s)
	}
	say := func(mark, text, paint string) {
		text = wrap(clean(text), s.width()-len(findingIndent)-2, findingIndent+"  ")
		if paint != "" {
			text = s.paint(paint, text)
		}
		w.printf("%s%s %s\n", findingIndent, mark, text)
	}
	if c.Gain != nil {
		say("+", gainText(c.Gain), bold)
	}
	say("→", f.Advice, "")
	for _, d := range r.ownDoubts(f) {
		say("?", d, dim)
	}
	if text := r.symptoms(c); text != "" {
		say("≈", text, dim)
	}
	w.printf("\n")
}

// firstPlace is the evidence that names a line, or else the first.
func firstPlace(f insight.Finding) (insight.Evidence, bool) {
	for _, e := range f.Evidence {
		if e.File != "" {
			return e, true
		}
	}
	if len(f.Evidence) == 0 {
		return insight.Evidence{}, false
	}
	return f.Evidence[0], true
}

// gainText says what the cause takes. A fix may save more: what waits for it, or for the CPU that
// it takes, goes as well.
func gainText(g *insight.Gain) string {
	text := fmt.Sprintf("accounts for %s of the %s", unit.Percent(g.Share), g.Of)
	if g.Low < g.High {
		text += fmt.Sprintf(" [%s, %s]", unit.Percent(g.Low), unit.Percent(g.High))
	}
	if g.Request > 0 {
		text += ", " + unit.Nanoseconds(g.Request) + " of each request"
	}
	if g.Lines > 0 {
		text += fmt.Sprintf(", at %d lines, of which the one above has %s", g.Lines, unit.Percent(g.Line))
	}
	if g.Beyond != "" {
		text += "; " + g.Beyond
	}
	return text
}

// ownDoubts leaves out what is said of the whole measurement already.
func (r *Recording) ownDoubts(f insight.Finding) (own []string) {
	for _, d := range f.Doubts {
		if !slices.ContainsFunc(r.measurement(), func(m insight.Finding) bool { return strings.HasSuffix(d, ": "+m.Summary) }) {
			own = append(own, d)
		}
	}
	return own
}

// symptoms names what was seen with a cause.
func (r *Recording) symptoms(c insight.Card) string {
	if len(c.Symptoms) == 0 {
		return ""
	}
	var words []string
	times := map[string]int{}
	for _, at := range c.Symptoms {
		f := r.Findings[at]
		text := f.Rule + " " + f.Title
		if e, ok := firstPlace(f); ok && e.File != "" {
			text += fmt.Sprintf(" (%s:%d)", lastFolders(shortFile(e), 0), e.Line)
		}
		if times[text]++; times[text] == 1 {
			words = append(words, text)
		}
	}
	for i, text := range words {
		if n := times[text]; n > 1 {
			words[i] += fmt.Sprintf(", %d of these", n)
		}
	}
	return "seen together with: " + strings.Join(words, "; ")
}

// briefTail has what lines of the runtime and of the compiler say, which files there are,
// and the notes.
func briefTail(w *lines, r *Recording, s Style) {
	for _, l := range r.RuntimeLines {
		l.write(w, false, s)
		w.printf("\n")
	}
	if r.Compiler != nil {
		r.Compiler.write(w, s)
		w.printf("\n")
	}
	for _, f := range r.Files {
		name := clean(f.Name) + ":"
		text := wrap(name+" "+clean(describeFile(f)), s.width(), "  ")
		if rest, ok := strings.CutPrefix(text, name); ok {
			text = s.paint(bold, name) + rest
		}
		w.printf("%s\n", text)
		if more := moreOf(f, f.Name); more != "" {
			w.printf("  %s\n", s.paint(dim, clean(more)))
		}
	}
	notes := r.notes()
	for _, n := range notes {
		w.printf("%s\n", s.paint(yellow, wrap("Note: "+clean(n), s.width(), "  ")))
	}
	if len(r.Files) > 0 || len(notes) > 0 {
		w.printf("\n")
	}
}

// fullReport is the command that shows all of a recording.
const fullReport = "loupe report -v "

// rest counts what a brief report has left out.
func (r *Recording) rest(cards int, more string) string {
	var words []string
	if cut := r.Cards[min(cards, len(r.Cards)):]; len(cut) > 0 {
		var rules []string
		for _, c := range cut {
			rules = append(rules, r.Findings[c.Finding].Rule)
		}
		words = append(words, insight.LeftOut(r.Findings, cut)+" ("+strings.Join(rules, ", ")+")")
	}
	count := map[insight.State]int{}
	var hints []string
	for _, f := range r.Findings {
		if count[f.State]++; f.State == insight.Found && insight.IsAside(f.Rule) {
			hints = append(hints, f.Rule)
		}
	}
	if len(hints) > 0 {
		words = append(words, unit.Plural(len(hints), "thing")+" to try ("+strings.Join(hints, ", ")+")")
	}
	if n := count[insight.Fine]; n > 0 {
		words = append(words, unit.Plural(n, "rule")+" found nothing")
	}
	if n := count[insight.TooLittle]; n > 0 {
		words = append(words, fmt.Sprintf("%d had too little data", n))
	}
	if n := count[insight.NotApplicable]; n > 0 {
		words = append(words, fmt.Sprintf("%d do not apply", n))
	}
	text := strings.Join(words, ", ")
	if text != "" {
		text += ": "
	}
	// Several rules may have seen the same leak: one command weighs all of it.
	if _, leaks := insight.Leaks(r.Findings); len(leaks) > 0 && strings.HasPrefix(more, fullReport) {
		more += "; whether it is a leak, and how fast, with loupe leak " + strings.TrimPrefix(more, fullReport)
	}
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):] + "full report with " + more
}
