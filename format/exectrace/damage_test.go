package exectrace_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/format/exectrace"
)

// recorded returns the traces in testdata/recorded, by name: of the program that
// [exectracetest.Record] runs, with generations from 500 bytes to 60 kB. Those
// of the names size8k and size16k have a batch that one flipped bit makes so
// much longer that it swallows a generation.
func recorded(t testing.TB) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", "recorded", "*.trace"))
	if len(files) == 0 {
		t.Fatal("no recorded traces")
	}
	out := make(map[string][]byte)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".trace")] = data
	}
	return out
}

// eachRecorded runs f on all of them.
func eachRecorded(t *testing.T, f func(t *testing.T, data []byte)) {
	for name, data := range recorded(t) {
		t.Run(name, func(t *testing.T) { f(t, data) })
	}
}

// reading is what a lenient reader says of a trace.
type reading struct {
	generations [][]exectrace.Event // from a sync to the next one
	problems    []*exectrace.Problem
}

// keys are what stays of events when what is known from elsewhere is lost: the
// tables and the events of others.
func keys(events []exectrace.Event) []exectrace.Event {
	out := make([]exectrace.Event, len(events))
	for i, e := range events {
		out[i] = exectrace.Event{Kind: e.Kind, M: e.M, Subject: e.Subject, To: e.To}
	}
	return out
}

