package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/analysis/sched"
	"loupe/format/godebug"
	"loupe/format/profile/profiletest"
	"loupe/insight"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

func TestClean(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	f("plain Größe 世界", "plain Größe 世界")
	f("\x1b[31mred\x1b[0m", "[31mred[0m")
	f("\x1b]0;title\x07", "]0;title")
	f("\u009b31mred", "31mred")
	f("a\tb\nc\u2028d", "a b c d")
	f("a\rb\x00c\x7fd", "abcd")
	f("\u202egnp.\u2066exe\u2069\u200f\u061c", "gnp.exe")
	f("bad\xffutf", "bad\ufffdutf")
}

func TestWrap(t *testing.T) {
	f := func(text string, width int, want string) {
		t.Helper()
		if got := wrap(text, width, ".."); got != want {
			t.Errorf("wrap(%q, %d) = %q, want %q", text, width, got, want)
		}
	}
	f("", 20, "")
	f("one two three four five six", 20, "one two three four\n..five six")
	f("exactly twenty chars", 20, "exactly twenty chars")
	f("exactly twenty chars!", 20, "exactly twenty\n..chars!")
	f("µµµµ µµµµ µµµµ µµµµ µ", 20, "µµµµ µµµµ µµµµ µµµµ\n..µ")
	f("a-word-that-is-longer-than-the-line b", 20, "a-word-that-is-longer-than-the-line\n..b")
	f(" a\n b ", 20, "a b")
	f("hardly any room is left here", -5, "hardly any room is\n..left here")
}

func TestGrid(t *testing.T) {
	var g grid
	g.add(cell{text: "name", left: true}, cell{text: "value"}, cell{text: "remark", left: true})
	g.add(cell{text: "µs", left: true}, cell{text: "1,234", paint: red}, cell{left: true})
	g.add(cell{text: "longer name", left: true}, cell{text: "–"})
	var b strings.Builder
	g.write(&b, Style{}, "  ")
	want := "  name         value  remark\n  µs           1,234\n  longer name      –\n"
	if b.String() != want {
		t.Errorf("grid:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	g.write(&b, Style{Colour: true}, "  ")
	if got := stripPaint(b.String()); got != want || !strings.Contains(b.String(), "\x1b[31m1,234\x1b[0m") {
		t.Errorf("colours change the layout:\n%s", b.String())
	}
	if g.width() != len("longer name  value  remark") {
		t.Errorf("width = %d", g.width())
	}
}

func TestChange(t *testing.T) {
	f := func(ratio, low, high float64, want string) {
		t.Helper()
		if got := change(compare.Change{Ratio: gc.Figure(ratio), Low: gc.Figure(low), High: gc.Figure(high)}); got != want {
			t.Errorf("change(%v, %v, %v) = %s, want %s", ratio, low, high, got, want)
		}
	}
	nan := math.NaN()
	f(nan, nan, nan, "–")
	f(1.93, nan, nan, "+93%")
	f(1.93, 1.85, 2.01, "+93% [+85%, +101%]")
	f(0.2, 0.18, 0.3, "-80% [-82%, -70%]")
	f(2.9, 0.5, 3.4, "×2.9 [×0.50, ×3.4]")
	f(12, 2.96, 13, "×12 [×3.0, ×13]")
}

// hostile is what somebody may put wherever a recording has a name.
const hostile = "\x1b[2J\u009b31m\u202e<script>alert(1)</script>|`*_[x](javascript:y)\n# head\n\x07"

// hostileRecording has it everywhere.
func hostileRecording() *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./x module=x go=go1.26\nrun 0s..1s\nphase bare 0s..10s user=5s\nphase cpu 10s..20s profiler=cpu\n" +
		"-- source/x.go source from=/x.go --\npackage x\n")
	r.Put(recording.Entry{Path: "cpu" + hostile + ".pb.gz", Kind: recording.CPU, Phase: "cpu"},
		profiletest.Encode("x/a.NAME:/x.go:1\nstrings.ToLower\n= 100", profiletest.Options{Raw: true}))
	m := &r.Manifest
	data := r.Files["cpu"+hostile+".pb.gz"].Data
	if len(hostile) > 127 {
		panic("the name does not fit")
	}
	// The string table has the length of a name in one byte before it.
	r.Files["cpu"+hostile+".pb.gz"].Data = bytes.Replace(data, []byte("\x08x/a.NAME"), append([]byte{byte(len("x/a.") + len(hostile))}, "x/a."+hostile...), 1)
	r.Files["source/x.go"].Data = []byte("package x // " + hostile)
	m.Title, m.Target.Name, m.Target.Go, m.Host.Virtual = hostile, hostile, hostile, hostile
	m.Target.Args, m.Target.Env, m.Notes = []string{hostile}, []string{hostile}, []string{hostile}
	m.Target.Runs[0].Exit, m.Phases[0].Name, m.Phases[1].Error = hostile, hostile, ""
	return r
}

