package web

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// floors are the folders of the pages from the bottom up: each may import what
// is below it, and itself.
var floors = []string{"base", "api", "model", "draw", "widgets", "tracks", "panels", "app"}

var imported = regexp.MustCompile(`(?m)^(?:import|export)\s[^;]*?from\s+"([^"]+)"`)

// TestImports holds the imports of the pages against floors. A view does not
// import another one.
func TestImports(t *testing.T) {
	ui := os.DirFS("ui")
	err := fs.WalkDir(ui, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || !strings.HasSuffix(file, ".ts") && !strings.HasSuffix(file, ".tsx") || strings.HasPrefix(file, "vendor/") {
			return nil
		}
		folder, _, _ := strings.Cut(file, "/")
		floor := slices.Index(floors, folder)
		if floor < 0 {
			t.Errorf("%s is in no folder of floors", file)
		}
		text, err := fs.ReadFile(ui, file)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), "\n"); n > 800 && !strings.HasPrefix(string(text), "// Generated") {
			t.Errorf("%s has %d lines: split it", file, n)
		}
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], ".") {
				continue // vendored; others do not build
			}
			to := path.Join(path.Dir(file), m[1])
			if other, _, _ := strings.Cut(to, "/"); slices.Index(floors, other) > floor || slices.Index(floors, other) < 0 {
				t.Errorf("%s imports %s, which is above it", file, to)
			}
			if folder == "panels" && strings.HasPrefix(to, "panels/") && strings.Count(to, "/") > 1 && path.Dir(to) != path.Dir(file) {
				t.Errorf("%s imports from the view %s", file, path.Dir(to))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
