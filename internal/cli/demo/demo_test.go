package demo

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"loupe/insight"
	"loupe/internal/cli/record"
)

// TestFitDemo: what is planned fits as long as anything can, and it is all of it on a
// quiet machine.
func TestFitDemo(t *testing.T) {
	full := fullDemo(10000)
	if p := fitDemo(10000, 2, requestTime, demoBudget-15*time.Second); p != full || p.less(full, requestTime) != "" {
		t.Errorf("a quiet machine gets %+v", p)
	}
	before := full
	for slow := time.Duration(1); slow <= 64; slow++ {
		request, left := slow*requestTime, demoBudget-15*time.Second
		p := fitDemo(10000, 2, request, left)
		if p.time(2, request) > left && p.n > 500 {
			t.Errorf("%d times slower: %+v takes %v of %v", slow, p, p.time(2, request), left)
		}
		if p.rounds < 4 || p.n < 500 || p.n*p.rounds > before.n*before.rounds {
			t.Errorf("%d times slower: %+v after %+v", slow, p, before)
		}
		if p != full && !strings.Contains(p.less(full, request), "to finish in two minutes") {
			t.Errorf("%d times slower: nothing is said", slow)
		}
		before = p
	}
}

func TestListLine(t *testing.T) {
	findings := []insight.Finding{
		{Rule: "GC01", State: insight.Found, Evidence: []insight.Evidence{{Function: "main.gc"}}},
		{Rule: "AL09", State: insight.Found, Evidence: []insight.Evidence{{}, {Function: "example.com/m/search.(*Feed).find", Path: "allocs.pb.gz"}}},
	}
	if got := listLine(findings[:1], "d"); got != "" {
		t.Errorf("without AL09: %q", got)
	}
	got := listLine(findings, "d")
	words := record.SplitFlags(got)
	if len(words) < 4 || words[len(words)-1] != filepath.Join("d", "allocs.pb.gz") {
		t.Fatalf("with AL09: %q", got)
	}
	if re, err := regexp.Compile(words[3]); err != nil || !re.MatchString(findings[1].Evidence[1].Function) {
		t.Errorf("%q does not match the function (%v)", words[3], err)
	}
}
