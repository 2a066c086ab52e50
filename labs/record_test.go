package labs_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"loupe/labs"
)

// procs is the GOMAXPROCS that forms are recorded with, so that five
// connections are as many more than the Ps on every machine.
const procs = "GOMAXPROCS=2"

// attempts is how often a form is recorded before it counts as not as
// expected: the machine may be busy with something else for a while.
const attempts = 3

// words are what a finding says in so many words: what is to be seen in a
// picture of the trace.
var words = map[string]string{
	"mandelbrot seq SC01":     "exactly one of 2 Ps ran the program's goroutines",
	"mandelbrot px SC02":      "1,048,576 goroutines were started at fractal.onePerPixel at modes.go:",
	"mandelbrot workers SC01": "exactly one of 2 Ps",
	"mandelbrot workers SC03": "and the two take turns",
	"mandelweb overload SC05": "goroutines of http.(*conn).serve wanted to run at once, in the mean, on 2 Ps",
	"daisy chain SC03":        "between main.link.func1 at chain.go:",
	"newsfreq tasks SC17":     "of the time of 600 tasks document",
	"newsfreq find SC01":      "exactly one of 2 Ps",
	"stream one AL04":         "passed to io.ReadAtLeast(",
	"mutex held LK02":         "c.mu.Lock at cache.go:23",
	"mutex each LK01":         "for the lock at main.(*sharedTable).add",
	"blocking one LK06":       "for a connection to the database",
	"leak map GC08":           "orders.go:",
	"leak goroutine SC10":     "main.(*shop).await.func1 wait at",
	"leak quote SC10":         "can never go on",
	"leak cache GC08":         "in main.(*shop).price",
	"leak queue GC09":         "allocated at orders.go:",
	"leak stuck SC11":         "at main.(*shop).await.func1 at orders.go:",
	"stacktrace bodies LD07":  "open files went from",
	"stacktrace words FA01":   "it panicked at main.fail at fail.go:23: Want stack trace",
	"stacktrace packed FA01":  "it panicked at main.fail at fail.go:",
}

// said is what a report has to say, as far as the test reads it.
type said struct {
	Findings []struct{ Rule, State, Summary string }
}

// TestRecorded runs every form with loupe and holds what the rules say against
// what is expected of it. It takes two minutes on two CPUs; with
// LOUPE_LONG=1 those too that need more than ten minutes.
func TestRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("it records every form of every lab")
	}
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("what it runs is built without the race detector: once is enough")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("with one CPU nothing runs side by side")
	}
	loupe := buildLoupe(t, t.TempDir())
	for _, l := range labs.All {
		expected, err := l.Expect()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range l.Forms {
			of := slices.DeleteFunc(slices.Clone(expected), func(e labs.Expectation) bool { return e.Form != f.Name })
			if len(of) == 0 || f.Long && os.Getenv("LOUPE_LONG") == "" {
				continue
			}
			t.Run(l.Name+"/"+f.Name, func(t *testing.T) {
				for n := 1; ; n++ {
					wrong := differences(l, record(t, loupe, l, f), of)
					if len(wrong) == 0 {
						return
					}
					if n == attempts {
						t.Fatal(strings.Join(wrong, "\n"))
					}
					t.Logf("once more: %s", strings.Join(wrong, "\n"))
				}
			})
		}
	}
}

// differences are what is not as expected.
func differences(l labs.Lab, got said, want []labs.Expectation) (wrong []string) {
	for _, e := range want {
		answers := []string{}
		found := false
		for _, f := range got.Findings {
			if f.Rule == e.Rule {
				found = found || f.State == "finding"
				answers = append(answers, f.State+": "+f.Summary)
			}
		}
		all := strings.Join(answers, "; ")
		if found != e.Must {
			wrong = append(wrong, fmt.Sprintf("%s: found %v, want %v: %s", e.Rule, found, e.Must, all))
		}
		if w := words[l.Name+" "+e.Form+" "+e.Rule]; found && !strings.Contains(all, w) {
			wrong = append(wrong, fmt.Sprintf("%s says %q, want %q in it", e.Rule, all, w))
		}
	}
	return wrong
}

// record records one form and returns its report.
func record(t *testing.T, loupe string, l labs.Lab, f labs.Form) (got said) {
	t.Helper()
	rec := filepath.Join(t.TempDir(), "rec")
	args := []string{"run", "-quiet", "-env", procs, "-o", rec}
	program := slices.Concat([]string{l.Package()}, f.Args)
	if l.URL == "" || f.Dies {
		args = slices.Concat(args, f.Record, []string{"-phases", phases(f)})
	} else {
		addr := freeAddress(t)
		u, err := url.Parse(l.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = addr
		args = slices.Concat(args, []string{"-phases", "bare:2s,allocs,trace:2s"}, f.Record, []string{"-load", u.String()})
		program = append(program, "-addr", addr)
	}
	if out, err := exec.Command(loupe, slices.Concat(args, program)...).CombinedOutput(); err != nil && !strings.Contains(err.Error(), "exit status 3") {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	out, err := exec.Command(loupe, "report", "-json", "-fail", "never", rec).Output()
	if err != nil {
		t.Fatalf("report: %v", err)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// phases are those that a form is to be recorded with, but for the CPU's where
// the trace tells what is expected.
func phases(f labs.Form) string {
	i := slices.Index(f.Record, "-phases")
	if i < 0 {
		return "bare,trace"
	}
	if all := f.Record[i+1]; strings.Contains(all, "trace") {
		return strings.Replace(all, "cpu,", "", 1)
	} else {
		return all
	}
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