// safe checks that text holds nothing that a terminal would obey.
func safe(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s is not UTF-8", what)
	}
	for line := range strings.Lines(text) {
		for _, r := range strings.TrimSuffix(line, "\n") {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%s: line %q holds %q", what, line, r)
				break
			}
		}
	}
}

// TestHostile prints the recording in every form.
func TestHostile(t *testing.T) {
	r, _ := examined(t, hostileRecording())
	c := compared(t, hostileRecording(), hostileRecording())
	if r.Findings[0].Rule != "CP01" || !strings.Contains(r.Findings[0].Evidence[0].Function, "<script>") {
		t.Fatalf("the fixture does not bring its function: %+v", r.Findings[0])
	}
	for what, write := range map[string]func(io.Writer) error{
		"report":      func(w io.Writer) error { return WriteRecording(w, r, Style{Width: 80}) },
		"brief":       func(w io.Writer) error { return WriteBrief(w, r, "loupe report -v x", Style{Width: 80}) },
		"brief md":    func(w io.Writer) error { return WriteBriefMarkdown(w, r, "loupe report -v x") },
		"compare":     func(w io.Writer) error { return WriteComparison(w, c, Style{Width: 80}) },
		"demo":        func(w io.Writer) error { return WriteDemo(w, c, Style{Width: 80}) },
		"report md":   func(w io.Writer) error { return WriteRecordingMarkdown(w, r) },
		"compare md":  func(w io.Writer) error { return WriteComparisonMarkdown(w, c) },
		"report json": func(w io.Writer) error { return WriteJSON(w, r) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		text := b.String()
		if what == "report json" {
			if strings.ContainsAny(text, "\x1b\x07\u009b") {
				t.Errorf("%s holds raw control characters", what)
			}
			continue
		}
		safe(t, what, text)
		if strings.HasSuffix(what, "md") {
			plainMarkdown(t, what, text)
		}
	}
}

// plainMarkdown checks that nothing of the hostile name became markup: what
// is left outside of code spans has neither tags nor links nor headings.
func plainMarkdown(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		outside := ""
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				outside += part
			}
		}
		if strings.Count(line, "`")%2 != 0 {
			t.Errorf("%s: line %q has a code span that does not end", what, line)
		}
		for _, mark := range []string{"<script", "</script", "*_", "[x]("} {
			if strings.Contains(strings.NewReplacer(`\*`, "", `\_`, "", `\[`, "", `\]`, "").Replace(outside), mark) {
				t.Errorf("%s: line %q holds %q", what, line, mark)
			}
		}
		if strings.HasPrefix(line, "# head") {
			t.Errorf("%s: a name became a heading: %q", what, line)
		}
	}
}

// TestHostileSVG draws it, and the picture is well-formed XML.
func TestHostileSVG(t *testing.T) {
	c := compared(t, hostileRecording(), hostileRecording())
	var b strings.Builder
	if err := WriteSVG(&b, 90, func(w io.Writer, s Style) error { return WriteDemo(w, c, s) }); err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(b.String()))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
			t.Error("the picture has a script")
		}
	}
}

