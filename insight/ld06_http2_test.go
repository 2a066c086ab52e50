package insight

import (
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
)

// TestOverHTTP2: connections over HTTP/2 are counted as those over HTTP/1 are, and nothing is said of bodies and limits, which make none there.
func TestOverHTTP2(t *testing.T) {
	of := func(wait, loop string, answers, opened int64) *scene {
		s := newScene(t)
		b := s.block("main.main", exectrace.NameSelect, int(answers), ms, s.stack("runtime.selectgo", wait+":/go/h2.go:8627", "net/http.(*Client).Do:/go/client.go:400", "shop/rates.ask:/src/rates/ask.go:6", "main.main:/src/main.go:3"), 0)
		b.Wakers = []sched.Waker{{Stack: s.stack("runtime.closechan", loop), Count: answers}}
		s.Groups = append(s.Groups, &sched.Group{Name: s.name(loop), Count: opened, Created: opened})
		return s
	}
	for i, wait := range http2Waits {
		f := of(wait, http2Loops[i], 400, 400).expect("LD06", Found, "the program opened 400 connections over HTTP/2 to other services; it waited for 400 answers")
		if strings.Contains(f.Advice, "MaxIdleConnsPerHost") || strings.Contains(f.Advice, "io.Copy") || !strings.Contains(f.Advice, "one connection carries many") {
			t.Errorf("%s", f.Advice)
		}
		of(wait, http2Loops[i], 400, 4).expect("LD06", NotApplicable, "no HTTP requests")
		of(wait, http2Loops[i], 60, 60).expect("LD06", NotApplicable, "no HTTP requests")
	}
	s := of(http2Waits[0], http2Loops[0], 400, 400)
	s.withSource("/src/rates/ask.go", "package rates\n\nimport \"net/http\"\n\nfunc ask() {\n\t(&http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true}}).Do(nil)\n}\n\nfunc All() {\n\tfor {\n\t\task()\n\t}\n}\n")
	s.expect("LD06", Found, "opened 400 connections over HTTP/2")
}
