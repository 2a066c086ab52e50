package recording

import (
	"cmp"
	"runtime/debug"
	"slices"
)

// LocalModules returns the modules of a build, other than the main one, that were
// taken from a folder and not from a version: those of a go.work, and what a replace in
// go.mod names by a path. They are the user's own as much as the main one.
func LocalModules(info *debug.BuildInfo) (local []string) {
	for _, d := range info.Deps {
		// A folder has no sum, whatever version its module is asked for in.
		if used := cmp.Or(d.Replace, d); used.Sum == "" && (used.Version == "" || used.Version == "(devel)") && !slices.Contains(local, d.Path) {
			local = append(local, d.Path)
		}
	}
	return local
}
