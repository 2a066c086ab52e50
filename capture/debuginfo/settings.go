package debuginfo

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/source/bounded"
)

// settingWords are what a source calls to set something of the runtime, or of what the program
// talks to, once: no profile and no trace leads there.
var settingWords = [][]byte{
	[]byte("GOMAXPROCS("), []byte("SetGCPercent("), []byte("SetMemoryLimit("), []byte("SetMaxStack("), []byte("FreeOSMemory("),
	[]byte("SetBlockProfileRate("), []byte("SetMutexProfileFraction("), []byte("MemProfileRate"), []byte("LockOSThread("),
	[]byte("SetMaxOpenConns("), []byte("SetMaxIdleConns("), []byte("SetNoDelay("),
	[]byte("MaxIdleConnsPerHost"), []byte("MaxConnsPerHost"), []byte("DisableKeepAlives"), []byte(".Accept()"),
	// What takes something that no profile shows, and may not give it back.
	[]byte("import \"C\""), []byte("http.Get("), []byte("http.Post("), []byte(".Do(req"),
}

// Bounds of the search for settings.
const (
	maxLooked  = 5000
	maxProgram = 512 << 20
)

// otherFiles are the files of a module, below root, that make settings, or are in a folder with one
// of those that are had, or in one that these import, and are compiled into the program: its table of functions has their
// names. Tests and vendored modules are left out.
func otherFiles(root, module, program string, have []string) (files []string) {
	if root == "" || program == "" {
		return nil
	}
	if info, err := os.Stat(program); err != nil || info.Size() > maxProgram {
		return nil
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil // gone: there is nothing to be said
	}
	folders := map[string]bool{}
	for _, file := range have {
		folders[filepath.Dir(file)] = true
	}
	for _, folder := range importedFolders(root, module, have) {
		folders[folder] = true
	}
	looked := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir():
			if path != root && (skipped(d.Name()) || exists(filepath.Join(path, "go.mod"))) {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || slices.Contains(have, path):
			return nil
		}
		if looked++; looked > maxLooked {
			return filepath.SkipAll
		}
		text, err := bounded.Places{Roots: []string{root}}.Read(path)
		if err != nil || len(text) > maxSourceSize || !folders[filepath.Dir(path)] && !slices.ContainsFunc(settingWords, func(w []byte) bool { return bytes.Contains(text, w) }) {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && bytes.Contains(binary, []byte("/"+filepath.ToSlash(rel)+"\x00")) {
			files = append(files, path)
		}
		return nil
	})
	return files
}

// importedFolders are the folders of a module's own packages that files of it import.
func importedFolders(root, module string, files []string) (folders []string) {
	if module == "" {
		return nil
	}
	for _, pkg := range importedPaths(bounded.Places{Roots: []string{root}}, files[:min(len(files), maxSources)]) {
		if rel, ok := strings.CutPrefix(pkg, module+"/"); ok {
			folders = append(folders, filepath.Join(root, filepath.FromSlash(rel)))
		}
	}
	return folders
}

// importedPaths are the packages that files import, in their order; one that several import comes several times.
func importedPaths(places bounded.Places, files []string) (all []string) {
	for _, file := range files {
		text, err := places.Read(file)
		if err != nil || len(text) > maxSourceSize {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range parsed.Imports {
			all = append(all, strings.Trim(spec.Path.Value, "\"`"))
		}
	}
	return all
}

// skipped tells of a folder, by its name, that the go command looks for no packages in it, or
// only for those of others.
func skipped(name string) bool {
	return name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
