package insight

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"loupe/analysis/facts"
	"loupe/format/dump"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/unit"
)

var fa01 = &Rule{
	ID: "FA01", Title: "The program failed",
	About: "A panic, a fatal error, a deadlock, a stack overflow, or a signal that ended the program, as shown by its standard error, a dump or a " +
		"core: nothing else that was measured matters as much. A handler panic that net/http recovered is reported too, with less weight.",
	Asks:   []facts.Question{facts.Ending},
	Params: []Param{{"most", 3, "failures", "chosen: different ones that are reported, those that ended the program first"}},
	Check:  checkFailed,
}

// mishap is one way in which the program failed, which may be there several
// times: of each round, of each request.
type mishap struct {
	kind   dump.Kind
	caught bool // by net/http, which goes on
	text   string
	at     stack.Frame
	frames []stack.Frame
	entry  recording.Entry
	count  int // goroutines in the same dump, with this one
	times  int
}

func checkFailed(r *Rule, in *Input) []Finding {
	all, err := in.Session.Stacks()
	var found []*mishap
	type spot struct {
		kind   dump.Kind
		caught bool
		at     string
		line   int
	}
	known := map[spot]*mishap{}
	dumps := 0
	for _, l := range all {
		for i := range l.Dumps {
			dumps++
			f := mishapOf(in, &l, &l.Dumps[i])
			if f == nil {
				continue
			}
			at := spot{f.kind, f.caught, f.at.Func, f.at.Line}
			if same := known[at]; same != nil {
				same.times++
				continue
			}
			known[at] = f
			found = append(found, f)
		}
	}
	slices.SortStableFunc(found, func(a, b *mishap) int { return cmp.Compare(weight(a), weight(b)) })
	var findings []Finding
	for _, f := range found[:min(int(r.param("most")), len(found))] {
		findings = append(findings, failedFinding(r, in, f))
	}
	switch m := in.Session.Manifest(); {
	case len(findings) > 0:
		return findings
	case endedText(in) != "":
		return []Finding{r.answer(TooLittle, "%s", endedText(in))}
	case dumps > 0:
		return []Finding{r.answer(Fine, "%s, and none is from a program that failed", unit.Plural(int64(dumps), "dump"))}
	case err != nil && (len(m.Of(recording.Stacks))+len(m.Of(session.CoreFile)) > 0 || !errors.Is(err, session.ErrNone)):
		// What cannot be read tells of nothing.
		return []Finding{r.answer(TooLittle, "%v", err)}
	case len(m.Of(recording.Stderr)) > 0:
		return []Finding{r.answer(Fine, "the standard error shows no failure")}
	}
	return []Finding{r.answer(NotApplicable, "the recording has no %s", facts.Describe(recording.Stacks))}
}

// weight orders failures: those that ended the program first.
func weight(f *mishap) int {
	if f.caught {
		return 1
	}
	return 0
}

// mishapOf is what a dump tells of a failure; nil for one that was asked for.
func mishapOf(in *Input, l *session.Listing, d *dump.Dump) *mishap {
	if d.Kind == dump.Goroutines || d.Kind == dump.Profile || d.Kind == dump.Signal && strings.HasPrefix(d.SignalLine, "SIGQUIT") {
		return nil
	}
	f := &mishap{kind: d.Kind, entry: l.Entry, times: 1, text: messageLine(strings.TrimSpace(d.Message))}
	if n := len(d.Panics); n > 0 && d.Kind == dump.Panic {
		f.text = messageLine(d.Panics[n-1].Value)
	}
	line := messageLine(d.Message)
	f.caught = strings.Contains(line, "http: panic serving") || strings.Contains(line, "http2: panic serving")
	test := ""
	if d.Kind == dump.Timeout {
		test = runningTest(d.Message)
		f.text = cmp.Or(test, f.text)
	}
	test, _, _ = strings.Cut(test, " ")
	test, _, _ = strings.Cut(test, "/") // a part of it has no function of its own
	for g := d.First; g < d.End; g++ {
		if l.Count(g) == 0 {
			continue // the stack of a thread
		}
		f.count++
		if f.frames != nil && test == "" {
			continue
		}
		frames := facts.Frames(l.Stacks, l.StackIDs[g])
		runs := test != "" && slices.ContainsFunc(frames, func(fr stack.Frame) bool { return strings.HasSuffix(fr.Func, "."+test) })
		if f.frames == nil || runs {
			f.frames = frames
		}
	}
	// The function that cgo has made for a call is none of the program.
	made := func(fr stack.Frame) bool { return strings.HasSuffix(fr.File, "_cgo_gotypes.go") }
	f.at = in.code.userFrame(slices.DeleteFunc(slices.Clone(f.frames), made))
	return f
}

// runningTest is the first test that was running when the time was over, with
// its time: "TestX (1m0s)".
func runningTest(message string) string {
	_, list, _ := strings.Cut(message, "running tests:\n")
	line, _, _ := strings.Cut(list, "\n")
	return messageLine(strings.TrimSpace(line))
}

// longestReason is how many bytes of a message a summary repeats; the dump has
// the rest.
const longestReason = 200

// messageLine is the first line of a message, and not too much of it.
func messageLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > longestReason {
		n := longestReason
		for !utf8.RuneStart(line[n]) {
			n--
		}
		line = line[:n] + "…"
	}
	return line
}

// told are the words for each kind of failure, and what to do.
var told = map[dump.Kind][2]string{
	dump.Panic:         {"it panicked", "Fix the line; the arguments of its callers show the values involved (loupe stacks -binary BIN FILE)."},
	dump.Fatal:         {"the runtime ended it", "recover cannot catch this: fix the line. For concurrent map writes, go test -race finds both sides."},
	dump.Deadlock:      {"nothing could go on", "Check what each goroutine waits for, and what should have ended that wait: the group of each is in the dump."},
	dump.StackOverflow: {"a stack overflowed", "Give the recursion a base case, or make it a loop."},
	dump.Timeout:       {"a test took too long", "Look at the goroutine of the test, and what it waits for."},
	dump.Signal:        {"a signal ended it", "If nobody sent it, C code or the hardware did: the registers and the thread are in the dump (loupe stacks -full FILE)."},
}

func failedFinding(r *Rule, in *Input, f *mishap) Finding {
	words := told[f.kind]
	if f.caught {
		words = [2]string{"a handler panicked, and net/http went on", "Fix the line: the request was lost, and any mutex it held stays locked."}
	}
	find := r.answer(Found, "%s at %s: %s", words[0], place(f.at), f.text)
	if f.times > 1 {
		find.Summary += fmt.Sprintf(" (%s times)", unit.Count(int64(f.times)))
	}
	find.Severity, find.Score = Critical, 100
	if f.caught {
		find.Severity, find.Score = Warning, 75
	}
	e := Evidence{Text: "the goroutine that failed", Path: f.entry.Path, Phase: f.entry.Phase, File: f.at.File, Line: f.at.Line, Function: f.at.Func}
	if f.count > 1 {
		e.Text += ", one of " + unit.Count(int64(f.count))
	}
	source := in.code.text(f.at.File, f.at.Line)
	e.Source = source
	e.Stack = evidenceStack(f.frames)
	find.Evidence = []Evidence{e}
	find.Advice, find.Verify = words[1], "Run it again with the same input: the standard error should show no failure."
	return find
}
