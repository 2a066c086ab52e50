package exectrace

import (
	"os"
	"strings"
	"testing"
)

// TestCutBatch: of a batch in which the file ends what is whole is used, and that is
// told once: a cut behind one event more brings one event more, or as many.
func TestCutBatch(t *testing.T) {
	data, err := os.ReadFile("testdata/recorded/medium.trace")
	if err != nil {
		t.Fatal(err)
	}
	count := func(size int) (events int, told []string) {
		tr, err := Open(data[:size], Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Reader()
		for r.Next() {
			events++
		}
		for _, p := range r.Problems() {
			told = append(told, p.Error())
		}
		return events, told
	}
	whole, err := Open(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	used, tried := 0, 0
	for _, g := range whole.index.gens {
		for _, th := range g.threads {
			list := th.batches[len(th.batches)-1]
			if list.size < 200 || tried > 20 {
				continue
			}
			begin, _ := count(int(list.offset) + 1)
			most, told := count(int(list.offset) + int(list.size)*3/4)
			tried++
			if most > begin {
				used++
			}
			if n := strings.Count(strings.Join(told, "\n"), "ends inside of a batch"); n != 1 {
				t.Errorf("a cut at %d is told %d times: %q", list.offset, n, told)
			}
		}
	}
	if tried < 5 || used < tried-1 { // one may hold nothing but its first event there
		t.Errorf("of %d cut batches %d bring events", tried, used)
	}
}
