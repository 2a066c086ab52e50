package collect

import (
	"fmt"
	"os"
	"path/filepath"

	"loupe/recording"
)

// maxPGO bounds the profile that is kept: those in repositories have some 100 kB.
const maxPGO = 16 << 20

// keepPGO keeps the profile that the compiler went by, where it is still there. Name is
// what the build says of it; with -trimpath that has no folder.
func keepPGO(w *recording.Writer, name string) error {
	if !filepath.IsAbs(name) {
		return nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxPGO {
		return nil // the program was built elsewhere, or it is no longer there
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return w.Note(fmt.Sprintf("the profile that the compiler went by was not kept: %v", err))
	}
	return w.Put(recording.Entry{Path: "default.pgo", Kind: recording.PGO, Source: name}, data)
}
