package pprof

import (
	"path/filepath"
	"strings"
)

// TrimPath cuts off of a recorded source path what the search path does not
// need. Without trim_path it looks for the last element of each searched folder
// in the path, so that a program that was built in another checkout finds its
// sources in this one.
func TrimPath(file, trim, search string) string {
	slashed := filepath.ToSlash(file)
	if trim == "" {
		for _, dir := range filepath.SplitList(filepath.ToSlash(search)) {
			element := "/" + filepath.Base(dir) + "/"
			if i := strings.Index(slashed, element); i >= 0 {
				return file[i+len(element):]
			}
		}
	}
	prefixes := append(filepath.SplitList(filepath.ToSlash(trim)), "/proc/self/cwd/./", "/proc/self/cwd/")
	for _, prefix := range prefixes {
		if !strings.HasSuffix(prefix, "/") {
			prefix += "/"
		}
		if strings.HasPrefix(slashed, prefix) {
			return file[len(prefix):]
		}
	}
	return file
}
