package lsp

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/recording"
)

// shelved is a recording that lies in one of the folders, and of what it is.
type shelved struct {
	name  string
	state string // another one when the recording is another
	at    time.Time
	// home is the folder of the module that it lies in, "" for none.
	home string
	// module is the main module of what was recorded, "" where that is not known, and local
	// the other modules that were built from a folder (go.work, replace).
	module string
	local  []string
	kept   map[string]bool // the source files that it has, as the build named them
}

// shelf knows the recordings of some folders. A manifest is read once.
type shelf struct {
	known map[string]*shelved // by state; nil is none that counts
}

// look returns the recordings that there are, those that changed last first: the one that
// was named, or the complete ones in some folders.
func (s *shelf) look(named string, dirs []string) (all []*shelved) {
	known := map[string]*shelved{}
	take := func(name string) {
		at := name
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			at = filepath.Join(name, recording.ManifestName) // written last
			if _, err := os.Stat(at); err != nil && named != "" {
				at = filepath.Join(name, recording.JournalName)
			}
		} else if err != nil || named == "" && !strings.HasSuffix(name, ".zip") {
			return
		}
		info, err := os.Stat(at)
		if err != nil {
			return
		}
		state := name + "\x00" + info.ModTime().String() + "\x00" + strconv.FormatInt(info.Size(), 10)
		one, ok := s.known[state]
		if !ok {
			if one = describe(name, named != ""); one != nil {
				one.state, one.at = state, info.ModTime()
				if named != "" {
					one.home = "" // it may lie anywhere
				}
			}
		}
		if _, twice := known[state]; !twice && one != nil {
			all = append(all, one)
		}
		known[state] = one
	}
	if named != "" {
		take(named)
	} else {
		for _, dir := range dirs {
			entries, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, e := range entries {
				if e.IsDir() || strings.HasSuffix(e.Name(), ".zip") {
					take(filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	s.known = known
	slices.SortFunc(all, func(a, b *shelved) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.name, b.name)) })
	return all
}

// maxBuildInfo is more than the build information of any program.
const maxBuildInfo = 4 << 20

// describe reads of what a recording is; nil for what is none, or not complete.
func describe(name string, cut bool) *shelved {
	r, err := recording.OpenFile(name)
	if err != nil {
		return nil
	}
	defer r.Close()
	if !r.Complete && !cut {
		return nil
	}
	one := &shelved{name: name, home: moduleOf(name), module: r.Target.Module, kept: map[string]bool{}}
	if one.module == "command-line-arguments" {
		one.module = ""
	}
	for _, e := range r.Of(recording.Source) {
		one.kept[e.Source] = true
	}
	for _, e := range r.Of(recording.BuildInfo) {
		if data, err := r.ReadFile(e.Path, maxBuildInfo); err == nil {
			if info, err := debug.ParseBuildInfo(string(data)); err == nil {
				one.local = append(one.local, recording.LocalModules(info)...)
			}
		}
	}
	return one
}

// about are the recordings that speak of a file, the best first: the newest of its module, or
// that has kept this very file; behind them those that its module was built into, and those of
// which no module is known and which lie in the same one. Recordings of other modules do not count,
// whatever their files are called.
func about(all []*shelved, path string) (chosen []*shelved) {
	home := moduleOf(path)
	module := modulePath(home)
	var behind []*shelved
	for _, r := range all {
		switch {
		case r.kept[filepath.ToSlash(path)]:
			chosen = append(chosen, r)
		case module != "" && r.module == module && !ofCopy(r, home, module):
			chosen = append(chosen, r)
		case module != "" && slices.Contains(r.local, module), r.module == "" && r.home == home:
			behind = append(behind, r)
		}
	}
	return append(chosen, behind...)
}

// ofCopy tells that a recording lies in another copy of a module.
func ofCopy(r *shelved, home, module string) bool {
	return r.home != "" && r.home != home && modulePath(r.home) == module
}

// moduleOf is the folder of the module that a file lies in, "" for none.
func moduleOf(path string) string { return above(path, "go.mod") }

// above is the nearest folder above a path that has a certain file.
func above(path, file string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, file)); err == nil && info.Mode().IsRegular() {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// modulePath is the path of the module in a folder, "" for none.
func modulePath(dir string) string {
	if dir == "" {
		return ""
	}
	if names := directives(filepath.Join(dir, "go.mod"), "module"); len(names) > 0 {
		return names[0]
	}
	return ""
}

// workspaceOf are the folders of the go.work above a file: its own and those that it uses.
func workspaceOf(path string) (dirs []string) {
	root := above(path, "go.work")
	if root == "" {
		return nil
	}
	dirs = []string{root}
	for _, use := range directives(filepath.Join(root, "go.work"), "use") {
		dir := filepath.FromSlash(use)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		dirs = append(dirs, filepath.Clean(dir))
	}
	return dirs
}

// maxModFile is more than any go.mod or go.work has.
const maxModFile = 1 << 20

// directives are the first arguments of a directive of a go.mod or a go.work, alone or in a block.
func directives(name, verb string) (all []string) {
	info, err := os.Stat(name)
	if err != nil || info.Size() > maxModFile {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	block := ""
	for line := range strings.Lines(string(data)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case block != "":
			words = append([]string{block}, words...)
		case len(words) > 1 && words[1] == "(":
			block = words[0]
			continue
		}
		if words[0] != verb || len(words) < 2 {
			continue
		}
		arg := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), verb))
		if text, err := strconv.Unquote(arg); err == nil {
			all = append(all, text) // may have blanks in it
		} else {
			all = append(all, words[1])
		}
	}
	return all
}
