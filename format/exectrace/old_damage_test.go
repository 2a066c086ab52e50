package exectrace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// oldTestData returns the traces of testdata, by name.
func oldTestData(t testing.TB) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join("testdata", "old", "*.trace"))
	all := make(map[string][]byte)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = data
	}
	return all
}

// ends returns where the events of an index end that are to be shown.
func (o *oldTrace) ends() map[int]bool {
	ends := make(map[int]bool)
	cursors := o.cursors()
	for i := range cursors {
		for c := &cursors[i]; c.i < c.end || c.nextBatch(); {
			if c.decode() {
				ends[c.i] = true
			}
		}
	}
	return ends
}

// readOld reads all of a trace and checks that states follow each other.
func readOld(t *testing.T, tr *Trace) (*Reader, int) {
	t.Helper()
	r, n := tr.Reader(), 0
	states := make(map[int64]State)
	last := r.pace.last
	for ; r.Next(); n++ {
		e := r.Event()
		if e.Time <= last && e.Kind != KindSync {
			t.Fatalf("event %d: time %d after %d", n, e.Time, last)
		}
		last = e.Time
		if e.Kind != KindGoTransition {
			continue
		}
		if s, ok := states[e.Subject]; ok && e.From != s && e.From != NotExist {
			t.Fatalf("event %d: goroutine %d goes from %v, and was %v", n, e.Subject, e.From, s)
		}
		states[e.Subject] = e.To
		if e.To == NotExist {
			delete(states, e.Subject)
		}
	}
	return r, n
}

// TestOldCut cuts traces, with LOUPE_EVERY_CUT at every byte. Each event in
// front of the cut must be read, and a cut that loses something must be told.
func TestOldCut(t *testing.T) {
	for name, data := range oldTestData(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := Open(data, Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			ends := whole.old.ends()
			readOld(t, whole)
			step := 41
			if os.Getenv("LOUPE_EVERY_CUT") != "" {
				step = 1
			}
			want := 0
			for cut := headerSize; cut < len(data); cut++ {
				if ends[cut] {
					want++
				}
				if cut%step != 0 {
					continue
				}
				tr, err := Open(data[:cut], Options{})
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if got := tr.old.events + len(tr.old.exits); got != want {
					t.Fatalf("cut at %d: %d events are ordered of the %d in front of it", cut, got, want)
				}
				r, _ := readOld(t, tr)
				if got := r.old.runs.index + len(tr.old.exits); got != want || len(r.old.exits) != 0 {
					t.Fatalf("cut at %d: %d events are read of the %d in front of it", cut, got, want)
				}
				told := r.Problems()
				if whole.old.frequency != tr.old.frequency && len(told) == 0 {
					t.Fatalf("cut at %d: nothing told", cut)
				}
				if _, err := Open(data[:cut], Options{Strict: true}); err == nil && len(tr.Problems()) > 0 {
					t.Fatalf("cut at %d: no error, and problems %v", cut, tr.Problems())
				}
			}
		})
	}
}

// TestOldDamage says what is told of some damages.
func TestOldDamage(t *testing.T) {
	data := oldTestData(t)["go1.10.trace"]
	f := func(what string, damage func(b []byte) []byte, want string) {
		t.Helper()
		b := damage([]byte(string(data)))
		tr, err := Open(b, Options{})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		r, n := readOld(t, tr)
		if text := fmt.Sprint(r.Problems()); !strings.Contains(text, want) {
			t.Errorf("%s: %d events, told %s, want %q", what, n, text, want)
		}
		if _, err := Open(b, Options{Strict: true}); err == nil && len(tr.Problems()) > 0 {
			t.Errorf("%s: no error when strict", what)
		}
	}
	f("a type that does not exist", func(b []byte) []byte { return append(b, 63) }, "63 is not an event type in format 1.10; the last 1 bytes")
	f("a type of later", func(b []byte) []byte { return append(b, 46, 1) }, "46 is not an event type")
	f("an event too short", func(b []byte) []byte { return append(b, oldGoEnd|1<<6, 1, 1) }, "GoEnd has 2 numbers instead of 1")
	f("a number too long", func(b []byte) []byte {
		return append(b, oldGoEnd, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)
	}, "more than 64 bits")
	f("a P too far", func(b []byte) []byte { return append(b, oldBatch|1<<6, 128, 128, 1, 1) }, "a batch of P 16384")
	f("no batch", func(b []byte) []byte { return append(b[:headerSize], oldGoEnd, 1) }, "in front of the first batch")
	f("nothing", func(b []byte) []byte { return b[:headerSize] }, "no clock frequency")
	f("a string again", func(b []byte) []byte { return append(b, oldString, 1, 1, 'x') }, "two strings with the number 1")
	f("a goroutine from nowhere", func(b []byte) []byte {
		return append(b, oldBatch|1<<6, 0, 1, oldGoStart|2<<6, 1, 99, 99)
	}, "1 events, the first of them here, need others")
	f("a clock that goes back", func(b []byte) []byte {
		return append(b, oldBatch|1<<6, 0, 1, oldProcStop, 1)
	}, "the clocks of the Ps do not agree")
}

// FuzzOld reads whatever it is given.
func FuzzOld(f *testing.F) {
	for _, data := range oldTestData(f) {
		f.Add(data)
		f.Add(data[:len(data)/2])
	}
	for _, v := range []string{"5", "7", "8", "9", "10", "11", "19", "21"} {
		head := "go 1." + v + " trace"
		f.Add([]byte(head + strings.Repeat("\x00", headerSize-len(head))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := readVersion(data); err != nil || v >= 22 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		tr, err := Open(data, Options{})
		if err != nil {
			return
		}
		r := tr.Reader()
		n := 0
		for r.Next() {
			n++
		}
		runtime.ReadMemStats(&after)
		if most := 3*len(data) + 10; n > most {
			t.Errorf("%d events of %d bytes", n, len(data))
		}
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+1000*len(data)); got > most {
			t.Errorf("%d bytes taken for a trace of %d", got, len(data))
		}
		for r := tr.Reader(); r.Next(); {
			r.AppendText(nil)
		}
		strict, err := Open(data, Options{Strict: true})
		if (err != nil) != (len(tr.Problems()) > 0) {
			t.Errorf("strict: %v, otherwise %v", err, tr.Problems())
		}
		if err == nil {
			for r := strict.Reader(); r.Next(); {
			}
		}
	})
}
