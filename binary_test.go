package loupe_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/internal/long"
)

// TestReflectMethod asks the linker whether it may leave out methods that nobody calls.
// It may not when the program can reach reflect.Value.MethodByName or the like with a name
// that is not constant, as all that imports text/template can: then each exported method of
// each type that lies in an interface stays, with all that it calls, 3.8 MB of 43.
func TestReflectMethod(t *testing.T) {
	long.Only(t, "links the program")
	t.Parallel()
	c := exec.Command("go", "build", "-pgo=off", "-buildvcs=false", "-ldflags=-dumpdep", "-o", filepath.Join(t.TempDir(), "loupe"), "./cmd/loupe")
	c.Env = append(os.Environ(), "GOFLAGS=") // flags of the linker that somebody has set would come with these
	var dump bytes.Buffer
	c.Stderr = &dump
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, dump.Bytes()[:min(dump.Len(), 2000)])
	}
	dependencies := 0
	by := map[string]string{} // what has drawn in a symbol first
	var marked []string
	const mark = " <ReflectMethod>"
	for s := bufio.NewScanner(&dump); s.Scan(); {
		from, to, ok := strings.Cut(s.Text(), " -> ")
		if !ok {
			continue
		}
		dependencies++
		for _, name := range []*string{&from, &to} {
			var reflects bool
			if *name, reflects = strings.CutSuffix(*name, mark); reflects && !strings.HasPrefix(*name, "reflect.") && !slices.Contains(marked, *name) {
				marked = append(marked, *name)
			}
			*name = strings.TrimSuffix(*name, " <UsedInIface>")
		}
		if _, ok := by[to]; !ok {
			by[to] = from
		}
	}
	if dependencies < 10_000 {
		t.Fatalf("the linker has told of %d dependencies: does -dumpdep print something else now?", dependencies)
	}
	for _, name := range marked {
		var way []string
		for at := name; at != "" && len(way) < 30 && !slices.Contains(way, at); at = by[at] {
			way = append(way, at)
		}
		slices.Reverse(way)
		t.Errorf("%s looks up methods by a name that is not constant, so that the linker keeps every exported method of the program.\n"+
			"Call it from somewhere else, or do without: report/load_methods.go does for templates. It is reached by\n\t%s", name, strings.Join(way, "\n\t"))
	}
}
