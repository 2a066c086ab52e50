package exectrace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/exectrace/exectracetest"
)

// TestParallel: the generations read side by side have the events of the
// trace, in the same order, and the times but for what the overlap of two
// generations moves by.
func TestParallel(t *testing.T) {
	dir := t.TempDir()
	if out, err := exectracetest.Oracle(t, "unpack", filepath.Join(exectracetest.Tree(t), "testdata", "tests"), dir); err != nil {
		t.Fatal(out, err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.trace"))
	more, _ := filepath.Glob(filepath.Join(os.Getenv("LOUPE_TRACES"), "*.trace"))
	several := 0
	for _, f := range append(files, more...) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := exectrace.Open(data, exectrace.Options{Strict: true})
		if err != nil {
			continue // refused, which is tested elsewhere
		}
		whole, err := byGeneration(tr)
		if err != nil {
			continue
		}
		if len(whole) > 1 {
			several++
		}
		parts := make([][]string, max(1, len(tr.Generations())))
		var mu sync.Mutex
		err = tr.Parallel(3, func(i int, r *exectrace.Reader) error {
			var list []string
			for r.Next() {
				if e := r.Event(); e.Kind != exectrace.KindSync {
					list = append(list, eventWords(r, e))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			parts[i] = list
			return r.Err()
		})
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		for i := range whole {
			if !slices.Equal(whole[i], parts[i]) {
				k := 0
				for k < min(len(whole[i]), len(parts[i])) && whole[i][k] == parts[i][k] {
					k++
				}
				t.Errorf("%s: generation %d has %d events, alone %d; they differ from event %d on: %q, alone %q", filepath.Base(f), i,
					len(whole[i]), len(parts[i]), k, whole[i][k:min(k+2, len(whole[i]))], parts[i][k:min(k+2, len(parts[i]))])
			}
		}
	}
	if several < 3 {
		t.Errorf("only %d traces with several generations", several)
	}
}

// eventWords is an event without its time, and without what depends on the
// generations before: the old state, the thread of a P that is about to be
// stolen, and the parent and type of a task that ends.
func eventWords(r *exectrace.Reader, e *exectrace.Event) string {
	switch e.Kind {
	case exectrace.KindTaskEnd:
		return fmt.Sprint(e.Kind, e.M, e.Task())
	case exectrace.KindProcTransition:
		return fmt.Sprint(e.Kind, e.Subject)
	case exectrace.KindGoTransition:
		return fmt.Sprint(e.Kind, e.Subject, e.To, r.Name(e.Name))
	}
	return fmt.Sprint(e.Kind, e.M, e.Subject, r.Name(e.Name), e.Args[0])
}

// byGeneration reads a trace from begin to end.
func byGeneration(t *exectrace.Trace) (list [][]string, err error) {
	r := t.Reader()
	for r.Next() {
		e := r.Event()
		if e.Kind == exectrace.KindSync {
			if len(list) < len(t.Generations()) {
				list = append(list, nil)
			}
			continue
		}
		list[len(list)-1] = append(list[len(list)-1], eventWords(r, e))
	}
	return list, r.Err()
}

func TestParallelError(t *testing.T) {
	tr, err := exectrace.Open([]byte("go 1.26 trace\x00\x00\x00"), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := errors.New("enough")
	if err := tr.Parallel(0, func(int, *exectrace.Reader) error { return want }); err != want {
		t.Errorf("error %v", err)
	}
}
