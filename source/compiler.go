package source

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"loupe/format/kind"
	"loupe/source/bounded"
)

// maxCompilerFiles is how many files of a folder are taken together: more than the
// largest program has.
const maxCompilerFiles = 1 << 16

// compilerFiles lists the files in a folder into which -gcflags=-json=0,DIR has written:
// a folder for each package with a file for each source, or one of these folders. It is
// nil for any other folder; the first file tells.
func compilerFiles(dir string) (files []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, x := range entries {
		name := filepath.Join(dir, x.Name())
		switch {
		case strings.HasSuffix(name, ".json"):
			files = append(files, name)
		case x.IsDir() && len(files) < maxCompilerFiles:
			inside, _ := filepath.Glob(filepath.Join(globSafe(name), "*.json")) // the pattern is a good one
			files = append(files, inside...)
		}
		if len(files) > 0 && !isCompilerFile(files[0]) {
			return nil
		}
	}
	return files[:min(len(files), maxCompilerFiles)]
}

// IsCompilerFolder tells whether a name is that of a folder of -gcflags=-json=0,DIR,
// which stands for one output of the compiler.
func IsCompilerFolder(name string) bool { return len(compilerFiles(name)) > 0 }

// globSafe is a name as a pattern that fits nothing else.
func globSafe(name string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(name)
}

// isCompilerFile tells whether a file is one of -json.
func isCompilerFile(name string) bool {
	f, err := bounded.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	k, _, err := kind.Of(io.LimitReader(f, lookedAt))
	return err == nil && k == kind.CompilerLog
}

// joined makes one file of all in a folder of -json: they may stand one after the other.
func (c *copies) joined(dir string, files []string) (path string, err error) {
	return c.put(filepath.Base(dir)+".json", bounded.Limit(&allOf{names: files}, dir, bounded.MaxStream), dir)
}

// allOf reads files one after the other, with the end of a line behind each.
type allOf struct {
	names []string
	file  io.ReadCloser
	ended bool // the last byte was the end of a line
}

// Read reads the next piece.
func (a *allOf) Read(p []byte) (int, error) {
	for {
		if a.file == nil {
			if len(a.names) == 0 {
				return 0, io.EOF
			}
			f, err := bounded.Open(a.names[0])
			a.names = a.names[1:]
			if err != nil {
				return 0, err
			}
			a.file, a.ended = f, true
		}
		n, err := a.file.Read(p)
		if n > 0 {
			a.ended = p[n-1] == '\n'
			return n, nil
		}
		if err == nil {
			continue
		}
		a.file.Close()
		a.file = nil
		if err != io.EOF {
			return 0, err
		}
		if !a.ended && len(p) > 0 {
			p[0] = '\n'
			return 1, nil
		}
	}
}
