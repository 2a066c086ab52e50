package insight

import (
	"fmt"
	"loupe/analysis/account/accounttest"
	"strings"
	"testing"
	"time"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestHandlesLimit: the source shows whether the end of a time limit is no error, be it that it asks
// for that end, or that all other errors end it. Line 5 makes the call.
func TestHandlesLimit(t *testing.T) {
	const loop = "for i := 0; i < 3; i++ {\nv, err := get(ctx)\nif err == nil {\nreturn v, nil\n}\n%s\n}\n%s"
	for text, want := range map[string]bool{
		"v, err := get(ctx)\nif errors.Is(err, context.DeadlineExceeded) {\nreturn nil\n}":                                                  true,
		"v, err := get(ctx)\nif err != nil && errors.Is(err, context.DeadlineExceeded) {\nreturn nil\n}":                                    true,
		"v, err := get(ctx)\nif e.Timeout() {\ncontinue\n}":                                                                                 true,
		"v, err := get(ctx)\nif errors.Is(err, context.DeadlineExceeded) {\nreturn errSlow\n}":                                              false,
		"v, err := get(ctx)\nif !errors.Is(err, context.DeadlineExceeded) {\nreturn nil\n}":                                                 false,
		"v, err := get(ctx)\nif err != nil {\nreturn nil\n}":                                                                                false,
		"v, err := get(ctx)\nif errors.Is(err, context.DeadlineExceeded) {\nlog.Print(slow)\n}\nif err != nil {\nreturn err\n}":             false,
		"v, err := get(ctx)\nif err != nil && !errors.Is(err, context.DeadlineExceeded) {\nreturn err\n}\nreturn nil":                       true,
		"v, err := get(ctx)\nif err != nil && !errors.Is(err, context.DeadlineExceeded) {\nreturn err\n}\nreturn err":                       false,
		"v, err := get(ctx)\nswitch {\ncase errors.Is(err, context.DeadlineExceeded):\nreturn nil\ncase err != nil:\nreturn err\n}":         true,
		"v, err := get(ctx)\nswitch {\ncase errors.Is(err, context.DeadlineExceeded):\nreturn errSlow\n}":                                   false,
		fmt.Sprintf(loop, "if !errors.Is(err, context.DeadlineExceeded) {\nreturn 0, err\n}", "return none, nil"):                           true,
		fmt.Sprintf(loop, "if !errors.Is(err, context.DeadlineExceeded) {\nreturn 0, err\n}", "return 0, errors.New(\"gave up\")"):          false,
		fmt.Sprintf(loop, "if errors.Is(err, context.DeadlineExceeded) {\ncontinue\n}\nreturn 0, err", "return none, nil"):                  true,
		fmt.Sprintf(loop, "if errors.Is(err, context.DeadlineExceeded) {\ncontinue\n}\nreturn 0, err", "return 0, errors.New(\"gave up\")"): false,
	} {
		code, at := lineFive(text)
		if _, got := handlesLimit(code, []stack.Frame{at}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if !mostInTime(60, 638) || mostInTime(227, 227) || mostInTime(227, 0) {
		t.Error("most of 638 calls are answered when 60 are late")
	}
}

// TestLimitAround: of several time limits on the way that one is named which fits how long the calls
// took when they ended, and none where none does.
func TestLimitAround(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name, outer, inner, client string
		took, whole                time.Duration
		line                       int // 0 is none
	}{
		{"the caller's is the shortest", "15*time.Millisecond", "time.Second", "", 15 * ms, 17 * ms, 6},
		{"that of the helper is", "time.Second", "15*time.Millisecond", "", 15 * ms, 17 * ms, 12},
		{"that of the client is", "time.Second", "time.Minute", "20 * time.Millisecond", 22 * ms, 25 * ms, 3},
		{"a constant", "short", "time.Second", "", 10 * ms, 12 * ms, 6},
		{"several calls share it", "30 * time.Millisecond", "time.Second", "", 10 * ms, 31 * ms, 6},
		{"none fits", "2*time.Second", "time.Second", "", 15 * ms, 17 * ms, 0},
		{"all too short", "time.Millisecond", "2*time.Millisecond", "", 15 * ms, 17 * ms, 0},
		{"one that is not known", "g.timeout", "time.Second", "", 15 * ms, 17 * ms, 6},
		{"two that are not known", "g.timeout", "h.timeout", "", 15 * ms, 17 * ms, 0},
	} {
		field := ""
		if c.client != "" {
			field = "Timeout: " + c.client
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", fmt.Sprintf("package main\n\nvar client = http.Client{%s}\n\nfunc handle(ctx context.Context) {\n\tctx, cancel := context.WithTimeout(ctx, %s)\n\tdefer cancel()\n\task(ctx)\n}\n\nfunc ask(ctx context.Context) {\n\tctx, cancel := context.WithTimeout(ctx, %s)\n\tdefer cancel()\n\tget(ctx)\n}\n\nconst short = 10 * time.Millisecond\n", field, c.outer, c.inner))
		code := NewInput(session.New(r.Open())).code
		frames := []stack.Frame{{Func: "net/http.(*Client).Do", File: "client.go", Line: 1}, {Func: "main.ask", File: "a.go", Line: 14}, {Func: "main.handle", File: "a.go", Line: 8}}
		if at, ok := limitAround(code, frames, c.took, c.whole); at.Line != c.line || ok != (c.line > 0) {
			t.Errorf("%s: line %d, %v", c.name, at.Line, ok)
		}
	}
}

// TestPollKeepsAdvice: a finding about calls that are meant to end by a limit says so, whatever the
// rule.
func TestPollKeepsAdvice(t *testing.T) {
	code, at := lineFive("v, err := get(ctx)\nif errors.Is(err, context.DeadlineExceeded) {\nreturn nil\n}")
	f := Finding{Severity: Warning, Advice: limitAdvice}
	if !tellPoll(code, []stack.Frame{at}, &f) || f.Severity != Info || !strings.HasPrefix(f.Advice, pollAdvice+"the peer is down") || len(f.Evidence) != 1 {
		t.Errorf("%+v", f)
	}
}

// TestEventOrTimer: a select of one's own that waits for news no longer than a timer allows is a long
// poll where the function takes the end of the timer for an answer. The select is on line 5.
func TestEventOrTimer(t *testing.T) {
	for text, want := range map[string]bool{
		"\nselect {\ncase v := <-news:\nreturn v, nil\ncase <-time.After(d):\nreturn none, nil\n}":                                                 true,
		"t := time.NewTimer(d)\nselect {\ncase v := <-s.ch:\nwrite(w, v)\ncase <-t.C:\nw.WriteHeader(http.StatusNoContent)\ncase <-ctx.Done():\n}": true,
		"ctx, cancel := context.WithTimeout(ctx, d)\nselect {\ncase v := <-news:\nreturn v, nil\ncase <-ctx.Done():\nreturn none, nil\n}":          true,
		"after := time.After(d); for {\nselect {\ncase v := <-news:\nif v.key == key {\nreturn v, nil\n}\ncase <-after:\nreturn none, nil\n}\n}":   true,
		"\nselect {\ncase v := <-news:\nreturn v, nil\ncase <-time.After(d):\nreturn none, errSlow\n}":                                             false,
		"\nselect {\ncase v := <-news:\nwrite(w, v)\ncase <-time.After(d):\nw.WriteHeader(http.StatusGatewayTimeout)\n}":                           false,
		"\nselect {\ncase v = <-news:\ncase <-time.After(d):\n}\nreturn v, errors.New(\"none\")":                                                   false,
		"\nselect {\ncase <-ctx.Done():\nreturn none, ctx.Err()\ncase <-time.After(d):\nreturn none, nil\n}":                                       false,
		"\nselect {\ncase <-s.quit:\nreturn none, nil\ncase <-time.After(d):\nreturn none, nil\n}":                                                 false,
		"for !ready() {\nselect {\ncase <-news:\ncase <-time.After(d):\n}\n}":                                                                      false,
		"for {\nselect {\ncase v := <-news:\nreturn v, nil\ncase <-tick.C:\nreturn none, nil\n}\n}":                                                false,
		"\nselect {\ncase v := <-news:\nreturn v, nil\ncase <-other:\nreturn none, nil\n}":                                                         false,
	} {
		code, at := lineFive(text)
		if _, got := eventOrTimer(code, at); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestWT01OwnPoll: a request that waits in such a select is told as what may be meant.
func TestWT01OwnPoll(t *testing.T) {
	for end, want := range map[string]Severity{"return nil": Info, "return errSlow": Warning} {
		r := served(t, 20, func(p *accounttest.Program) {
			p.Block("select", accounttest.In("runtime.selectgo@select.go:1", "main.handle@a.go:4"))
			p.Pass(50 * time.Millisecond)
			p.Wake(5, "")
			p.Start(5)
		})
		withSource(r, "a.go", "package main\n\nfunc handle() error {\n\tselect {\n\tcase <-news:\n\t\treturn nil\n\tcase <-time.After(d):\n\t\t"+end+"\n\t}\n}\n")
		f := answers(t, r, "WT01")[0]
		if f.State != Found || f.Severity != want {
			t.Errorf("%s: %s %s: %s", end, f.State, f.Severity, f.Summary)
		}
	}
}
