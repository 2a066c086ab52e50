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

// sources are those of the labs and of what they share, so that an installed loupe
// needs no checkout. labs/rules, labs/corpus and labs/changes are for the tests of
// loupe itself and are left out.
//
//go:embed blocking daisy form gzippool httptrace leak mandelbrot mandelweb mutex newsfreq
//go:embed newssearch pingpong sendjson sieve stacktrace stream
var sources embed.FS

// module is the go.mod of the labs as a module of their own, under the import path that
// they have in loupe. The standard library is all that they need; go is the version that
// loupe itself wants.
const module = "module loupe/labs\n\ngo 1.26.0\n"

// Sources are the files of all labs as a module of their own, by their paths with
// slashes: the lab mandelbrot is its package ./mandelbrot. Tests and benchmarks are part
// of it, except for those that need the rest of loupe.
func Sources() (map[string][]byte, error) {
	files := map[string][]byte{"go.mod": []byte(module)}
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "expect.txt" {
			return err
		}
		text, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(name, "_test.go") || !needsLoupe(string(text)) {
			files[name] = text
		}
		return nil
	})
	return files, err
}

// needsLoupe tells whether a file imports packages of loupe that are not labs.
func needsLoupe(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, `"loupe/labs/`, ""), `"loupe/`)
}

// CacheSources writes the sources below dir, into a folder that is named by what is in
// it, and returns the folder of the module in it. Files that are there already stay as
// they are when they are the same, so that the go command finds what it has built before.
func CacheSources(dir string) (string, error) {
	files, err := Sources()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%s %d\n%s", name, len(files[name]), files[name])
	}
	dir = filepath.Join(dir, "labs-"+hex.EncodeToString(sum.Sum(nil))[:16], "labs")
	for name, text := range files {
		if err := writeOnce(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return "", fmt.Errorf("cannot write the sources of the labs: %w", err)
		}
	}
	return dir, nil
}

// CopySources writes the sources into a folder that does not exist yet or is empty.
func CopySources(dir string) error {
	switch old, err := os.ReadDir(dir); {
	case err == nil && len(old) > 0:
		return fmt.Errorf("cannot copy the labs: %s exists and is not empty (name another folder)", dir)
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("cannot copy the labs: %w", err)
	}
	files, err := Sources()
	if err != nil {
		return err
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return fmt.Errorf("cannot copy the labs: %w", err)
		}
		if err := os.WriteFile(name, text, 0o666); err != nil {
			return fmt.Errorf("cannot copy the labs: %w", err)
		}
	}
	return nil
}

// writeOnce writes a file unless it is there with that text. Another process that
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
