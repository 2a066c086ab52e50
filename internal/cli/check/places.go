package check

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// places are where benchmarks are declared, by package and function.
type places map[string]place

type place struct {
	file string // seen from the top of the repository, with slashes
	line int
}

// declaration is the line of a benchmark.
var declaration = regexp.MustCompile(`(?m)^func (Benchmark[\pL\pN_]*)\s*\(`)

// placesOf finds the benchmarks of packages in their folders.
func placesOf(root string, dirs map[string]string) places {
	all := places{}
	for pkg, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			continue // no line is better than none of the figures
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			shown := file
			if real, err := filepath.EvalSymlinks(file); err == nil {
				if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
					shown = rel
				}
			}
			for _, m := range declaration.FindAllSubmatchIndex(text, -1) {
				all[keyOf(pkg, string(text[m[2]:m[3]]))] = place{filepath.ToSlash(shown), 1 + bytes.Count(text[:m[0]], []byte("\n"))}
			}
		}
	}
	return all
}

// procs is the number of Ps behind the name of a benchmark.
var procs = regexp.MustCompile(`-\d+$`)

// of is where a benchmark is declared, by the name of its result; "" where that is not known.
func (p places) of(pkg, name string) (file string, line int) {
	top, _, _ := strings.Cut(name, "/")
	at, ok := p[keyOf(pkg, top)]
	if !ok {
		at = p[keyOf(pkg, procs.ReplaceAllString(top, ""))]
	}
	return at.file, at.line
}
