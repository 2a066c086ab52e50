package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestUnwritten: a log call of which no sample writes anything, and whose message the program has not printed, has no level to raise; where a sample writes,
// the output has the message or is not known, or the program has a logger that keeps, nothing of the kind is said.
func TestUnwritten(t *testing.T) {
	const (
		kit    = "github.com/go-kit/log.(*context).Log github.com/go-kit/log.bindValues github.com/go-kit/log.Caller.func1 runtime.Caller"
		writes = "github.com/go-kit/log.(*context).Log github.com/go-kit/log.(*logfmtLogger).Log github.com/go-logfmt/logfmt.(*Encoder).EncodeKeyvals"
		head   = "package main\n\nimport (\n\"io\"\n\"github.com/go-kit/log\"\n\"github.com/go-kit/log/level\"\n)\n\n"
		call   = "func handle(logger log.Logger, line string) {\nlevel.Debug(logger).Log(\"msg\", \"incoming line\", \"line\", line) // A\n}\n"
		inside = "func open(w io.Writer) log.Logger {\nl := log.NewLogfmtLogger(w)\nl = level.NewFilter(l, level.AllowInfo())\nreturn log.With(l, \"caller\", log.DefaultCaller)\n}\n"
		around = "func open(w io.Writer) log.Logger {\nl := log.NewLogfmtLogger(w)\nl = log.With(l, \"caller\", log.DefaultCaller)\nreturn level.NewFilter(l, level.AllowInfo())\n}\n"
		fixed  = "func open(w io.Writer) log.Logger {\nl := log.NewLogfmtLogger(w)\nl = level.NewFilter(l, level.AllowInfo())\nreturn log.With(l, \"app\", \"x\")\n}\n"
		keeps  = "type ring struct{ all []any }\nfunc (r *ring) Log(keyvals ...any) error {\nr.all = append(r.all, keyvals)\nreturn nil\n}\n"
		info   = "level=info msg=listening\n"
	)
	for _, c := range []struct {
		name, source, stack, output string
		says                        string // empty is not told
	}{
		{"the filter is inside", call + inside, kit, info, "The filter is within what adds values to each line (main.go:15)"},
		{"the filter is outside", call + around, kit, info, "cannot be asked for its level"},
		{"values that cost nothing", call + fixed, kit, info, "cannot be asked for its level"},

		{"a sample writes", call + inside, writes, info, ""},
		{"it was printed", call + inside, kit, info + "level=debug msg=\"incoming line\" line=x\n", ""},
		{"it was printed on another level", call + inside, kit, info + "level=info msg=\"incoming line\" line=x\n", ""},
		{"no output is known", call + inside, kit, "", ""},
		{"no message", strings.Replace(call, "\"msg\", \"incoming line\", \"line\", ", "\"l\", ", 1) + inside, kit, info, ""},
		{"a logger that keeps", call + inside + keeps, kit, info, ""},
		{"another module", strings.ReplaceAll(call+inside, "go-kit/log", "other/log"), strings.ReplaceAll(kit, "go-kit/log", "other/zap"), info, ""},
	} {
		source := head + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		if c.output != "" {
			r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr}, []byte(c.output))
		}
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "net/http.(*conn).serve main.handle@A "+c.stack), []int64{78}}, column{stackAt(source, "net/http.(*conn).serve main.handle@A runtime.convTstring"), []int64{2}},
			column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP13")[0]
		if told := f.Title == unwrittenTitle; told != (c.says != "") || told && (!strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, "raise the level") || !strings.Contains(f.Summary, "no line with \"incoming line\"")) {
			t.Errorf("%s: %s %q: %s\nadvice: %s", c.name, f.State, f.Title, f.Summary, f.Advice)
		}
	}
}