func TestEscape(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := escape(in); got != want {
			t.Errorf("escape(%q) = %q, want %q", in, got, want)
		}
	}
	f("plain text, 54.0% at rss.go:5", "plain text, 54.0% at rss.go:5")
	f(`-list '\(\*T\)\.M'`, `-list '\\(\\\*T\\)\\.M'`)
	f("a|b", `a\|b`)
	f("<b>&lt;", "&lt;b&gt;&amp;lt;")
	f("~~x~~ `y`", `\~\~x\~\~ 'y'`)
	if got := code("a`b\x1bc"); got != "`a'bc`" {
		t.Errorf("code = %s", got)
	}
}

// TestColour: colours change nothing but colours.
func TestColour(t *testing.T) {
	r, _ := examined(t, forms[0].record())
	var plain, painted strings.Builder
	if err := errors.Join(WriteRecording(&plain, r, Style{Width: 80}), WriteRecording(&painted, r, Style{Width: 80, Colour: true})); err != nil {
		t.Fatal(err)
	}
	if plain.String() == painted.String() || stripPaint(painted.String()) != plain.String() {
		t.Errorf("with colours the text is another:\n%s", diffLines(plain.String(), stripPaint(painted.String())))
	}
}

// TestFits keeps reports within the width of the terminal.
func TestFits(t *testing.T) {
	r, _ := examined(t, forms[0].record())
	c := compared(t, forms[0].record(), forms[1].record())
	for _, width := range []int{80, 100, 120} {
		var b strings.Builder
		if err := errors.Join(WriteRecording(&b, r, Style{Width: width}), WriteComparison(&b, c, Style{Width: width}), WriteDemo(&b, c, Style{Width: width})); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(line) - 1; n > width {
				t.Errorf("at %d columns a line has %d: %s", width, n, line)
			}
		}
	}
}

