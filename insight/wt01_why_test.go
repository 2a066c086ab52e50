package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// TestShowsFailure: an error, or a status of failure, has to lead to the pause for a call to have failed; a status that is not the one
// which is hoped for may also say that something is not ready yet.
func TestShowsFailure(t *testing.T) {
	for text, want := range map[string]bool{
		"for {\nv, err := get(id)\nif err == nil {\nreturn v\n}\ntime.Sleep(d)\n}":                                                             true,
		"for {\nv, err := get(id)\nif err != nil {\ntime.Sleep(d)\ncontinue\n}\nreturn v\n}":                                                   true,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode < 500 {\nreturn nil\n}\ntime.Sleep(d)\n}":                   true,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode != 503 {\nreturn nil\n}\ntime.Sleep(d)\n}":                  true,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode != http.StatusTooManyRequests {\nreturn nil\n}\npause()\n}": true,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode == http.StatusOK {\nreturn nil\n}\ntime.Sleep(d)\n}":        false,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode == 200 {\nreturn nil\n}\ntime.Sleep(d)\n}":                  false,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode < 300 {\nreturn nil\n}\ntime.Sleep(d)\n}":                   false,
		"for {\nr, err := get(id)\nif err == nil && r.StatusCode == 200 {\nreturn nil\n}\ntime.Sleep(d)\n}":                                    false,
		"for {\nr, err := get(id)\nif err == nil && r.StatusCode < 500 {\nreturn nil\n}\ntime.Sleep(d)\n}":                                     true,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode != http.StatusFound {\nreturn nil\n}\ntime.Sleep(d)\n}":     false,
	} {
		c, at := lineFive(text)
		a, ok := retryAround(c, []stack.Frame{at})
		if got := a.showsFailure(c); got != want || want && !ok {
			t.Errorf("%s: %v %v", text, ok, got)
		}
	}
}

// TestAwaitsThere: a loop that goes on because something does not exist polls for it, where every other error ends it.
func TestAwaitsThere(t *testing.T) {
	for text, want := range map[string]awaited{
		"for {\nb, err := os.ReadFile(p)\nif err == nil {\nreturn b\n}\nif !errors.Is(err, fs.ErrNotExist) {\nreturn err\n}\n<-time.After(d)\n}":       ofThere,
		"for {\nb, err := os.ReadFile(p)\nif err == nil || !os.IsNotExist(err) {\nreturn b, err\n}\ntime.Sleep(d)\n}":                                  ofThere,
		"for {\nb, err := os.ReadFile(p)\nif err != nil && !os.IsNotExist(err) {\nreturn err\n}\nif err == nil {\nreturn b\n}\ntime.Sleep(d)\n}":       ofThere,
		"for {\nb, err := os.ReadFile(p)\nif err != nil {\nif !os.IsNotExist(err) {\nreturn err\n}\ntime.Sleep(d)\ncontinue\n}\nreturn b\n}":           ofThere,
		"for {\nb, err := os.ReadFile(p)\nif os.IsNotExist(err) {\ntime.Sleep(d)\ncontinue\n}\nif err != nil {\nreturn err\n}\nreturn b\n}":            ofThere,
		"for {\nerr := row(id).Scan(&v)\nif err != sql.ErrNoRows {\nreturn v, err\n}\ntime.Sleep(d)\n}":                                                ofThere,
		"for {\nv, err := get(id)\nswitch {\ncase err == nil:\nreturn v\ncase errors.Is(err, store.ErrNotFound):\npause()\ndefault:\nreturn err\n}\n}": ofThere,
		"for {\nr, err := get(id)\nif err != nil {\nreturn err\n}\nif r.StatusCode != http.StatusNotFound {\nreturn r\n}\ntime.Sleep(d)\n}":            ofThere,
		// Other errors go on as well.
		"for {\nb, err := os.ReadFile(p)\nif err == nil {\nreturn b\n}\nif os.IsNotExist(err) {\nlog(p)\n}\ntime.Sleep(d)\n}":                                              {},
		"for {\nr, err := get(id)\nif err != nil {\ntime.Sleep(d)\ncontinue\n}\nif r.StatusCode != http.StatusNotFound {\nreturn r\n}\ntime.Sleep(d)\n}":                   {},
		"for {\nb, err := os.ReadFile(p)\nif err == nil {\nreturn b\n}\nif errors.Is(err, fs.ErrNotExist) {\nreturn err\n}\ntime.Sleep(d)\n}":                              {},
		"for {\nb, err := os.ReadFile(p)\nif err == nil {\nreturn b\n}\nif !errors.Is(err, fs.ErrPermission) {\nreturn err\n}\ntime.Sleep(d)\n}":                           {},
		"for {\nv, err := get(id)\nswitch {\ncase err == nil:\nreturn v\ncase errors.Is(err, ErrNotFound):\npause()\ncase busy(err):\npause()\ndefault:\nreturn err\n}\n}": {},
	} {
		c, at := lineFive(text)
		if got, _ := awaits(c, []stack.Frame{at}); got != want {
			t.Errorf("%s: %q", text, got.says)
		}
	}
}

