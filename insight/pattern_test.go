package insight

import (
	"regexp"
	"testing"
)

// TestPatternsCompile: each pattern of the package compiles; no command compiles one before it is asked.
func TestPatternsCompile(t *testing.T) {
	if len(patterns) < 300 {
		t.Errorf("%d patterns", len(patterns))
	}
	for _, p := range patterns {
		if _, err := regexp.Compile(p.text); err != nil {
			t.Errorf("%s: %v", p.text, err)
		}
	}
}
