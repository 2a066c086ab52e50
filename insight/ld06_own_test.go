package insight

import (
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
)

// calling is a scene of a tool: answers that it waited for at one line, connections that it opened,
// and how many of them still wait for the body of an answer.
func calling(t *testing.T, answers, opened, unread int64) *scene {
	s := newScene(t)
	b := s.block("main.main", exectrace.NameSelect, int(answers), ms, s.stack("runtime.selectgo", roundTrip+":/go/transport.go:2900", "net/http.(*Client).Do:/go/client.go:400", "shop/rates.ask:/src/rates/ask.go:17", "main.main:/src/main.go:3"), 0)
	b.Wakers = []sched.Waker{{Stack: s.stack("runtime.selectgo", readLoop), Count: answers}}
	s.Groups = append(s.Groups, &sched.Group{Name: s.name(readLoop), Count: opened, Created: opened})
	if unread > 0 {
		ask := s.stack("net/http.(*Transport).queueForDial:/go/transport.go:1400", "net/http.(*Client).Do:/go/client.go:400", "shop/rates.ask:/src/rates/ask.go:17", "main.main:/src/main.go:3")
		s.Left = append(s.Left, sched.Left{Name: s.name(readLoop), State: exectrace.Waiting, Reason: exectrace.NameSelect, Stack: s.stack("runtime.selectgo:/go/select.go:1", readLoop+":/go/transport.go:2450"),
			Count: unread, Created: unread, Longest: 1900 * ms, Quarters: [4]int64{unread / 4, unread / 4, unread / 4, unread / 4}, Creator: s.stack("net/http.(*Transport).dialConn:/go/transport.go:1900"), Origin: ask})
	}
	return s
}

// TestOwnConnections: of a tool, too, calls that each open a connection are told, by their number;
// those whose bodies are left open are a warning at the line of the call, also as leaked goroutines.
func TestOwnConnections(t *testing.T) {
	s := calling(t, 400, 400, 400)
	f := s.expect("LD06", Found, "in 2.00 s, the program opened 400 connections to other services; it waited for 400 answers", "400 of them still have an answer whose body was neither read to its end nor closed")
	severity(t, "left open", f, Warning)
	if f.Evidence[0].Line != 17 || !strings.Contains(f.Advice, "Close the body of each answer of the call at ask.go:17") {
		t.Errorf("%s %+v", f.Advice, f.Evidence)
	}
	f = s.expect("SC10", Found, "wait for the body of an answer to be read or closed")
	if f.Evidence[0].Line != 17 || !strings.Contains(f.Advice, "Close the body of each answer of the call at ask.go:17") {
		t.Errorf("%s %+v", f.Advice, f.Evidence)
	}
	// Somebody reads them: streams.
	s.Left = append(s.Left, sched.Left{Name: s.name("main.follow"), State: exectrace.Waiting, Reason: exectrace.NameNetwork, Stack: s.stack("net/http.(*bodyEOFSignal).Read", "main.follow:/src/main.go:9"), Count: 390, Longest: 1900 * ms})
	severity(t, "streams", s.expect("LD06", Found, "opened 400 connections"), Info)
	if f := s.expect("SC10", Found); strings.Contains(f.Summary, "neither") || strings.Contains(f.Advice, "Close the body of each") {
		t.Errorf("streams: %s %s", f.Summary, f.Advice)
	}
	severity(t, "closed without being read", calling(t, 400, 400, 0).expect("LD06", Found, "opened 400 connections"), Info)
	calling(t, 400, 4, 0).expect("LD06", Fine, "opened 4 connections for 400 answers from other services that it waited for")
	calling(t, 60, 60, 0).expect("LD06", Fine, "opened 60 connections")
	newScene(t).expect("LD06", NotApplicable, "no load", noCalls)
}

// TestBodyAdvice: where the function closes a body, the advice says where, and that it was not reached.
func TestBodyAdvice(t *testing.T) {
	const text = "package rates\n\nfunc ask() error {\n\tresp, err := client.Do(req)\n\tif err != nil {\n\t\treturn err\n\t}\n\tif keep {\n\t\tdefer resp.Body.Close()\n\t}\n\treturn nil\n}\n\nfunc open() *http.Response {\n\tresp, _ := client.Do(req)\n\treturn resp\n}\n"
	c := sourceOf(text)
	for line, want := range map[int]string{4: "closes it at line 9, which these calls had not reached", 15: "If the answer is handed on"} {
		if got := bodyAdvice(c, stack.Frame{Func: map[int]string{4: "rates.ask", 15: "rates.open"}[line], File: "a.go", Line: line}); !strings.Contains(got, want) {
			t.Errorf("line %d: %s", line, got)
		}
	}
}
