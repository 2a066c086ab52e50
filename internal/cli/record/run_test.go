package record

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitFlags(t *testing.T) {
	f := func(in string, want ...string) {
		t.Helper()
		if got := SplitFlags(in); !slices.Equal(got, want) {
			t.Errorf("splitFlags(%q) = %q, want %q", in, got, want)
		}
	}
	f("")
	f("  \t ")
	f("-race", "-race")
	f("-tags foo -race", "-tags", "foo", "-race")
	f("-ldflags='-s -w' -x", "-ldflags=-s -w", "-x")
	f(`-ldflags "-X main.v=it's"`, "-ldflags", "-X main.v=it's")
	f("''", "")
	f("a'b c", "ab c")
}

func TestTestFlags(t *testing.T) {
	f := func(in string, want string) {
		t.Helper()
		if got := strings.Join(testFlags(strings.Fields(in)), " "); got != want {
			t.Errorf("testFlags(%q) = %q, want %q", in, got, want)
		}
	}
	f("", "")
	f("-run TestBig", "-test.run TestBig")
	f("--run=TestBig -v", "-test.run=TestBig -test.v")
	f("-test.run X", "-test.run X")
	f("-v -args -v in.txt", "-test.v -v in.txt")
	f("-v --args -v", "-test.v -v")
}

// TestWithoutDashes: one -- between the target and the program's arguments is no argument; any other is.
func TestWithoutDashes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{".", "."},
		{". -n 5", ". -n 5"},
		{". -- -n 5", ". -n 5"},
		{". -- --", ". --"},
		{". a -- b", ". a -- b"},
	} {
		if got := strings.Join(withoutDashes(strings.Fields(c.args)), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}
