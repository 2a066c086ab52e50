package insight

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestProcesses: a process for each item is one in a loop through items.
func TestProcesses(t *testing.T) {
	const helper = "\n\nfunc git(args ...string) error {\n\treturn exec.Command(\"git\", args...).Run() // start\n}\n"
	for _, c := range []struct {
		name, body string
		lines      []int // of main that call the helper, one after another
		advises    string
		severity   Severity
	}{
		{"a loop through items", "\tfor _, x := range os.Args {\n\t\tgit(x)\n\t}\n", []int{5, 5, 5, 5, 5}, "Do not start a process for each item", Warning},
		{"one after another", "\tgit(\"fetch\")\n\tgit(\"checkout\")\n\tgit(\"clean\")\n\tgit(\"gc\")\n", []int{4, 5, 6, 7}, "It waits for several runs of other programs", Info},
		{"a loop that goes through no items", "\tfor range 4 {\n\t\tgit(\"fetch\")\n\t}\n", []int{5, 5, 5, 5}, "It waits for other programs, which take the time. If the same one", Warning},
	} {
		source := "package main\n\nfunc main() {\n" + c.body + "}" + helper
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		start := lineWith(source, "// start").Line
		p := accounttest.New()
		for _, line := range c.lines {
			p.Call(400*time.Millisecond, "internal/syscall/unix.Waitid@w.go:1;os.(*Process).pidfdWait@exec.go:1;os/exec.(*Cmd).Run@exec.go:2;main.git@/src/main.go:"+strconv.Itoa(start)+";main.main@/src/main.go:"+strconv.Itoa(line))
			p.Pass(time.Millisecond)
		}
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "WT01")[0]
		if f.State != Found || f.Severity != c.severity || !strings.HasPrefix(f.Advice, c.advises) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
