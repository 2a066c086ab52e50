// Package long marks the tests that take long, or that depend on more than the
// source: those that record real programs, build for other systems or install
// something. ./test leaves them out and says which they are; ./test -long runs them,
// by setting the variable LOUPE_LONG.
package long

import (
	"os"
	"testing"
)

// Wanted tells whether such tests are to run.
func Wanted() bool { return os.Getenv("LOUPE_LONG") != "" }

// Only leaves a test out unless such tests are to run; why says what makes it one.
func Only(t testing.TB, why string) {
	t.Helper()
	if !Wanted() {
		t.Skipf("%s: ./test -long runs it, or LOUPE_LONG=1", why)
	}
}