func read(t testing.TB, data []byte) reading {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out reading
	last := exectrace.Event{Time: -1 << 62}
	r := tr.Reader()
	for r.Next() {
		e := r.Event()
		if e.Time <= last.Time {
			t.Fatalf("time %d after %d", e.Time, last.Time)
		}
		last = *e
		if e.Kind == exectrace.KindSync {
			out.generations = append(out.generations, nil)
		}
		n := len(out.generations) - 1
		if e.Bridged() {
			continue
		}
		out.generations[n] = append(out.generations[n], *e)
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if last.Kind != exectrace.KindSync {
		t.Fatal("the last event is no sync")
	}
	out.problems = r.Problems()
	return out
}

func (r reading) events() (n int) {
	for _, g := range r.generations {
		n += len(g)
	}
	return n
}

// subset fails the test when got has what want has not.
func subset(t *testing.T, got, want []exectrace.Event) {
	t.Helper()
	left := map[exectrace.Event]int{}
	for _, k := range keys(want) {
		left[k]++
	}
	for _, k := range keys(got) {
		if left[k]--; left[k] < 0 {
			t.Errorf("%+v comes more often than in the whole trace", k)
		}
	}
}

// TestCut cuts a trace at two thousand bytes, at every one with
// LOUPE_EVERY_CUT=1. Whole generations are as they are, and
// of the last one the more events are there the later the cut is.
func TestCut(t *testing.T) { eachRecorded(t, testCut) }

func testCut(t *testing.T, data []byte) {
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	whole := read(t, data)
	if len(whole.problems) != 0 {
		t.Fatal(whole.problems[0])
	}
	gens := tr.Generations()
	ends := []int{16}
	for _, g := range gens {
		ends = append(ends, ends[len(ends)-1]+int(g.Bytes))
	}
	if end := ends[len(ends)-1]; end != len(data) || len(gens) < 3 {
		t.Fatalf("%d generations end at %d of %d", len(gens), end, len(data))
	}
	// Two generations tell all that there is to be told; the first one, with a
	// reader that knows nothing yet, and one behind it.
	stop, step := ends[2], 1+ends[2]/2000
	if os.Getenv("LOUPE_EVERY_CUT") != "" {
		step = 1
	}
	before, most := 0, 0
	for cut := 16; cut < stop; cut += step {
		got := read(t, data[:cut])
		n := 0
		for n+1 < len(ends) && ends[n+1] <= cut {
			n++
		}
		if n > before {
			before, most = n, 0
		}
		for i := range n {
			if !slices.Equal(got.generations[i], whole.generations[i]) {
				t.Fatalf("cut at %d: generation %d differs", cut, i+1)
			}
		}
		if cut == ends[n] {
			continue
		}
		if len(got.problems) == 0 {
			t.Fatalf("cut at %d of %v: no problem", cut, ends)
		}
		if len(got.generations) < n+2 {
			continue // not one whole batch header of the generation
		}
		subset(t, got.generations[n], whole.generations[n])
		if len(got.generations[n]) < most {
			t.Fatalf("cut at %d: %d events, and %d before", cut, len(got.generations[n]), most)
		}
		most = len(got.generations[n])
		if cut == ends[n+1]-1 && !slices.Equal(got.generations[n], whole.generations[n]) {
			t.Errorf("only the end of generation %d is missing, but its events differ", n+1)
		}
		if t.Failed() {
			t.Fatalf("cut at %d of %v: %v", cut, ends, got.problems)
		}
	}
}

// TestGarbage damages the middle generation of a trace in many ways. Those
// before it must stay as they are, and those behind it must come again with
// all their events.
func TestGarbage(t *testing.T) { eachRecorded(t, testGarbage) }

func testGarbage(t *testing.T, data []byte) {
	tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	whole := read(t, data)
	gens := tr.Generations()
	from := 16 + int(gens[0].Bytes)
	size := int(gens[1].Bytes)
	garbage := bytes.Repeat([]byte("\x01garbage\x34\xff\x80\x00"), 1000+size/12)
	splice := func(at, n int, middle []byte) []byte {
		return slices.Concat(data[:at], middle, data[at+n:])
	}
	for name, bad := range map[string][]byte{
		"zeros":                       splice(from+size/3, size/3, make([]byte, size/3)),
		"garbage":                     splice(from+size/3, size/3, garbage[:size/3]),
		"missing":                     splice(from+size/3, size/3, nil),
		"more":                        splice(from+size/3, 0, garbage),
		"garbage over the end":        splice(from+size-100, 100, garbage[:100]),
		"end is missing":              splice(from+size-1, 1, nil),
		"whole generation is missing": splice(from, size, nil),
		"generation comes again":      splice(from+size, 0, data[from:from+size]),
		"trace comes again":           slices.Concat(data, data),
	} {
		t.Run(name, func(t *testing.T) {
			got := read(t, bad)
			if len(got.problems) == 0 {
				t.Error("no problem")
			}
			for _, p := range got.problems {
				t.Log(p)
			}
			if !slices.Equal(got.generations[0], whole.generations[0]) {
				t.Error("the generation before the damage differs")
			}
			// Behind the damage states begin anew, so that the events of the
			// last generation differ in what is known from before.
			want := tail(whole.generations[len(gens)-1])
			if !slices.ContainsFunc(got.generations, func(g []exectrace.Event) bool { return slices.Equal(tail(g), want) }) {
				t.Errorf("the last generation has not come again: %d events of %d", got.events(), whole.events())
			}
		})
	}
}

// tail returns the later half of a generation, without what the reader counts.
func tail(g []exectrace.Event) []exectrace.Event { return keys(g[len(g)/2:]) }

// bits returns which bits to flip: some hundred anywhere, all with
// LOUPE_EVERY_BIT=1, and of a small trace those that are the size of a batch.
func bits(data []byte) (list []int) {
	step := 8*len(data)/200 + 1
	switch {
	case os.Getenv("LOUPE_EVERY_BIT") != "":
		step = 1
	case testing.Short():
		step *= 10
	}
	for bit := headerBytes * 8; bit < len(data)*8; bit += step {
		list = append(list, bit)
	}
	if len(data) > 64<<10 || testing.Short() {
		return list
	}
	// The runtime pads sizes to ten bytes, of which three count.
	padding := []byte("\x80\x80\x80\x80\x80\x80\x00")
	for at := bytes.Index(data, padding); at >= 3; {
		for bit := (at - 3) * 8; bit < at*8; bit++ {
			list = append(list, bit)
		}
		next := bytes.Index(data[at+1:], padding)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return list
}

const headerBytes = 16 // of a trace

// TestFlip flips single bits anywhere. The generations before the damage stay
// as they are, and behind the following one all is there again.
func TestFlip(t *testing.T) { eachRecorded(t, testFlip) }

func testFlip(t *testing.T, data []byte) {
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole := read(t, data)
	gens := tr.Generations()
	lost, n := 0, 0
	bad := slices.Clone(data)
	for _, bit := range bits(data) {
		bad[bit/8] ^= 1 << (bit % 8)
		got := read(t, bad)
		bad[bit/8] ^= 1 << (bit % 8)
		start := 16
		for i, g := range gens {
			end := start + int(g.Bytes)
			switch {
			case end <= bit/8:
				if !slices.Equal(got.generations[i], whole.generations[i]) {
					t.Fatalf("bit %d of byte %d: generation %d differs, which ends at byte %d", bit%8, bit/8, i+1, end)
				}
			case i > 0 && bit/8 < start-int(gens[i-1].Bytes):
				want := tail(whole.generations[i])
				if !slices.ContainsFunc(got.generations, func(g []exectrace.Event) bool { return slices.Equal(tail(g), want) }) {
					t.Errorf("bit %d of byte %d: generation %d is lost, which begins at byte %d: %v", bit%8, bit/8, i+1, start, got.problems)
				}
			}
			start = end
		}
		lost, n = lost+max(0, whole.events()-got.events()), n+1
	}
	t.Logf("%d bits of %d bytes with %d events in %d generations: %.2f%% of the events lost on average",
		n, len(data), whole.events(), len(gens), 100*float64(lost)/float64(n)/float64(whole.events()))
}

// TestStrange opens what is hardly a trace.
func TestStrange(t *testing.T) {
	head := "go 1.26 trace\x00\x00\x00"
	f := func(data string, problem string) {
		t.Helper()
		got := read(t, []byte(data))
		if problem == "" && len(got.problems) == 0 {
			return
		}
		if len(got.problems) == 0 || !strings.Contains(got.problems[0].Error(), problem) {
			t.Errorf("%q: problems %v, want %q", data, got.problems, problem)
		}
	}
	f(head, "")
	f("go 1.22 trace\x00\x00\x00", "before its first generation")
	f(head+"\x34", "end of a generation that has not begun")
	f(head+"\x01", "inside of a batch's header")
	f(head+"\x01\x01\x01\x01\xff\xff\xff\xff", "inside of a batch's header")
	f(head+strings.Repeat("\x00", 1000), "a batch should begin here")
	f(head+strings.Repeat("\x01", 1000), "")
	f(head+string(binary.AppendUvarint([]byte("\x01\x01\x01\x01"), 1<<17))+strings.Repeat("\x00", 100), "a batch of 131072 bytes")
}

// TestShrink reads a file that loses its end after it was indexed.
func TestShrink(t *testing.T) { eachRecorded(t, testShrink) }

func testShrink(t *testing.T, data []byte) {
	whole := read(t, data)
	for keep := len(data) - 1; keep > 16; keep = keep*9/10 - 1 {
		file := &shrinking{bytes.NewReader(data)}
		tr, err := exectrace.OpenReaderAt(file, int64(len(data)), exectrace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		file.Reader = bytes.NewReader(data[:keep])
		r := tr.Reader()
		n := 0
		for r.Next() {
			n++
		}
		if r.Err() != nil || len(r.Problems()) == 0 || n > whole.events() {
			t.Errorf("%d of %d bytes are left: %d events, error %v, problems %v", keep, len(data), n, r.Err(), r.Problems())
		}
	}
}

type shrinking struct{ *bytes.Reader }
