package collect

import (
	"path/filepath"
	"slices"
	"strings"

	"loupe/format/exectrace"
	"loupe/format/profile"
	"loupe/recording"
	sources "loupe/source/bounded"
	"loupe/value/stack"
)

// Bounds of the sources that a recording keeps.
const (
	maxSources    = 300
	maxSourceSize = 1 << 20
	maxProfile    = 512 << 20 // decoded bytes of a profile, and of a trace
	maxTraced     = 1 << 20   // its events that are read: what waits is there soon
)

// keepSources copies the source files of the user's own module into which the
// profiles point, so that a line can be shown later and elsewhere. Files that
// cannot be read are left out: a trimmed or foreign build has none.
func (r *Recorder) keepSources() error {
	m := r.w.Manifest()
	var scope stack.Scope
	if m.Target.Module != "" {
		scope.Modules = []string{m.Target.Module}
	}
	weights := map[string]int64{}
	for _, kind := range []recording.Kind{recording.Allocs, recording.CPU, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine} {
		for _, e := range m.Of(kind) {
			r.countFiles(e, scope, weights)
		}
	}
	for _, e := range m.Of(recording.ExecTrace) {
		r.countTracedFiles(e, scope, weights)
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
	// What profiles of a service name is whatever somebody put there.
	var allowed sources.Places
	if r.prog != nil {
		allowed.Roots = []string{r.prog.Root}
	}
	kept := 0
	for _, file := range files {
		if kept >= maxSources {
			break
		}
		text, err := allowed.Read(file)
		if err != nil || len(text) == 0 || len(text) > maxSourceSize {
			continue
		}
		err = r.w.Put(recording.Entry{Path: recording.SourcePath(r.sourceName(file)), Kind: recording.Source, Source: file}, text)
		if err != nil {
			return err
		}
		kept++
	}
	return nil
}

// countFiles adds how many samples of a profile go through each file of the
// user's own code.
func (r *Recorder) countFiles(e recording.Entry, scope stack.Scope, weights map[string]int64) {
	data, err := r.w.ReadFile(e.Path)
	if err != nil {
		return
	}
	p, err := profile.Decode(data, profile.Options{MaxBytes: maxProfile})
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
func (r *Recorder) countTracedFiles(e recording.Entry, scope stack.Scope, weights map[string]int64) {
	if e.Bytes > maxProfile {
		return
	}
	data, err := r.w.ReadFile(e.Path)
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

// sourceName makes a path inside the recording: relative to the module where
// the file lies in it.
func (r *Recorder) sourceName(file string) string {
	if r.prog != nil && r.prog.Root != "" {
		if rel, err := filepath.Rel(r.prog.Root, file); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	name := strings.TrimPrefix(filepath.ToSlash(filepath.Clean(file)), "/")
	return "abs/" + strings.ReplaceAll(name, ":", "_")
}
