package collect

import (
	"path/filepath"
	"testing"
)

// TestAsLong: the folder of a revision has a path as long as that of the tree, where that is
// the longer one: what a program makes of its own path takes the same memory on both sides.
func TestAsLong(t *testing.T) {
	const parent, name = "/tmp/loupe-123/tree", "repo"
	least := len(filepath.Join(parent, name))
	for want := range 700 {
		got := asLong(parent, name, want)
		if len(got) != max(want, least) || filepath.Base(got) != name {
			t.Fatalf("%d characters of %d: %s", len(got), want, got)
		}
		for _, part := range filepath.SplitList(got) {
			if len(filepath.Base(part)) > 255 {
				t.Fatalf("%s is not a folder name", part)
			}
		}
	}
}
