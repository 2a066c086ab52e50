package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestTextsForLogs: texts that are collected, joined, returned and handed on, and that only debug calls are given, are told
// where they are made; those that anything else gets are not.
func TestTextsForLogs(t *testing.T) {
	const collected = "msgs = append(msgs, fmt.Sprintf(\"%v\", j))/*work*/\n"
	for _, c := range []struct {
		name, pick, rest string // the body of the function that makes them, and what its caller does with them
		found            bool
	}{
		{"collected and joined", collected + "return 1, msgs", "log.Debug(\"picked\", \"all\", strings.Join(msgs, \";\"))", true},
		{"one of two calls asks first", collected + "return 1, msgs", "if log.Enabled() {\nlog.Debug(\"one\", msgs)\n}\nlog.Debug(\"picked\", msgs)", true},
		{"a variable between", "text := fmt.Sprintf(\"%v\", j)/*work*/\nmsgs = append(msgs, text, \"x\")\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", true},
		{"a function of its own hands it on", collected + "return 1, msgs", "tell(strings.Join(msgs, \",\"))", true},
		{"a room of their number", collected + "return 1, msgs", "all := make([]string, 0, len(msgs))\nall = append(all, msgs...)\nlog.Debug(\"picked\", all)", true},
		{"each is logged", collected + "return 1, msgs", "for _, m := range msgs {\nlog.Debug(\"one\", m)\n}", true},
		{"each is logged and counted", collected + "return 1, msgs", "for _, m := range msgs {\nlog.Debug(\"one\", m)\ncount++\n}", false},
		{"they are counted", collected + "return 1, msgs", "for range msgs {\ncount++\n}\nlog.Debug(\"picked\", msgs)", false},
		{"a String method, which others print", "msgs = append(msgs, j.String())\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", false},
		{"the function is handed on as a value", collected + "return 1, msgs", "log.Debug(\"picked\", msgs)\npicker = pick", false},
		{"they are answered, too", collected + "return 1, msgs", "log.Debug(\"picked\", msgs)\nfmt.Println(msgs)", false},
		{"they are kept", collected + "return 1, msgs", "log.Debug(\"picked\", msgs)\nlast = msgs", false},
		{"a level that is on by default", collected + "return 1, msgs", "log.Info(\"picked\", msgs)", false},
		{"it is compared", "text := fmt.Sprintf(\"%v\", j)/*work*/\nif text == \"\" {\nreturn 0, nil\n}\nmsgs = append(msgs, text)\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", false},
		{"their number decides", collected + "return 1, msgs", "if len(msgs) > 3 {\nfmt.Println(n)\n}\nlog.Debug(\"picked\", msgs)", false},
		{"it is the key of a map", "text := fmt.Sprintf(\"%v\", j)/*work*/\nknown[text] = true\nmsgs = append(msgs, text)\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", false},
		{"it is sent", "text := fmt.Sprintf(\"%v\", j)/*work*/\nout <- text\nmsgs = append(msgs, text)\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", false},
		{"a function without a name returns it", "f := func() string { return fmt.Sprintf(\"%v\", j) }/*work*/\nmsgs = append(msgs, f())\nreturn 1, msgs", "log.Debug(\"picked\", msgs)", false},
	} {
		source := "package main\n\nimport (\n\"fmt\"\n\"strings\"\n)\n\ntype job struct{ id int }\n\ntype logger struct{ on bool }\n\nfunc (l *logger) Enabled() bool { return l.on }\n" +
			"func (l *logger) Debug(msg string, kv ...any) { l.write(0, msg, kv) }\nfunc (l *logger) Info(msg string, kv ...any) { l.write(1, msg, kv) }\n" +
			"func (l *logger) write(n int, msg string, kv []any) {\nif n > 0 || l.on {\nfmt.Println(msg, kv)\n}\n}\n\n" +
			"var (\nlog = &logger{}\nlast []string\ncount int\npicker func(*job) (int, []string)\nknown = map[string]bool{}\nout = make(chan string, 9)\n)\n\n" +
			"func tell(text string) { log.Debug(\"told\", text) }\n\n" +
			"func (j *job) String() string {\nreturn fmt.Sprintf(\"%v\", j.id)/*string*/\n}\n\nfunc pick(j *job) (int, []string) {\nvar msgs []string\n" + c.pick + "\n}\n\n" +
			"func step(j *job) {\nn, msgs := pick(j)/*call*/\n_ = n\n" + c.rest + "\n}\n\nfunc main() { step(&job{}) }\n"
		line := func(mark string) int { return 1 + strings.Count(source[:max(0, strings.Index(source, mark))], "\n") }
		way := fmt.Sprintf("main.main:/src/main.go:90 main.step:/src/main.go:%d main.pick:/src/main.go:%d fmt.Sprintf fmt.(*pp).doPrintf", line("/*call*/"), line("/*work*/"))
		if strings.Contains(c.name, "String method") { // which somebody else calls
			way = fmt.Sprintf("main.main:/src/main.go:90 fmt.Println main.(*job).String:/src/main.go:%d fmt.Sprintf fmt.(*pp).doPrintf", line("/*string*/"))
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{way, []int64{80}}, column{"main.main:/src/main.go:90 main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP13")[0]
		if told := f.State == Found && f.Severity == Warning; told != c.found || told && (!strings.Contains(f.Title, "level is off") || f.Evidence[0].Line != line("/*work*/")) {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}