// TestPausedByPeer: what the answer says of the pause counts where it sets it in every turn.
func TestPausedByPeer(t *testing.T) {
	for text, want := range map[string]int{
		"for {\nr := get(id)\ns := seconds(r.Header.Get(\"Retry-After\"))\ntime.Sleep(s)\n}":                         6,
		"for {\nr := get(id)\n\ntime.Sleep(time.Duration(r.PollInterval) * time.Second)\n}":                          7,
		"for {\nr := get(id)\ns := retryAfter(r)\nselect {\ncase <-time.After(s):\ncase <-ctx.Done():\nreturn\n}\n}": 6,
		"for {\nr := get(id)\nif v := r.Header.Get(\"Retry-After\"); v != \"\" { d = seconds(v) }\ntime.Sleep(d)\n}": 0,
		"for {\nr := get(id)\nlog(r.Header.Get(\"Retry-After\"))\ntime.Sleep(d)\n}":                                  0,
		"for {\nr := get(id)\ns := seconds(r.Header.Get(\"X-Size\"))\ntime.Sleep(s)\n}":                              0,
		"for {\nr := get(id)\nuse(r)\ntime.Sleep(cfg.PollInterval)\n}":                                               0,
		"for {\nr := get(id)\nuse(r)\ntime.Sleep(b.next())\n}":                                                       0,
	} {
		c, at := lineFive(text)
		at.Line = 7
		l := loopsAround(c, at)[0]
		if got := pausedByPeer(c, l, selectsTimer(l, at.Line)); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}

// TestWT01There: a poll until a file is there is judged by its pauses, which a call may make longer from turn to turn; a status that is
// not the one which is hoped for is no failure.
func TestWT01There(t *testing.T) {
	const there = "b, err := os.ReadFile(name) // 5\n\t\tif err == nil {\n\t\t\treturn\n\t\t}\n\t\tif !errors.Is(err, fs.ErrNotExist) {\n\t\t\tlog.Fatal(err)\n\t\t}"
	const hoped = "r, err := get(name) // 5\n\t\tif err != nil {\n\t\t\tpanic(err)\n\t\t}\n\t\tif r.StatusCode == http.StatusOK {\n\t\t\treturn\n\t\t}"
	doubling := []time.Duration{25 * ms, 50 * ms, 100 * ms, 200 * ms}
	for _, c := range []struct {
		name, body, pause string
		pauses            []time.Duration
		want              Severity
		title, says       string
	}{
		{"pauses of a call double", there, "<-time.After(b.next())", doubling, Warning, growingTitle, "what it asks for is not there yet, going by the source; the loop polls with pauses that grow, from 25.0 ms to 200 ms"},
		{"pauses by chance", there, "time.Sleep(jitter())", []time.Duration{100 * ms, 40 * ms, 90 * ms, 50 * ms}, Info, "", "polls with a pause of 70"},
		{"equal ones", there, "time.Sleep(d)", []time.Duration{200 * ms, 200 * ms}, Warning, "", "polls with a pause of 200 ms"},
		{"a status is hoped for", hoped, "time.Sleep(d)", doubling, Info, "", "because it did not answer as hoped"},
		{"the peer says when", hoped, "time.Sleep(retryAfter(r))", doubling, Info, "", "the answer itself says when to ask again"},
	} {
		source := "package main\n\nfunc wait(name string) {\n\tfor {\n\t\t" + c.body + "\n\t\t" + c.pause + " // 12\n\t}\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main package=main\nrun 0s..10s exit=\"exit status 0\"\nphase trace 0s..10s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		p := accounttest.New()
		block := func(kind, at string, d time.Duration) {
			p.Block(kind, at)
			p.Pass(d)
			p.Wake(1, "")
			p.Start(1)
		}
		for range 6 {
			for _, d := range append([]time.Duration{0}, c.pauses...) {
				if d > 0 {
					block("sleep", "time.Sleep@time.go:1;main.wait@/src/main.go:12;main.main@/src/main.go:30", d)
				}
				sendIn(p, "main.wait@/src/main.go:5", "main.main@/src/main.go:30")
				block("network", accounttest.In(readNet, "main.wait@/src/main.go:5", "main.main@/src/main.go:30"), 1*ms)
			}
			block("network", "internal/poll.(*FD).Read@fd.go:1;main.take@/src/main.go:40;main.main@/src/main.go:31", 1*ms)
		}
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		f := answers(t, r, "WT01")[0]
		if f.Severity != c.want || c.title != "" && f.Title != c.title || !strings.Contains(f.Summary, c.says) || strings.Contains(f.Summary, "failed") || strings.Contains(f.Advice, "Find out why the call fails") {
			t.Errorf("%s: %s %q: %s\n%s", c.name, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
