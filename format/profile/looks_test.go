package profile_test

import (
	"strings"
	"testing"

	"loupe/format/profile"
)

// TestLooksLongLine: a text without an end of line is no message, whatever its letters are
// as tags.
func TestLooksLongLine(t *testing.T) {
	for c := byte(' '); c < 0x7f; c++ {
		if line := strings.Repeat(string(c), 70_000); profile.Looks([]byte(line)) {
			t.Errorf("a line of %q looks like a profile", c)
		}
	}
}
