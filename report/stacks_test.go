package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"loupe/format/dump"
)

// stacksOf is a look at one of the samples of package dump.
func stacksOf(t *testing.T, name string) *Stacks {
	t.Helper()
	text, err := os.ReadFile("../format/dump/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f := dump.Parse(text)
	return &Stacks{Name: name, File: f, Dump: len(f.Dumps) - 1, Top: 20}
}

func TestStacks(t *testing.T) {
	show := func(command, name string, change func(*Stacks)) {
		t.Helper()
		v := stacksOf(t, name)
		if change != nil {
			change(v)
		}
		golden(t, command, func(w io.Writer) error { return WriteStacks(w, v, Style{Width: 80}) })
	}
	show("stacks nil-system", "go1.26.nil-system.txt", nil)
	show("stacks -full panic-all", "go1.10.8.panic-all.txt", func(v *Stacks) { v.Full = true })
	show("stacks overflow", "go1.21.13.stackoverflow.txt", nil)
	show("stacks race", "go1.26.race.txt", nil)
	show("stacks leaks", "go1.26.goroutineleak-debug1+2.txt", nil)
	show("stacks -filter labels", "go1.26.labels.txt", func(v *Stacks) {
		f, err := dump.ParseFilter("label~tenant")
		if err != nil {
			t.Fatal(err)
		}
		v.Filter, v.Keep = "label~tenant", f.Keep(v.File)
	})
	v := stacksOf(t, "go1.26.labels.txt")
	v.Full = true
	golden(t, "stacks -json labels", func(w io.Writer) error { return WriteJSON(w, StacksJSON(v)) })
	c := CompareStacks(stacksOf(t, "go1.26.deadlock.txt"), stacksOf(t, "go1.26.labels.txt"))
	golden(t, "stacks old new", func(w io.Writer) error { return WriteStacksComparison(w, c, Style{Width: 80}) })
	golden(t, "stacks -json old new", func(w io.Writer) error { return WriteJSON(w, StacksComparisonJSON(c)) })
}

// TestStacksClean: nothing of a dump reaches the terminal but text.
func TestStacksClean(t *testing.T) {
	text := strings.ReplaceAll(`panic: M

goroutine 1 [running M labels:{"k": "M"}]:
main.M(0x1, M)
	/M/m.go:5 +0x1d
M odd
`, "M", "\x1b[2J\u202e\x07\u009b")
	v := &Stacks{Name: "\x1b", File: dump.Parse([]byte(text)), Full: true}
	var b strings.Builder
	if err := WriteStacks(&b, v, Style{}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e\x07\u009b") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	if err := WriteJSON(&b, StacksJSON(v)); err != nil || strings.ContainsAny(b.String(), "\x1b\u202e\x07\u009b") {
		t.Errorf("%v %q", err, b.String())
	}
}

// TestHolderWithoutNumber: in a profile goroutines have no numbers, and none is made
// up for who may hold a lock.
func TestHolderWithoutNumber(t *testing.T) {
	text := "goroutine 7 [sleep]:\ntime.Sleep(0x1)\n\t/go/src/runtime/time.go:363 +0x1\nmain.locked()\n\t/src/main.go:5 +0x1\n\n"
	for id := 10; id < 25; id++ {
		text += fmt.Sprintf("goroutine %d [sync.Mutex.Lock]:\nsync.(*Mutex).Lock(...)\n\t/go/src/sync/mutex.go:46\nmain.locked()\n\t/src/main.go:5 +0x1\n\n", id)
	}
	f := dump.Parse([]byte(text))
	print := func() string {
		var b bytes.Buffer
		if err := WriteStacks(&b, &Stacks{Name: "x", File: f}, Style{Width: 200}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := print(); !strings.Contains(got, "; goroutine 7 may hold it: sleep") {
		t.Errorf("%s", got)
	}
	clear(f.IDs)
	if got := print(); !strings.Contains(got, "; one goroutine may hold it: sleep") {
		t.Errorf("%s", got)
	}
}
