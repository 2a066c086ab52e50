package benchmark

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// eventsOf is what go test -json prints of the outputs of packages that are tested at a
// time: their lines take turns, and each comes in two pieces.
func eventsOf(outputs ...string) string {
	var b strings.Builder
	left := make([][]string, len(outputs))
	for i, text := range outputs {
		fmt.Fprintf(&b, `{"Time":"2026-11-20T10:00:00.5Z","Action":"start","Package":"example.com/p%d"}`+"\n", i)
		for line := range strings.Lines(text) {
			left[i] = append(left[i], line[:len(line)/2], line[len(line)/2:])
		}
	}
	for slices.ContainsFunc(left, func(l []string) bool { return len(l) > 0 }) {
		for i, l := range left {
			if len(l) == 0 {
				continue
			}
			text, err := json.Marshal(l[0])
			if err != nil {
				panic(err)
			}
			left[i] = l[1:]
			fmt.Fprintf(&b, `{"Time":"2026-11-20T10:00:00.5Z","Action":"output","Package":"example.com/p%d","Output":%s}`+"\n", i, text)
		}
	}
	return b.String()
}

const (
	onePackage   = "goos: linux\npkg: example.com/p0\nBenchmarkA-2 \t 100\t 12.5 ns/op\nBenchmarkA-2 \t 100\t 13.5 ns/op\nPASS\nok  \texample.com/p0\t0.1s\n"
	otherPackage = "goos: linux\npkg: example.com/p1\nBenchmarkB-2\nBenchmarkB-2 \t 10\t 120 ns/op\t 3 B/op\nPASS\nok  \texample.com/p1\t0.1s\n"
)

// TestEvents: the output of go test -json has the tables of the same output without it.
func TestEvents(t *testing.T) {
	f := func(outputs ...string) {
		t.Helper()
		events := eventsOf(outputs...)
		if !LooksEvents([]byte("\n" + events)) {
			t.Error("the events are not known")
		}
		want, err := Tabulate([]File{{Name: "x", Data: []byte(strings.Join(outputs, ""))}}, Everything())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Tabulate([]File{{Name: "x", Data: []byte(events)}}, Everything())
		if err != nil {
			t.Fatal(err)
		}
		if asCSV(got) != asCSV(want) || got.Results != want.Results || !slices.Equal(got.Failed, want.Failed) || !slices.Equal(got.Problems, want.Problems) {
			t.Errorf("got %d results, %q\n%s\nwant %d, %q\n%s", got.Results, got.Problems, asCSV(got), want.Results, want.Problems, asCSV(want))
		}
	}
	f(onePackage)
	f(onePackage, otherPackage)
	f(otherPackage, "--- FAIL: TestX (0.00s)\n    x_test.go:3: bad\nFAIL\nFAIL\texample.com/p1\t0.1s\n", onePackage)
	f("panic: boom\n\ngoroutine 1 [running]:\nFAIL\texample.com/p0\t0.1s\n")
}

// TestEventsDamaged: what cannot be read is told, and the rest is used.
func TestEventsDamaged(t *testing.T) {
	whole := eventsOf(onePackage)
	f := func(text, problem string, results int) {
		t.Helper()
		r, err := Tabulate([]File{{Name: "x", Data: []byte(text)}}, Everything())
		if err != nil {
			t.Fatal(err)
		}
		if r.Results != results || !strings.Contains(strings.Join(r.Problems, "\n"), problem) || problem == "" && len(r.Problems) > 0 {
			t.Errorf("%d results, %q", r.Results, r.Problems)
		}
	}
	f(whole, "", 2)
	f(whole[:len(whole)-20], "was the file cut?", 2)
	f("go: downloading x\n"+whole, "", 0) // not events from the begin
	f(strings.Replace(whole, "\n", "\nwarning of a linker\n{\"level\":\"info\",\"msg\":\"a log\"}\n", 1), "", 2)
	f(strings.Replace(whole, "\n", "\n{\"Action\": 3\n", 1), "line 2 ", 2)
}