// TestUnfinished says that the end is missing.
func TestUnfinished(t *testing.T) {
	r, _ := examined(t, recordingtest.New("title cut\nincomplete\nphase bare 0s..1s"))
	for name, write := range map[string]func(io.Writer) error{
		"text": func(w io.Writer) error { return WriteRecording(w, r, Style{}) },
		"md":   func(w io.Writer) error { return WriteRecordingMarkdown(w, r) },
		"json": func(w io.Writer) error { return WriteJSON(w, r) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil || !strings.Contains(strings.ToLower(b.String()), "incomplete") || !strings.Contains(b.String(), "the recording was cut off") {
			t.Errorf("%s: %v:\n%s", name, err, b.String())
		}
	}
}

// TestFailingWriter passes the failure of the writer on.
func TestFailingWriter(t *testing.T) {
	full := errors.New("no space left")
	w := writerFunc(func(p []byte) (int, error) { return 0, full })
	r, _ := examined(t, forms[0].record())
	c := compared(t, forms[0].record(), forms[1].record())
	for what, err := range map[string]error{
		"WriteRecording": WriteRecording(w, r, Style{}), "WriteComparison": WriteComparison(w, c, Style{}), "WriteDemo": WriteDemo(w, c, Style{}),
		"WriteRecordingMarkdown": WriteRecordingMarkdown(w, r), "WriteComparisonMarkdown": WriteComparisonMarkdown(w, c), "WriteJSON": WriteJSON(w, r),
		"WriteGC": WriteGC(w, []Collections{{Summary: gc.Analyse(nil, gc.Options{})}}, nil, true, Style{}), "WriteSched": WriteSched(w, []Samples{{Summary: sched.Analyse(nil, sched.Options{})}}, Style{}),
	} {
		if !errors.Is(err, full) {
			t.Errorf("%s = %v, want %v", what, err, full)
		}
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestGoldenRuntime prints what gc and sched say of a log.
func TestGoldenRuntime(t *testing.T) {
	log := godebug.Parse([]byte(recordingtest.Scheds(4, 4, 1, 1, 0, 4) + recordingtest.Cycles(12, 10*time.Millisecond, 100*time.Millisecond, func(i int, c *recordingtest.Cycle) {
		c.Background, c.Assist, c.Idle, c.Live, c.Forced = 2*time.Millisecond, time.Millisecond, time.Millisecond, 2+i, i == 5
		if i == 7 {
			c.STW1 = 450 * time.Microsecond
		}
	}) + "gc 13 @1.3s 0%: torn\x1b[31m\n"))
	all := []Collections{{Title: "bare", Summary: gc.Analyse(log.Cycles, gc.Options{Requests: 600, Duration: 1200 * time.Millisecond}), Unrecognised: log.Unrecognised}}
	golden(t, "COLUMNS=100 gc -cycles log", func(w io.Writer) error { return WriteGC(w, all, nil, true, Style{}) })
	samples := []Samples{{Title: "bare", Summary: sched.Analyse(log.Samples, sched.Options{})}}
	golden(t, "COLUMNS=100 sched log", func(w io.Writer) error { return WriteSched(w, samples, Style{}) })
}

// TestEveryState prints each state and severity.
func TestEveryState(t *testing.T) {
	all := []insight.Finding{
		{Rule: "AA01", Title: "Grave", State: insight.Found, Severity: insight.Critical, Summary: "it is grave", Advice: "act", Doubts: []string{"or not"}},
		{Rule: "BB02", Title: "Short", State: insight.TooLittle, Summary: "too short"},
		{Rule: "CC03", Title: "Well", State: insight.Fine, Summary: "all is well"},
		{Rule: "DD04", Title: "None", State: insight.NotApplicable, Summary: "no such thing"},
	}
	var b strings.Builder
	writeFindings(&lines{w: &b}, all, "Nothing.", tooShort, Style{})
	want := `  critical  AA01 Grave: it is grave
            → act
            ? or not

  Too little data  BB02  too short
  Fine             CC03  all is well
  Not applicable   DD04  no such thing
`
	if b.String() != want {
		t.Errorf("findings:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	short := []insight.Finding{
		{Rule: "EE05", State: insight.TooLittle, Short: true, Summary: "3 of 20"},
		{Rule: "FF06", State: insight.TooLittle, Summary: "cannot read x"},
		{Rule: "GG07", State: insight.TooLittle, Short: true, Summary: "2 of 5"},
		{Rule: "HH08", State: insight.Fine, Summary: "none"},
		{Rule: "II09", State: insight.Fine, Summary: "none"},
	}
	writeFindings(&lines{w: &b}, short, "Nothing.", tooShort, Style{})
	want = `  Nothing.
  Too little data  EE05, GG07: the recording is too short; record longer or under load (-json says
                   what each rule needs)
  Too little data  FF06  cannot read x
  Fine             HH08, II09: none
`
	if b.String() != want {
		t.Errorf("answers that are alike:\n%s\nwant:\n%s", b.String(), want)
	}
	b.Reset()
	writeFindings(&lines{w: &b}, short[:2], "Nothing.", tooShort, Style{})
	if !strings.Contains(b.String(), "EE05  3 of 20\n") {
		t.Errorf("one alone says what it needs:\n%s", b.String())
	}
	b.Reset()
	writeFindings(&lines{w: &b}, all[1:], "Nothing.", tooShort, Style{})
	if !strings.HasPrefix(b.String(), "  Nothing.\n") {
		t.Errorf("findings:\n%s", b.String())
	}
	b.Reset()
	c := &Comparison{Table: &compare.Table{Titles: []string{"a", "b"}}, Findings: [][]insight.Finding{all[:1], {{Rule: "AA01", State: insight.Fine}}}}
	writeCameAndWent(&lines{w: &b}, c, Style{})
	if got := b.String(); got != "  gone in b: AA01 Grave\n" {
		t.Errorf("came and went: %q", got)
	}
	b.Reset()
	c.Findings[0], c.Findings[1] = c.Findings[1], c.Findings[0]
	writeCameAndWent(&lines{w: &b}, c, Style{})
	if got := b.String(); got != "  new in b: AA01 Grave\n" {
		t.Errorf("came and went: %q", got)
	}
}
