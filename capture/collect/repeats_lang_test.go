package collect

import "testing"

// TestBeforeGenerics: the versions of the language that a go.mod names.
func TestBeforeGenerics(t *testing.T) {
	for version, want := range map[string]bool{"": true, "1.9": true, "1.16": true, "1.17": true, "1.17.3": true, "1.18": false, "1.21": false, "1.100": false, "1.22.0": false, "1.21rc2": false, "2.0": false} {
		if got := beforeGenerics.MatchString(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
}
