package insight

import (
	"os"
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
)

func TestMain(m *testing.M) {
	survives = false
	os.Exit(m.Run())
}

// TestFaultyRule has a rule that panics: the report is there, and says it.
func TestFaultyRule(t *testing.T) {
	survives = true
	defer func() { survives = false }()
	in := NewInput(session.New(recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\n").Open()))
	var none *itemCrowd
	r := &Rule{ID: "XX01", Check: func(*Rule, *Input) []Finding { return []Finding{{Score: int(none.count)}} }}
	all := r.check(in)
	if len(all) != 1 || all[0].State != NotApplicable || !strings.Contains(all[0].Summary, "fault of loupe: runtime error") {
		t.Errorf("answers %+v", all)
	}
	if said := strings.Join(in.Incomplete(), "; "); !strings.Contains(said, "rule XX01 could not judge") || !strings.Contains(said, "at faults_test.go:") {
		t.Errorf("missing: %s", said)
	}
}
