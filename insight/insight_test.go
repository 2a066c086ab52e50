package insight

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// examine lets all rules look at a recording.
func examine(t *testing.T, r *recordingtest.Recording) []Finding {
	t.Helper()
	return Run(NewInput(session.New(r.Open())))
}

// answers are what one rule has to say.
func answers(t *testing.T, r *recordingtest.Recording, id string) []Finding {
	t.Helper()
	all := slices.DeleteFunc(examine(t, r), func(f Finding) bool { return f.Rule != id })
	if len(all) == 0 {
		t.Fatalf("%s is silent", id)
	}
	return all
}

// expect checks the state of a rule's first answer and words of its summary.
func expect(t *testing.T, what string, r *recordingtest.Recording, id string, state State, words ...string) Finding {
	t.Helper()
	f := answers(t, r, id)[0]
	if f.State != state {
		t.Errorf("%s: %s is %q (%s), want %q", what, id, f.State, f.Summary, state)
	}
	for _, w := range words {
		if !strings.Contains(f.Summary, w) {
			t.Errorf("%s: %s says %q, want %q in it", what, id, f.Summary, w)
		}
	}
	return f
}

// severity checks a finding's severity.
func severity(t *testing.T, what string, f Finding, want Severity) {
	t.Helper()
	if f.Severity != want {
		t.Errorf("%s: %s is %q (%s), want %q", what, f.Rule, f.Severity, f.Summary, want)
	}
}

// near checks an impact.
func near(t *testing.T, what string, f Finding, want float64) {
	t.Helper()
	if f.Impact == nil || math.Abs(f.Impact.Value-want) > 1e-6*want {
		t.Errorf("%s: impact of %s = %+v, want %v", what, f.Rule, f.Impact, want)
	}
}

// doubted checks that a finding carries a doubt.
func doubted(t *testing.T, f Finding, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(f.Doubts, "\n"), want) {
		t.Errorf("%s doubts %q, want %q", f.Rule, f.Doubts, want)
	}
}

// TestNothingRecorded: no rule is silent, and each says what is missing.
func TestNothingRecorded(t *testing.T) {
	all := examine(t, recordingtest.New("title empty\nphase bare 0s..10s"))
	if len(all) != len(Rules()) {
		t.Errorf("%d answers of %d rules", len(all), len(Rules()))
	}
	for _, f := range all {
		if f.State != NotApplicable || !strings.HasPrefix(f.Summary, "the recording has no ") || f.Score != 0 || f.Impact != nil {
			t.Errorf("%+v, want that it does not apply", f)
		}
	}
}

// TestTooLittle: everything was recorded and nothing is in it.
func TestTooLittle(t *testing.T) {
	r := recordingtest.New("title short\nphase bare 0s..10s\n-- stderr.log stderr --\nlistening\n-- os.ndjson os --\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU}, []byte("cut off"))
	r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs}, nil)
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace}, emptyTrace)
	r.Put(recording.Entry{Path: "block.pb.gz", Kind: recording.Block}, []byte("cut off"))
	r.Put(recording.Entry{Path: "mutex.pb.gz", Kind: recording.Mutex}, nil)
	r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap}, []byte("cut off"))
	r.Put(recording.Entry{Path: "compiler/main.gz", Kind: recording.Compiler}, []byte("cut off"))
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, []byte("cut off"))
	r.Put(recording.Entry{Path: "metrics.ndjson", Kind: recording.Metrics}, []byte("{}\n"))
	r.Put(recording.Entry{Path: "stacks.txt", Kind: recording.Stacks}, []byte("cut off"))
	r.Put(recording.Entry{Path: "buildinfo.txt", Kind: recording.BuildInfo}, []byte("cut off"))
	r.Put(recording.Entry{Path: "bench.txt", Kind: session.BenchmarkOutput}, []byte("cut off"))
	r.Put(recording.Entry{Path: "default.pgo", Kind: recording.PGO}, []byte("cut off"))
	r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, []byte("cut off"))
	for _, f := range examine(t, r) {
		if f.State != TooLittle || f.Summary == "" {
			t.Errorf("%s is %s (%s), want too little data", f.Rule, f.State, f.Summary)
		}
	}
}

