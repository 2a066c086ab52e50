package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// dumping is a recording of a program whose function makes a text of a response by the call in the line that is marked; the call
// costs what is said, and the program has printed a text.
func dumping(body, callee, output string) *recordingtest.Recording {
	source := "package main\n\nimport (\n\"bytes\"\n\"encoding/json\"\n\"fmt\"\n\"log/slog\"\n\"net/http\"\n\"net/http/httputil\"\n\"strings\"\n)\n\ntype client struct {\nlogger *slog.Logger\ncheckLevel, debugOff, debug bool\nfailures int\nlast string\nout chan string\nout2 *strings.Builder\n}\n\n" +
		"func shown(resp *http.Response) ([]byte, error) { return render(resp) }\n\nfunc (c *client) trace(resp *http.Response) error {\n" + body + "\nreturn nil\n}\n\nfunc main() { new(client).trace(nil) }\n"
	line := 1 + strings.Count(source[:strings.Index(source, "/*work*/")], "\n")
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	if output != "" {
		r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte(output))
	}
	way := fmt.Sprintf("main.main:/src/main.go:90 main.(*client).trace:/src/main.go:%d %s net/http.(*Response).Write", line, callee)
	withProfile(r, recording.CPU, "cpu", column{way, []int64{80}}, column{"main.main:/src/main.go:90 main.other:/src/other.go:3", []int64{20}})
	return r
}

// TestResultsForLogs: a text that comes with an error is told where only a debug call gets it and the error is no more than told
// of; an error that is answered leaves a doubt, and what anybody else gets is not told.
func TestResultsForLogs(t *testing.T) {
	const (
		dumps = "dump, err := httputil.DumpResponse(resp, true)/*work*/\n"
		warns = "if err != nil {\nc.logger.Warn(\"cannot show response\", \"error\", err)\nreturn nil\n}\n"
		debug = "c.logger.Debug(\"response\", \"text\", string(dump))"
		none  = "-"
	)
	for _, c := range []struct {
		name, body, severity string
	}{
		{"an error that is told of", dumps + warns + debug, "warning"},
		{"an error that is left out", "dump, _ := httputil.DumpResponse(resp, true)/*work*/\n" + debug, "warning"},
		{"where there is none", dumps + "if err == nil {\n" + debug + "\n}", "warning"},
		{"an error that is answered", dumps + "if err != nil {\nreturn err\n}\n" + debug, "info"},
		{"a level that is looked at on demand", "if c.checkLevel && !c.logger.Enabled(nil, slog.LevelDebug) {\nreturn nil\n}\ndump, _ := httputil.DumpResponse(resp, true)/*work*/\n" + debug, "warning"},
		{"a function of its own", "dump, _ := shown(resp)/*work*/\n" + debug, "warning"},
		{"an error that is counted", dumps + "if err != nil {\nc.failures++\n}\n" + debug, none},
		{"an error that is handed on", dumps + "note(err)\n" + debug, none},
		{"a text that is sent, too", dumps + debug + "\nc.out <- string(dump)", none},
		{"a text that is kept, too", dumps + debug + "\nc.last = string(dump)", none},
		{"a length that is answered", dumps + debug + "\nif len(dump) > 5 {\nreturn err\n}", none},
		{"a level that is on by default", dumps + "c.logger.Info(\"response\", \"text\", string(dump))", none},
		{"a level that is asked first", "if !c.logger.Enabled(nil, slog.LevelDebug) {\nreturn nil\n}\ndump, _ := httputil.DumpResponse(resp, true)/*work*/\n" + debug, none},
		{"a flag that is asked first", "if c.debugOff {\nreturn nil\n}\ndump, _ := httputil.DumpResponse(resp, true)/*work*/\n" + debug, none},
		{"a flag around it", "if c.debug {\ndump, _ := httputil.DumpResponse(resp, true)/*work*/\n" + debug + "\n}", none},
	} {
		callee := "net/http/httputil.DumpResponse"
		if strings.Contains(c.body, "shown(") {
			callee = "main.shown:/src/main.go:19"
		}
		f := answers(t, dumping(c.body, callee, ""), "CP13")[0]
		got := none
		if f.State == Found && strings.Contains(f.Title, "level is off") {
			got = strings.ToLower(fmt.Sprint(f.Severity))
		}
		if got != c.severity {
			t.Errorf("%s: %s, want %s: %s: %s", c.name, got, c.severity, f.Title, f.Summary)
		}
		if got == "warning" && strings.HasPrefix(callee, "net/") {
			doubted(t, f, "puts a copy in its place")
		}
		if got == "info" {
			doubted(t, f, "the function says so to its caller (main.go:")
		}
	}
}

