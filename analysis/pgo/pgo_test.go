package pgo_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"loupe/analysis/pgo"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/value/stack"
)

// at is a frame that begins on line 10 of its file, or elsewhere.
func at(function string, line int, address uint64, inlined bool) stack.Frame {
	return stack.Frame{Func: function, File: "/src/" + function + ".go", Line: line, StartLine: 10, Address: address, Inlined: inlined}
}

// made is a profile of stacks, each with a value; a stack begins with its leaf.
func made(values []int64, stacks ...[]stack.Frame) *profile.Profile {
	p := &profile.Profile{
		SampleTypes: []profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType:  profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1e7,
		Stacks: new(stack.Table), Values: make([][]int64, 2),
	}
	for i, frames := range stacks {
		var ids []stack.FrameID
		for _, f := range frames {
			ids = append(ids, p.Stacks.InternFrame(f))
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(ids))
		p.Values[0] = append(p.Values[0], values[i])
		p.Values[1] = append(p.Values[1], values[i]*1e7)
	}
	return p
}

func encoded(t *testing.T, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// preprofile is what the compiler's own tool makes of a profile.
func preprofile(t *testing.T, data []byte) string {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, data, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "preprofile", "-i", in).Output()
	if err != nil {
		t.Fatalf("go tool preprofile: %v", err)
	}
	return string(out)
}

func text(t *testing.T, p *profile.Profile) string {
	t.Helper()
	calls, err := pgo.CallsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := calls.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// holds wants that the calls of a profile, and of what is left of it when it is trimmed, are
// those that the compiler's tool finds in all of it.
func holds(t *testing.T, p *profile.Profile) {
	t.Helper()
	want := preprofile(t, encoded(t, p))
	if got := text(t, p); got != want {
		t.Errorf("calls:\n%s\ngo tool preprofile:\n%s", got, want)
	}
	q, err := pgo.Trim(p)
	if err != nil {
		t.Fatal(err)
	}
	if got := preprofile(t, encoded(t, q)); got != want {
		t.Errorf("trimmed:\n%s\nwhole:\n%s", got, want)
	}
	index, err := pgo.Index(p)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := q.Total(0), p.Total(index); got != want {
		t.Errorf("%d samples in the trimmed profile, %d in the whole", got, want)
	}
	again, err := pgo.Trim(q)
	if err != nil || !bytes.Equal(encoded(t, again), encoded(t, q)) {
		t.Errorf("trimming twice is another thing than trimming once: %v", err)
	}
}

// TestAsCompiler holds what is read of a profile against the compiler's tool: of a real one,
// and of made ones with recursion, inlined calls, unknown addresses and addresses that agree.
func TestAsCompiler(t *testing.T) {
	all, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(all["cpu"], profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	holds(t, p)
	random := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		var stacks [][]stack.Frame
		var values []int64
		for range 1 + random.IntN(20) {
			var frames []stack.Frame
			for range 1 + random.IntN(4) {
				address := uint64(random.IntN(3)) // of a location, with what was inlined there
				for n := random.IntN(3); n >= 0; n-- {
					f := at(string(rune('a'+random.IntN(3))), 10+random.IntN(3), address, n > 0)
					if random.IntN(20) == 0 && n == 0 {
						f = stack.Frame{Address: address}
					}
					frames = append(frames, f)
				}
			}
			stacks, values = append(stacks, frames), append(values, random.Int64N(5))
		}
		stacks, values = append(stacks, []stack.Frame{at("x", 11, 9, false), at("y", 12, 8, false)}), append(values, 1)
		holds(t, made(values, stacks...))
	}
}

// TestTrimRecursion: two calls of a function to itself are told apart by their addresses
// alone, and only where they were.
func TestTrimRecursion(t *testing.T) {
	fib := func(first, second uint64) *profile.Profile {
		return made([]int64{3}, []stack.Frame{at("fib", 12, first, false), at("fib", 12, second, false), at("main", 11, 3, false)})
	}
	q, err := pgo.Trim(fib(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, q); got != "GO PREPROFILE V1\nfib\nfib\n2 3\n" {
		t.Errorf("calls: %q", got)
	}
	if _, err := pgo.Trim(fib(1, 1)); !errors.Is(err, pgo.ErrEmpty) {
		t.Errorf("one address: %v", err)
	}
}

// TestTrim: what the compiler does not read is gone, and what is said of the profile stays.
func TestTrim(t *testing.T) {
	p := made([]int64{1, 2}, []stack.Frame{at("leaf", 12, 1, false), at("mid", 13, 2, false), at("main", 14, 3, false)},
		[]stack.Frame{at("leaf", 15, 4, false), at("mid", 13, 2, false), at("main", 15, 5, false)})
	p.Comments = []string{"kept"}
	q, err := pgo.Trim(p)
	if err != nil {
		t.Fatal(err)
	}
	if q.Len() != 1 || q.Values[0][0] != 3 || q.Stacks.NumFrames() != 2 || !slices.Equal(q.Comments, p.Comments) || len(q.SampleTypes) != 1 {
		t.Errorf("%d stacks, %v, %d frames, %v, %v", q.Len(), q.Values, q.Stacks.NumFrames(), q.Comments, q.SampleTypes)
	}
	for i := range q.Stacks.NumFrames() {
		if f := q.Stacks.Frame(stack.FrameID(i)); f.File != "" || f.Address != 0 || f.Module != "" {
			t.Errorf("frame %+v", f)
		}
	}
}

func TestRefuses(t *testing.T) {
	f := func(p *profile.Profile, want error) {
		t.Helper()
		if _, err := pgo.Trim(p); !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	one := []stack.Frame{at("leaf", 12, 1, false), at("main", 13, 2, false)}
	heap := made([]int64{1}, one)
	heap.SampleTypes = []profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}}
	f(heap, pgo.ErrKind)
	mutex := made([]int64{1}, one)
	mutex.SampleTypes = []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
	f(mutex, pgo.ErrKind)
	f(made([]int64{-1}, one), pgo.ErrNegative)
	f(made(nil), pgo.ErrEmpty)
	f(made([]int64{4}, one[:1]), pgo.ErrEmpty)
	for i := range one {
		one[i].StartLine = 0
	}
	f(made([]int64{1}, one), pgo.ErrNoStart)
}

// TestHot: hot are the calls down to the one that makes the sum larger than the share.
func TestHot(t *testing.T) {
	var stacks [][]stack.Frame
	var values []int64
	for i, v := range []int64{60, 30, 9, 1} {
		stacks = append(stacks, []stack.Frame{at(fmt.Sprint("f", i), 12, 1, false), at("main", 11, 2, false)})
		values = append(values, v)
	}
	p := made(values, stacks...)
	calls, err := pgo.CallsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for share, want := range map[float64]int{0.5: 1, 0.6: 2, 0.9: 3, 0.99: 4, 1: 4} {
		if got := len(calls.Hot(share)); got != want {
			t.Errorf("%v: %d calls, want %d", share, got, want)
		}
	}
	q, err := pgo.Keep(p, 0.8)
	if err != nil || q.Total(0) != 90 {
		t.Errorf("kept %v: %v", q, err)
	}
}
