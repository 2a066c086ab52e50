package labs_test

import (
	"cmp"
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
	"time"

	"loupe/internal/long"
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
	"mandelweb overload SC05": "goroutines of http.(*conn).serve wanted to run at once, on average, on 2 Ps",
	"daisy chain SC03":        "between main.link.func1 at chain.go:",
	"newsfreq tasks SC17":     "of the time of 600 tasks document",
	"newsfreq find SC01":      "exactly one of 2 Ps",
	"stream one AL04":         "passed to io.ReadAtLeast(",
	"mutex held LK02":         "for the lock in main.(*heldCache).get at cache.go:23, whose holder is waiting for a peer's answer in main.fetch at count.go:",
	"mutex each LK01":         "for the lock at main.(*sharedTable).add",
	"blocking one LK06":       "for a connection to the database",
	"leak map GC08":           "orders.go:",
	"leak goroutine SC10":     "wait at main.(*shop).await.func1 at orders.go",
	"leak quote SC10":         "can never continue",
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
// what is expected of it whatever the machine: counts, causes, and what lies far from
// a threshold. It takes a third of the forms, another one each day, and all of them where
// LOUPE_LABS is "all": a quarter of an hour on two CPUs, as long as the form that waits for
// minutes, which is recorded meanwhile.
func TestRecorded(t *testing.T) {
	long.Only(t, "it records every form of every lab")
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("what it runs is built without the race detector: once is enough")
	}
	if runtime.NumCPU() < 2 {
		t.Skip("with one CPU nothing runs side by side")
	}
	loupe := buildLoupe(t, t.TempDir())
	type recording struct {
		lab  labs.Lab
		form labs.Form
		of   []labs.Expectation
		got  said
		err  error
		done chan struct{}
	}
	var waiting []*recording
	today := rota(3)
	for _, l := range labs.All {
		for _, f := range l.Forms {
			if of := expected(t, l, f); len(of) > 0 && today[l.Name+"/"+f.Name] && f.Long {
				r := &recording{lab: l, form: f, of: of, done: make(chan struct{})}
				dir := t.TempDir()
				go func() {
					defer close(r.done)
					r.got, r.err = record(dir, loupe, l, f)
				}()
				waiting = append(waiting, r)
			}
		}
	}
	defer func() {
		for _, r := range waiting {
			<-r.done
		}
	}()
	for _, l := range labs.All {
		for _, f := range l.Forms {
			of := expected(t, l, f)
			if len(of) == 0 || f.Long || !today[l.Name+"/"+f.Name] {
				continue
			}
			t.Run(l.Name+"/"+f.Name, func(t *testing.T) {
				for n := 1; ; n++ {
					got, err := record(t.TempDir(), loupe, l, f)
					if err != nil {
						t.Fatal(err)
					}
					wrong := differences(l, got, of)
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
	for _, r := range waiting {
		t.Run(r.lab.Name+"/"+r.form.Name, func(t *testing.T) {
			<-r.done
			if r.err != nil {
				t.Fatal(r.err)
			}
			if wrong := differences(r.lab, r.got, r.of); len(wrong) > 0 {
				t.Fatal(strings.Join(wrong, "\n"))
			}
		})
	}
}

// allLabs is the value of LOUPE_LABS for which all labs are recorded, and not a part of them.
const allLabs = "all"

// rota names the forms of labs whose turn it is today, of which each comes once in so many days.
func rota(days int) map[string]bool {
	all, today, n := os.Getenv("LOUPE_LABS") == allLabs, int(time.Now().Unix()/(24*60*60)), 0
	turn := map[string]bool{}
	for _, l := range labs.All {
		for _, f := range l.Forms {
			turn[l.Name+"/"+f.Name] = all || n%days == today%days
			n++
		}
	}
	return turn
}

// expected is what is expected of a form on every machine.
func expected(t *testing.T, l labs.Lab, f labs.Form) []labs.Expectation {
	t.Helper()
	all, err := l.Expect()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(e labs.Expectation) bool { return e.Form != f.Name || e.Usually })
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

// record records one form in a folder and returns its report.
func record(dir, loupe string, l labs.Lab, f labs.Form) (got said, err error) {
	rec := filepath.Join(dir, "rec")
	args := []string{"run", "-quiet", "-env", procs, "-o", rec}
	program := slices.Concat([]string{l.Package()}, f.Args)
	target := cmp.Or(f.URL, l.URL)
	if target == "" || f.Dies {
		args = slices.Concat(args, f.Record, []string{"-phases", phases(f)})
	} else {
		addr, err := freeAddress()
		if err != nil {
			return got, err
		}
		u, err := url.Parse(target)
		if err != nil {
			return got, err
		}
		u.Host = addr
		args = slices.Concat(args, []string{"-phases", "bare:2s,allocs,trace:2s"}, f.Record, []string{"-t", "0", "-load", u.String()}) // however long an answer takes
		program = append(program, "-addr", addr)
	}
	cmd := exec.Command(loupe, slices.Concat(args, program)...)
	out, err := cmd.CombinedOutput()
	want := []int{0, 3}
	if f.Dies {
		want = []int{1} // it says that the program failed
	}
	if !slices.Contains(want, cmd.ProcessState.ExitCode()) {
		return got, fmt.Errorf("%v: %w, want one of %d\n%s", args, err, want, out)
	}
	out, err = exec.Command(loupe, "report", "-json", "-fail", "never", rec).Output()
	if err != nil {
		return got, fmt.Errorf("report: %w", err)
	}
	return got, json.Unmarshal(out, &got)
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
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
