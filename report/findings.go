package report

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"loupe/insight"
	"loupe/recording"
)

// severityPaint is the colour of each severity.
var severityPaint = map[insight.Severity]string{
	insight.Critical: red, insight.Warning: yellow, insight.Info: dim,
}

// others are answers without a finding that say the same.
type others struct {
	rules []string
	text  string
}

// tooShort stands for what each of several rules lacks.
const tooShort = "the recording is too short; record longer or under load (-json says what each rule needs)"

// tooFew is the same of a program that ends by itself, however long it took.
const tooFew = "too few samples or events were recorded of a program that ended by itself; give it more to do (-json says what each rule needs)"

// lacks stands for what each of several rules lacks in a recording.
func lacks(m *recording.Manifest) string {
	if wholeRun(m) > 0 {
		return tooFew
	}
	return tooShort
}

// othersOf gathers the answers of a state. A short tool is too little for most
// rules; in a line for each they would hide what else is said.
func othersOf(all []insight.Finding, state insight.State, lacking string) (out []others) {
	short := 0
	for _, f := range all {
		if f.State == state && f.Short {
			short++
		}
	}
	for _, f := range all {
		if f.State != state {
			continue
		}
		text := f.Summary
		if f.Short && short > 1 {
			text = lacking
		}
		i := slices.IndexFunc(out, func(o others) bool { return o.text == text })
		if i < 0 {
			i, out = len(out), append(out, others{text: text})
		}
		out[i].rules = append(out[i].rules, f.Rule)
	}
	return out
}

// writeFindings prints what the rules came to: findings whole, everything
// else in a line for each answer, because a silent rule would read as "fine".
// lacking is what stands for what several rules lack.
func writeFindings(w *lines, all []insight.Finding, headline, lacking string, s Style) {
	found := 0
	for _, f := range all {
		if f.State == insight.Found {
			writeFinding(w, f, s)
			found++
		}
	}
	if found == 0 {
		w.printf("  %s\n", wrap(headline, s.width()-2, "  "))
	}
	writeLeaks(w, all, s)
	for _, group := range []struct {
		state insight.State
		name  string
	}{{insight.TooLittle, "Too little data"}, {insight.Fine, "Fine"}, {insight.NotApplicable, "Not applicable"}} {
		for _, o := range othersOf(all, group.state, lacking) {
			head := fmt.Sprintf("  %-15s  ", group.name)
			body := strings.Join(o.rules, ", ") + ": " + clean(o.text)
			if len(o.rules) == 1 {
				head, body = head+o.rules[0]+"  ", clean(o.text)
			}
			w.printf("%s%s\n", s.paint(dim, head), s.paint(dim, wrap(body, s.width()-len(head), strings.Repeat(" ", len(head)))))
		}
	}
}

// writeLeaks puts together what several rules say of leaks.
func writeLeaks(w *lines, all []insight.Finding, s Style) {
	verdict, leaks := insight.Leaks(all)
	if len(leaks) < 2 {
		return // the finding says it
	}
	w.printf("  %s\n\n", s.paint(bold, wrap(verdict, s.width()-2, "  ")))
	g := &grid{}
	for _, l := range leaks {
		where, by := "", l.Rule
		if l.File != "" {
			where = fmt.Sprintf("%s:%d", clean(lastFolders(l.File, 0)), l.Line)
		}
		if l.Proved {
			by += ", proved"
		}
		g.add(cell{text: l.What, left: true}, cell{text: l.Much, left: true}, cell{text: where, left: true}, cell{text: by, paint: dim, left: true})
	}
	s.fit(g, 4)
	g.write(w, s, "    ")
	w.printf("\n")
}

// findingIndent stands before everything but the first line of a finding.
const findingIndent = "            "