// TestBuffersForLogs: what is written to a buffer of which only a debug call gets the text is told; a buffer that others read, get or
// ask for its length is not.
func TestBuffersForLogs(t *testing.T) {
	const (
		fill  = "var b strings.Builder\nfor k, v := range resp.Header {\nfmt.Fprintf(&b, \"%s %v\", k, v)/*work*/\n}\n"
		debug = "c.logger.Debug(\"response\", \"text\", b.String())"
	)
	for _, c := range []struct {
		name, body string
		found      bool
	}{
		{"a format for each", fill + debug, true},
		{"cut before", fill + "c.logger.Debug(\"response\", \"text\", strings.TrimSpace(b.String()))", true},
		{"more of it elsewhere", "b := &bytes.Buffer{}\nb.WriteString(\"head\")\n" + strings.TrimPrefix(strings.Replace(fill, "&b", "b", 1), "var b strings.Builder\n") + debug, true},
		{"an argument of a write", "var b strings.Builder\nb.WriteString(fmt.Sprintf(\"%v\", resp))/*work*/\n" + debug, true},
		{"an encoder", "var b bytes.Buffer\nif err := json.NewEncoder(&b).Encode(resp); err != nil {/*work*/\nc.logger.Warn(\"no\", \"error\", err)\nreturn nil\n}\n" + debug, true},

		{"its text is answered, too", fill + debug + "\nc.last = b.String()", false},
		{"its length is asked for", fill + debug + "\nif b.Len() > 9 {\nc.failures++\n}", false},
		{"it is handed on", fill + debug + "\nshow(&b)", false},
		{"it is a writer's", "b := c.out2\nfor k, v := range resp.Header {\nfmt.Fprintf(b, \"%s %v\", k, v)/*work*/\n}\n" + debug, false},
		{"it is given", "b := buffer(resp)\nfmt.Fprintf(b, \"%v\", resp)/*work*/\n" + debug, false},
		{"how much was written is counted", "var b strings.Builder\nn, _ := fmt.Fprintf(&b, \"%v\", resp)/*work*/\nc.failures += n\n" + debug, false},
		{"asked first", "if c.logger.Enabled(nil, slog.LevelDebug) {\n" + fill + debug + "\n}", false},
	} {
		callee := "fmt.Fprintf"
		for _, name := range []string{"fmt.Sprintf", "Encode"} {
			if strings.Contains(c.body, name) {
				callee = strings.Replace(name, "Encode", "encoding/json.(*Encoder).Encode", 1)
			}
		}
		f := answers(t, dumping(c.body, callee, ""), "CP13")[0]
		if off := f.State == Found && f.Severity == Warning && strings.Contains(f.Title, "level is off"); off != c.found {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Title, f.Summary)
		}
	}
}

// TestPrintedMessages: a debug call whose message the program has printed is not off; that of another level, or a part of
// another message, tells nothing.
func TestPrintedMessages(t *testing.T) {
	const body = "dump, _ := httputil.DumpResponse(resp, true)/*work*/\nc.logger.Debug(\"response\", \"text\", string(dump))"
	for _, c := range []struct {
		output string
		off    bool
	}{
		{"gc 1 @0.1s\n", true},
		{"time=1 level=DEBUG msg=response text=x\n", false},
		{"{\"level\":\"debug\",\"msg\":\"response\"}\n", false},
		{"time=1 level=WARN msg=\"cannot show response\" error=x\n", true},
		{"{\"level\":\"info\",\"msg\":\"response\"}\n", true},
		{"time=1 level=DEBUG msg=responses text=x\n", true},
		{"2026/01/02 ERROR response failed\n", true},
	} {
		f := answers(t, dumping(body, "net/http/httputil.DumpResponse", c.output), "CP13")[0]
		off := f.State == Found && strings.Contains(f.Title, "level is off")
		if off != c.off {
			t.Errorf("%s: %s: %s", c.output, f.Title, f.Summary)
		}
	}
}
