package block_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loupe/store"
	"loupe/store/block"
)

// version1 is what was written into testdata/version1, by the last commit before blocks had
// roll-ups: the totals of its groups. The profile of late is in the log alone.
var version1 = map[string]map[string]int64{
	"process_cpu:cpu:nanoseconds:cpu:nanoseconds": {
		`{pod="p0", service_name="shop"}`: 258, `{pod="p1", service_name="shop"}`: 318, `{service_name="late"}`: 7,
	},
	"memory:inuse_space:bytes:space:bytes": { // the mean of each pod and version
		`{pod="p0", service_name="shop"}`: 44, `{pod="p1", service_name="shop"}`: 54,
	},
}

// sums are the totals of a store by service and pod, for each type.
func sums(t *testing.T, e store.Engine) map[string]map[string]int64 {
	t.Helper()
	types, err := e.Types(t.Context(), store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]int64{}
	for _, typ := range types {
		got, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: typ}, By: []string{store.ServiceLabel, "pod"}})
		if err != nil {
			t.Fatal(err)
		}
		all[typ.String()] = map[string]int64{}
		for g, l := range got.Groups {
			all[typ.String()][l.String()] = got.Total(g)
		}
	}
	return all
}

// TestVersion1 reads a store whose blocks and log were written by an older loupe, and goes on
// with it: what is merged into new blocks is the same.
func TestVersion1(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/version1")); err != nil {
		t.Fatal(err)
	}
	e, err := block.Open(dir, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { e.Close() }()
	same := func(when string) {
		t.Helper()
		if damage := e.Damage(); len(damage) > 0 {
			t.Fatalf("%s: damaged: %q", when, damage)
		}
		got := sums(t, e)
		if !maps.EqualFunc(got, version1, func(a, b map[string]int64) bool { return maps.Equal(a, b) }) {
			t.Fatalf("%s: got %v, want %v", when, got, version1)
		}
		cpu, err := store.ParseType("process_cpu:cpu:nanoseconds:cpu:nanoseconds")
		if err != nil {
			t.Fatal(err)
		}
		top, err := e.Top(t.Context(), store.TopQuery{Selection: store.Selection{Type: cpu}})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]store.FunctionTotal{
			"main.main": {Function: "main.main", Total: 583}, "main.parse": {Function: "main.parse", Self: 24, Total: 396},
			"main.next": {Function: "main.next", Self: 372, Total: 372}, "main.write": {Function: "main.write", Self: 180, Total: 180},
			"main.late": {Function: "main.late", Self: 7, Total: 7},
		}
		if top.Total != 583 || len(top.Functions) != len(want) {
			t.Fatalf("%s: got %+v", when, top)
		}
		for _, f := range top.Functions {
			if want[f.Function] != f {
				t.Errorf("%s: got %+v, want %+v", when, f, want[f.Function])
			}
		}
	}
	same("as it was written")
	keep := store.Policy{Raw: -1, FiveMinutes: -1, Hours: -1}
	begin := time.Date(2026, 3, 14, 23, 0, 0, 0, time.UTC)
	for i := range 3 { // the log becomes a block, and blocks of a day become one
		if err := e.Maintain(t.Context(), keep, begin.Add(time.Duration(48+i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	// The later one was merged with what had been in the log; the other one stays as it is.
	_, first := os.Stat(filepath.Join(dir, "0000000000000002.block"))
	_, second := os.Stat(filepath.Join(dir, "0000000000000003.block"))
	if first != nil || !errors.Is(second, fs.ErrNotExist) {
		t.Fatalf("blocks after the merge: %v, %v", first, second)
	}
	same("merged")
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = block.Open(dir, block.Options{}); err != nil {
		t.Fatal(err)
	}
	same("opened again")
}