// writeFindingHead prints how grave a finding is, and what was measured.
func writeFindingHead(w *lines, f insight.Finding, s Style) {
	head := fmt.Sprintf("  %-8s  ", f.Severity)
	body := fmt.Sprintf("%s %s: %s", f.Rule, f.Title, clean(f.Summary))
	w.printf("%s%s\n", s.paint(severityPaint[f.Severity], head), s.paint(bold, wrap(body, s.width()-len(head), findingIndent)))
}

// writeEvidence prints where a finding is seen, with its callers and its source.
func writeEvidence(w *lines, e insight.Evidence, s Style) {
	writePlace(w, e, findingIndent, s.width())
	writeCallers(w, e, findingIndent+"    ", s)
	if e.Source != "" {
		w.printf("%s    %s\n", findingIndent, s.paint(green, clean(e.Source)))
	}
}

func writeFinding(w *lines, f insight.Finding, s Style) {
	writeFindingHead(w, f, s)
	writeFindingBody(w, f, s)
}

// WriteFindingBody prints what stands below the head of a finding: where it is seen, what to
// do, and the doubts.
func WriteFindingBody(out io.Writer, f insight.Finding, s Style) error {
	w := &lines{w: out}
	writeFindingBody(w, f, s)
	return w.err
}

func writeFindingBody(w *lines, f insight.Finding, s Style) {
	const indent = findingIndent
	for _, e := range f.Evidence {
		writeEvidence(w, e, s)
	}
	if f.Advice != "" {
		w.printf("%s→ %s\n", indent, wrap(clean(f.Advice), s.width()-len(indent)-2, indent+"  "))
	}
	if f.Verify != "" {
		w.printf("%s✓ %s\n", indent, wrap(clean(f.Verify), s.width()-len(indent)-2, indent+"  "))
	}
	if f.Prove != "" {
		w.printf("%s✓ %s\n", indent, clean(f.Prove)) // in one line, for whoever copies it
	}
	for _, d := range f.Doubts {
		w.printf("%s? %s\n", indent, s.paint(dim, wrap(clean(d), s.width()-len(indent)-2, indent+"  ")))
	}
	w.printf("\n")
}

// writePlace prints where something was seen: the file and line, which stay
// whole for whoever copies them, and what is to be seen there.
func writePlace(w *lines, e insight.Evidence, indent string, width int) {
	text := clean(e.Text)
	if e.File == "" {
		w.printf("%s%s\n", indent, wrap(text, width-len(indent)-2, indent+"  "))
		return
	}
	place := fmt.Sprintf("%s:%d", clean(shortFile(e)), e.Line)
	gap := "  "
	if len(indent)+utf8.RuneCountInString(place+gap+text)+2 > width {
		gap = "\n" + indent + "  "
	}
	w.printf("%s%s%s(%s)\n", indent, place, gap, wrap(text, width-len(indent)-4, indent+"   "))
}

// fewCallers is how many frames are printed of a stack: -json has them all.
const fewCallers = 3

// writeCallers prints who called the place, if the rule knows it.
func writeCallers(w *lines, e insight.Evidence, indent string, s Style) {
	at := slices.IndexFunc(e.Stack, func(f insight.Frame) bool {
		return f.Function == e.Function && f.File == e.File && f.Line == e.Line
	})
	if at < 0 || at+1 == len(e.Stack) {
		return
	}
	callers := e.Stack[at+1:]
	var words []string
	for _, f := range callers[:min(len(callers), fewCallers)] {
		words = append(words, fmt.Sprintf("%s %s:%d", shownFunction(f.Function), path.Base(strings.ReplaceAll(f.File, "\\", "/")), f.Line))
	}
	if more := len(callers) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("+%d", more))
	}
	text := clean("from " + strings.Join(words, ", "))
	w.printf("%s%s\n", indent, s.paint(dim, wrap(text, s.width()-len(indent), indent+"  ")))
}

// shortFile is how a file is shown: as the module has it, where that is known.
func shortFile(e insight.Evidence) string {
	if e.Short != "" {
		return e.Short
	}
	return e.File
}
