package labs

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// demoSources are those of the lab that loupe demo builds, so that an installed
// loupe needs no checkout.
//
//go:embed newssearch form
var demoSources embed.FS

// demoModule is the go.mod of that lab as a module of its own. The standard library
// is all that it needs; go is the version that loupe itself wants.
const demoModule = "module loupe\n\ngo 1.26.0\n"

// DemoSources are the files of the lab newssearch as a module of its own, by their
// paths with slashes: the lab is the package ./labs/newssearch.
func DemoSources() (map[string][]byte, error) {
	files := map[string][]byte{"go.mod": []byte(demoModule)}
	err := fs.WalkDir(demoSources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files["labs/"+name], err = demoSources.ReadFile(name)
		return err
	})
	return files, err
}

// WriteDemoSources writes them below dir, into a folder that is named by what is in
// it, and returns that. Files that are there already stay as they are when they are the
// same, so that the go command finds what it has built before.
func WriteDemoSources(dir string) (string, error) {
	files, err := DemoSources()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name])
	}
	dir = filepath.Join(dir, "demo-"+hex.EncodeToString(sum.Sum(nil))[:16])
	for name, text := range files {
		if err := writeOnce(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return "", fmt.Errorf("cannot write the sources of the demo: %w", err)
		}
	}
	return dir, nil
}

// writeOnce writes a file unless it is there with that text. Another demo that
// does the same at the same time meets whole files alone.
func writeOnce(name string, text []byte) error {
	if old, err := os.ReadFile(name); err == nil && string(old) == string(text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
