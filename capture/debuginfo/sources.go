package debuginfo

import (
	"path/filepath"
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/format/profile"
	"loupe/format/repeats"
	"loupe/recording"
	"loupe/source/bounded"
	"loupe/value/stack"
)

// Bounds of the sources that a recording keeps.
const (
	maxSources    = 300
	maxSourceSize = 1 << 20
	maxTraced     = 1 << 20 // its events that are read: what waits is there soon
)

// MaxProfile is how many decoded bytes of a profile, and bytes of a trace, are looked into.
const MaxProfile = 512 << 20

// Sources copies the source files of the user's own modules into which the profiles and traces
// of a recording point, those with the most samples first. root is the folder of the target's module,
// empty where it is not known; local are the other modules that were built from a folder
// ([recording.LocalModules]), whose files are told by the names of their functions. Files that
// cannot be read are left out: a trimmed or foreign build has none. An error is one of writing.
//
// Of the module's files that are compiled into the program, those that make settings come
// behind, and those of the same packages and of those that they import: what is set once, what seldom
// runs, and what returns at once, as a logger whose level is off, is in no profile. program is the file of the program, empty where it is not there.
//
// Of the packages of other modules that these files import, the few files are copied too by which HTTP clients are made, see
// [recording.Dependency]: what they set decides whether connections are used again, and stands nowhere else.
func Sources(w *recording.Writer, root, program string, local []string) error {
	m := w.Manifest()
	var scope stack.Scope
	if m.Target.Module != "" {
		scope.Modules = append([]string{m.Target.Module}, local...)
	}
	weights := map[string]int64{}
	for _, kind := range []recording.Kind{recording.Allocs, recording.CPU, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine} {
		for _, e := range m.Of(kind) {
			countFiles(w, e, scope, weights)
		}
	}
	for _, e := range m.Of(recording.ExecTrace) {
		countTracedFiles(w, e, scope, weights)
	}
	for _, e := range m.Of(recording.Repeats) {
		countCountedFiles(w, e, weights)
	}
	files := make([]string, 0, len(weights))
	for f := range weights {
		files = append(files, f)
	}
	// The files with the most samples first: these will be looked at.
	slices.SortFunc(files, func(a, b string) int {
		if d := weights[b] - weights[a]; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return strings.Compare(a, b)
	})
	files = append(files, otherFiles(root, m.Target.Module, program, files)...)
	// What profiles of a service name is whatever somebody put there.
	var allowed bounded.Places
	if root != "" {
		allowed.Roots = []string{root}
	}
	var kept []string
	for _, file := range files {
		if len(kept) >= maxSources {
			break
		}
		text, err := allowed.Read(file)
		if err != nil || len(text) == 0 || len(text) > maxSourceSize {
			continue
		}
		err = w.Put(recording.Entry{Path: recording.SourcePath(name(root, file)), Kind: recording.Source, Source: file}, text)
		if err != nil {
			return err
		}
		kept = append(kept, file)
	}
	return dependencies(w, root, program, kept)
}

// countFiles adds how many samples of a profile go through each file of the
// user's own code.
func countFiles(w *recording.Writer, e recording.Entry, scope stack.Scope, weights map[string]int64) {
	data, err := w.ReadFile(e.Path)
	if err != nil {
		return
	}
	p, err := profile.Decode(data, profile.Options{MaxBytes: MaxProfile})
	if err != nil {
		return
	}
	for id := range p.Samples(0) {
		for _, f := range p.Stacks.Frames(id) {
			frame := p.Stacks.Frame(f)
			if strings.HasSuffix(frame.File, ".go") && scope.IsUser(frame) {
				weights[frame.File]++
			}
		}
	}
}

// countTracedFiles does the same for a trace: what only waits is in no CPU profile. Each
// line counts once.
func countTracedFiles(w *recording.Writer, e recording.Entry, scope stack.Scope, weights map[string]int64) {
	if e.Bytes > MaxProfile {
		return
	}
	data, err := w.ReadFile(e.Path)
	if err != nil {
		return
	}
	trace, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		return
	}
	reader := trace.Reader()
	for n := 0; n < maxTraced && reader.Next(); n++ {
	}
	stacks := reader.Stacks()
	counted := make([]bool, stacks.NumFrames())
	for id := range stack.ID(stacks.Len()) {
		for _, f := range stacks.Frames(id) {
			if counted[f] {
				continue
			}
			counted[f] = true
			if frame := stacks.Frame(f); strings.HasSuffix(frame.File, ".go") && scope.IsUser(frame) {
				weights[frame.File]++
			}
		}
	}
}

// name makes a path inside the recording: relative to the module where the file lies in it.
func name(root, file string) string {
	if root != "" {
		if rel, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	name := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "/")
	return "abs/" + strings.ReplaceAll(name, ":", "_")
}

// countCountedFiles adds the files of functions whose calls were counted, as far as they have a part in what was seen.
func countCountedFiles(w *recording.Writer, e recording.Entry, weights map[string]int64) {
	data, err := w.ReadFile(e.Path)
	if err != nil {
		return
	}
	set, err := repeats.Decode(data)
	if err != nil {
		return
	}
	for _, p := range set.Within {
		weights[set.Functions[p.In].File] += p.Calls
		weights[set.Functions[p.Call].File] += p.Calls
	}
}
