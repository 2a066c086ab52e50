package dump

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// cycleDump reads a dump of a real program that hangs, or does not.
func cycleDump(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/cycles/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// steps says in short who waits for whom.
func steps(f *File, all []Cycle) string {
	var out []string
	for _, c := range all {
		var one []string
		for _, e := range c.Edges {
			one = append(one, fmt.Sprintf("%d>%d", f.IDs[e.Waiter], f.IDs[e.Holder]))
		}
		out = append(out, fmt.Sprint(strings.Join(one, " "), " proven=", c.Proven, " stuck=", c.Stuck))
	}
	return strings.Join(out, "; ")
}

// TestCycles: goroutines that wait for each other are named, whether the text is kept
// or read as a stream; and those of a busy program, 38 of 40 of which wait, are not.
func TestCycles(t *testing.T) {
	want := func(name, want string) {
		t.Helper()
		text := cycleDump(t, name)
		f := Parse(text)
		if got := steps(f, f.Cycles(nil)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		stream, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := steps(stream, stream.Cycles(nil)); got != want {
			t.Errorf("%s as a stream: %q, want %q", name, got, want)
		}
		named := slices.ContainsFunc(Suspects(f, nil), func(s Suspect) bool { return s.Cycle != nil })
		if first := Suspects(f, nil); named != (want != "") || named && first[0].Concern != ConcernCycle {
			t.Errorf("%s: suspects %+v", name, first)
		}
	}
	want("abba", "7>8 8>7 proven=false stuck=2")
	want("three", "19>20 20>21 21>19 proven=false stuck=3")
	want("rw", "21>22 22>21 proven=false stuck=2")
	want("rwring", "7>9 9>8 8>7 proven=false stuck=3")                     // each reads one and wants to write the next
	want("rwbehind", "7>10 10>9 9>12 12>8 8>11 11>7 proven=false stuck=6") // each reads one, and waits behind the writer of the next
	want("chanring", "7>9 9>8 8>7 proven=false stuck=3")
	want("self", "7>7 proven=false stuck=1")
	want("pool", "19>20 20>19 proven=false stuck=3")
	want("cache", "7>8 8>7 proven=false stuck=2")
	want("asleep", "1>19 19>1 proven=true stuck=2")
	// The address that is waited for is also an argument of who calls the method.
	want("passed", "7>8 8>7 proven=true stuck=2")
	want("receivers", "18>19 19>18 proven=true stuck=2") // optimized, receivers not shown
	want("unoptimized", "18>19 19>18 proven=true stuck=2")
	want("lost", "") // whoever had it has ended
	want("hold", "")
	want("busy1", "")
	want("busy2", "")
}

// TestCycleOpen: who can go on and has the address of one of the locks is reason
// enough to name no cycle.
func TestCycleOpen(t *testing.T) {
	text := string(cycleDump(t, "abba"))
	for state, named := range map[string]bool{"runnable": false, "running": false, "IO wait": false, "chan receive": false} {
		more := fmt.Sprintf("\ngoroutine 99 [%s]:\nmain.use(0x1, {0x1bb67b9c090, 0x2})\n\t/home/user/src/abba/main.go:9 +0x1\n\n", state)
		f := Parse([]byte(text + more))
		if got := f.Cycles(nil); len(got) > 0 != named {
			t.Errorf("%s: %s", state, steps(f, got))
		}
	}
	// One that runs where nobody sees it may hold anything.
	f := Parse([]byte(text + "\ngoroutine 99 [running]:\n\tgoroutine running on other thread; stack unavailable\n\n"))
	if got := f.Cycles(nil); len(got) > 0 {
		t.Errorf("unavailable: %s", steps(f, got))
	}
	// Addresses of one process are nothing in another one.
	one, two, ok := strings.Cut(text, "goroutine 8 ")
	f = Parse([]byte(one + "exit status 2\n\ngoroutine 8 " + two))
	if got := f.Cycles(nil); len(f.Dumps) != 2 || len(got) > 0 || !ok {
		t.Errorf("%d dumps: %s", len(f.Dumps), steps(f, got))
	}
}

// TestHolderByAddress: the holder of a lock is in another function than those that
// wait for it, and has its address.
func TestHolderByAddress(t *testing.T) {
	f := Parse(cycleDump(t, "hold"))
	locks := f.Locks(nil)
	if len(locks) != 1 || locks[0].Seen != 1 || f.IDs[locks[0].Holders[0]] != 19 {
		t.Fatalf("%+v", locks)
	}
}
