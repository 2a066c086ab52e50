package report

import (
	"testing"

	"loupe/insight"
)

// TestSymptoms: what would be said with the same words is said once, with its number; another line is another one.
func TestSymptoms(t *testing.T) {
	at := func(rule, file string, line int) insight.Finding {
		return insight.Finding{Rule: rule, Title: "again", Evidence: []insight.Evidence{{File: file, Line: line}}}
	}
	r := &Recording{Findings: []insight.Finding{at("CP02", "a.go", 1), at("CP26", "a.go", 3), at("CP26", "a.go", 3), at("CP26", "a.go", 4)}}
	if got, want := r.symptoms(insight.Card{Symptoms: []int{1, 2, 3}}), "seen together with: CP26 again (a.go:3), 2 of these; CP26 again (a.go:4)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := r.symptoms(insight.Card{Finding: 1, Symptoms: []int{0}}), "seen together with: CP02 again (a.go:1)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
