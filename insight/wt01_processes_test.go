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
		{"a loop of a library", "\tgit(\"fetch\")\n", []int{4, 4, 4, 4, 4}, "It waits for other programs, which take the time. If the same one", Warning},
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

// TestProcessAgain: a process that is started for what was asked before is told as such, and not one that is asked something else each time.
func TestProcessAgain(t *testing.T) {
	const source = "package main\n\nfunc main() {\n\tfor _, x := range os.Args {\n\t\tfetch(x, token())\n\t}\n}\n\nfunc token() string { // 9\n\treturn run(\"ssh\", \"auth\")\n}\n\nfunc run(args ...string) string { // 13\n\tout, _ := exec.Command(args[0], args[1:]...).Output() // start\n\treturn string(out)\n}\n"
	for _, c := range []struct {
		name, counts string
		line         int // that the finding begins with
		says, doubts string
	}{
		{"its answer has a time", `"calls":40,"time_ns":16000000000,"distinct":1,"again":39,"again_ns":15000000000,"differ":39`, 10, "main.token, which waits for it, was called 40 times with the same arguments", "did not return the same each time"},
		{"for several", `"calls":40,"time_ns":16000000000,"distinct":4,"again":36,"again_ns":15000000000,"differ":36`, 10, "40 times with 4 different arguments", "did not return the same each time"},
		{"its answers are the same", `"calls":40,"time_ns":16000000000,"distinct":1,"again":39,"again_ns":15000000000`, 10, "40 times with the same arguments", "none returned anything else"},
		{"something else each time", `"calls":40,"time_ns":16000000000,"distinct":20,"again":20,"again_ns":8000000000,"differ":20`, 14, "", ""},
		{"what it is given was not seen", `"calls":40,"time_ns":16000000000,"distinct":1,"again":39,"again_ns":15000000000,"differ":39,"partial":true`, 14, "", ""},
		{"a few times", `"calls":4,"time_ns":1600000000,"distinct":1,"again":3,"again_ns":1500000000,"differ":3`, 14, "", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		p := accounttest.New()
		for range 20 {
			p.Call(400*time.Millisecond, "internal/syscall/unix.Waitid@w.go:1;os.(*Process).pidfdWait@exec.go:1;os/exec.(*Cmd).Run@exec.go:2;main.run@/src/main.go:14;main.token@/src/main.go:10;main.main@/src/main.go:5")
			p.Pass(time.Millisecond)
		}
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, []byte(`{"schema":"loupe.repeats/1","ns":16000000000,"functions":[{"name":"main.token","file":"/src/main.go","line":9,"calls":40,"time_ns":16000000000,"everywhere":{`+c.counts+`}}],"within":[]}`))
		f := answers(t, r, "WT01")[0]
		same := f.Title == "The same process is started again and again"
		if f.State != Found || same != (c.says != "") || f.Evidence[0].Line != c.line || !strings.Contains(f.Summary, c.says) || !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubts) {
			t.Errorf("%s: %s: %s %+v\n%s %q", c.name, f.Title, f.Summary, f.Evidence, f.Advice, f.Doubts)
		}
	}
}

// TestProcessOfRequests: where requests start the same process again and again, it is the load that asks for the same.
func TestProcessOfRequests(t *testing.T) {
	const source = "package main\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tfetch(r.URL.Path, token()) // asks\n}\n\nfunc token() string {\n\tout, _ := exec.Command(\"ssh\", \"auth\").Output() // start\n\treturn string(out)\n}\n"
	r := served(t, 20, func(p *accounttest.Program) {
		p.Call(40*time.Millisecond, accounttest.In("internal/syscall/unix.Waitid@w.go:1", "os.(*Process).pidfdWait@exec.go:1", "os/exec.(*Cmd).Run@exec.go:2", markedFrame("main.token", source, " // start\n"), markedFrame("main.handle", source, " // asks\n")))
	})
	withSource(r, "main.go", source)
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, []byte(`{"schema":"loupe.repeats/1","ns":16000000000,"functions":[{"name":"main.token","file":"main.go","line":7,"calls":40,"time_ns":16000000000,"everywhere":{"calls":40,"time_ns":16000000000,"distinct":1,"again":39,"again_ns":15000000000}}],"within":[]}`))
	if f := answers(t, r, "WT01")[0]; f.State != Found || strings.Contains(f.Title, "same process") || !strings.HasPrefix(f.Advice, "Do not start a process for each request") {
		t.Errorf("%s %q: %s", f.State, f.Title, f.Advice)
	}
}