// TestRules holds what every rule promises of itself.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.Title == "" || r.About == "" || len(r.Asks) == 0 || r.Check == nil || len(r.Params) == 0 {
			t.Errorf("rule %+v is not whole", r)
		}
		seen[r.ID] = true
		for _, p := range r.Params {
			if p.Name == "" || p.Unit == "" || p.Source == "" {
				t.Errorf("%s: parameter %+v has no unit or source", r.ID, p)
			}
		}
		for _, q := range r.Asks {
			if q.Asks() == "" || len(q.From()) == 0 {
				t.Errorf("%s asks %s, which nothing answers", r.ID, q)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a parameter that does not exist has a value")
		}
	}()
	Rules()[0].param("none")
}

// TestScore follows the curve: 25 at the first mark, 75 at the second.
func TestScore(t *testing.T) {
	f := func(v float64, want int) {
		t.Helper()
		if got := score(v, 0.1, 0.4); got != want {
			t.Errorf("score(%v) = %d, want %d", v, got, want)
		}
	}
	f(math.NaN(), 0)
	f(-1, 0)
	f(0, 0)
	f(0.05, 13)
	f(0.1, 25)
	f(0.25, 50)
	f(0.4, 75)
	f(0.8, 94)
	f(100, 100)
	f(math.Inf(1), 100)
	last := 0
	for v := 0.0; v < 2; v += 0.001 {
		s := score(v, 0.1, 0.4)
		if s < last || s > 100 {
			t.Fatalf("score(%v) = %d after %d: it must rise", v, s, last)
		}
		last = s
	}
}

func TestSeverity(t *testing.T) {
	if !Critical.AtLeast(Warning) || !Info.AtLeast(Info) || Info.AtLeast(Warning) || Severity("").AtLeast(Info) {
		t.Error("severities are out of order")
	}
}

// TestOrder: findings first, the gravest of them and then the highest score
// first; then what is not known, what is fine, and what does not apply.
func TestOrder(t *testing.T) {
	all := examine(t, leaking(nil))
	order := []State{Found, TooLittle, Fine, NotApplicable}
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if slices.Index(order, a.State) > slices.Index(order, b.State) {
			t.Errorf("%s (%s) comes before %s (%s)", a.Rule, a.State, b.Rule, b.State)
		}
		if a.State == Found && b.State == Found && (a.Severity.rank() < b.Severity.rank() || a.Severity == b.Severity && a.Score < b.Score) {
			t.Errorf("%s (%s, %d) comes before %s (%s, %d)", a.Rule, a.Severity, a.Score, b.Rule, b.Severity, b.Score)
		}
	}
	if all[0].State != Found || all[len(all)-1].State != NotApplicable {
		t.Errorf("from %s to %s, want the whole range", all[0].State, all[len(all)-1].State)
	}
}

// TestJSON keeps the names that others build on.
func TestJSON(t *testing.T) {
	f := expect(t, "leak", leaking(nil), "GC08", Found)
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	impact := got["impact"].(map[string]any)
	evidence := got["evidence"].([]any)[0].(map[string]any)
	if got["rule"] != "GC08" || got["state"] != "finding" || got["severity"] != "warning" || got["title"] == "" || got["advice"] == "" || got["verify"] == "" ||
		impact["unit"] != "MB a minute" || impact["value"] == nil || impact["low"] == nil || impact["high"] == nil {
		t.Errorf("JSON = %s", data)
	}
	if s := fmt.Sprint(evidence["span_ns"]); s != "[0 1e+10]" || evidence["phase"] != "bare" {
		t.Errorf("evidence = %v", evidence)
	}
	for _, f := range []State{Found, Fine, NotApplicable, TooLittle} {
		if !slices.Contains([]string{"finding", "fine", "not_applicable", "too_little_data"}, string(f)) {
			t.Errorf("state %q is not one of the contract", f)
		}
	}
}

// TestDamaged: every rule has something to say of what is left.
func TestDamaged(t *testing.T) {
	r := recordingtest.New("title x\nphase bare 0s..1s")
	r.Put(recording.Entry{Path: "load.requests", Kind: recording.Load, Phase: "bare"}, []byte("garbage"))
	if in := NewInput(session.New(r.Open())); len(in.Facts.Rounds) != 1 || len(Run(in)) < len(Rules()) {
		t.Errorf("the rules say nothing of %+v", in.Facts)
	}
}
