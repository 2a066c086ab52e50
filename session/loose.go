package session

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/format/godebug"
	"loupe/format/kind"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// File is what a loose file turned out to be.
type File struct {
	Name string `json:"name"`
	// Kind is what it holds, "pprof.other" for a profile of no kind that a
	// recording knows.
	Kind recording.Kind `json:"kind"`
	// Types are the sample types of a profile: "cpu/nanoseconds".
	Types []string `json:"types,omitempty"`
	// Program is the binary that a profile is of.
	Program string `json:"program,omitempty"`
	// Time is when a profile was taken; zero where it is not known.
	Time time.Time `json:"time,omitzero"`
	// Length is the time that it covers, 0 where it is a state or not known.
	Length time.Duration `json:"length_ns,omitempty"`
	// Stacks, Cycles and Samples count the stacks of a profile, and the
	// collections and the samples of the scheduler in a log.
	Stacks  int `json:"stacks,omitempty"`
	Cycles  int `json:"cycles,omitempty"`
	Samples int `json:"samples,omitempty"`
	// Inits, Scavenges and Pacers count the other lines of the runtime in a log: of
	// inittrace, scavtrace and gcpacertrace.
	Inits     int `json:"inits,omitempty"`
	Scavenges int `json:"scavenges,omitempty"`
	Pacers    int `json:"pacers,omitempty"`
	// Dumps counts the goroutine dumps of a file of them, Goroutines all that
	// are in them.
	Dumps      int   `json:"dumps,omitempty"`
	Goroutines int64 `json:"goroutines,omitempty"`
	// Requests counts those of a load run, Results the lines of an output of
	// go test -bench.
	Requests int `json:"requests,omitempty"`
	Results  int `json:"results,omitempty"`
	// Diagnostics counts what the compiler has said in an output of it.
	Diagnostics int `json:"diagnostics,omitempty"`
	// Failed tells of the failures of go test in an output of it.
	Failed []string `json:"failed,omitempty"`
	// Format is the version of a trace: "1.26".
	Format string `json:"format,omitempty"`
	// Bytes is the size of the file.
	Bytes int64 `json:"bytes"`
	// Instead is the file of the same kind that the rules look at in the place of
	// this one; "" where they look at this one, or at all of the kind.
	Instead string `json:"judged_instead,omitempty"`
}

// OtherProfile is the kind of a profile that is none of a recording's.
const OtherProfile recording.Kind = "pprof.other"

// maxLooseSources bounds the source files that are taken along, as in a
// recording.
const maxLooseSources = 300

// Loose makes a recording in memory of files that stand alone, so that
// everything that looks at recordings can look at them: profiles of any type,
// execution traces, goroutine dumps, cores, load runs and logs of the runtime. It tells
// them apart by what is in them. They are taken to be of one program; of two files of a
// kind the last one counts, but for dumps, cores and load runs, which all do; each of
// the others names it ([File.Instead]). Of
// cores, fsys says what the goroutines did: see [Cores].
//
// Beside the files fsys may hold sources: the file /home/x/main.go, which
// profiles name so, as source/abs/home/x/main.go, and C:\x\main.go as
// source/abs/C_/x/main.go. Those that are there are read when a rule asks.
//
// Note: The zero of the axis is the begin of each file. How they lie to each
// other in time is not known.
func Loose(fsys fs.FS, names []string) (*Session, []File, error) {
	title := strings.Join(names, ", ")
	s := New(recording.Of(recording.Manifest{ID: "files", Complete: true, Title: title, Target: recording.Target{Kind: "files", Name: title}}, fsys))
	l := loose{s}
	var files []File
	for _, name := range names {
		f, err := l.addLoose(name)
		if err != nil {
			return nil, nil, err
		}
		if m := &s.rec.Manifest; !f.Time.IsZero() && (m.Start.IsZero() || f.Time.Before(m.Start)) {
			m.Start = f.Time
		}
		s.rec.End = max(s.rec.End, timeline.Time(f.Length))
		files = append(files, f)
	}
	l.noteUnjudged(files)
	l.addSources()
	return s, files, nil
}

// oneJudged are the kinds of which the rules look at the main file alone.
var oneJudged = []recording.Kind{recording.CPU, recording.Heap, recording.Allocs, recording.Block, recording.Mutex,
	recording.Goroutine, recording.GoroutineLeak, recording.ExecTrace}

// noteUnjudged notes of each file that speaks for no kind which one does.
func (s loose) noteUnjudged(files []File) {
	m := &s.rec.Manifest
	for i := range files {
		f := &files[i]
		for _, e := range m.Entries {
			if e.Path != f.Name || !slices.Contains(oneJudged, e.Kind) {
				continue
			}
			main, _ := m.Main(e.Kind)
			if main.Path == f.Name {
				f.Instead = ""
				break
			}
			f.Instead = cmp.Or(f.Instead, main.Path)
		}
	}
}

// loose is a session that files are entered into.
type loose struct{ *Session }

// addLoose finds out what a file is and enters it.
func (s loose) addLoose(name string) (File, error) {
	f := File{Name: name}
	what, err := s.kindOf(name, &f)
	if err != nil {
		return f, err
	}
	switch what {
	case kind.Trace:
		return f, s.addTrace(&f)
	case kind.GCTrace, kind.SchedTrace, kind.RuntimeLog:
		return f, s.addLog(&f)
	case kind.Dump:
		return f, s.addStacks(&f)
	case kind.Load:
		return f, s.addRequests(&f)
	case kind.LoadText:
		return f, s.addLoadText(&f)
	case kind.Benchmarks, kind.Tests:
		return f, s.addBenchmarks(&f)
	case kind.Core:
		return f, s.addCore(&f)
	case kind.CompilerLog:
		return f, s.addCompilerLog(&f)
	case kind.Profile, kind.Gzip: // a cut one may be of either kind, and its error says so
		return f, s.addProfile(&f)
	}
	return f, fmt.Errorf("cannot tell what %s is: it is not a %s", name, kind.Known)
}

// kindOf tells what a file is and notes its size.
func (s loose) kindOf(name string, f *File) (kind.Kind, error) {
	file, err := s.rec.FS().Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		f.Bytes = info.Size()
	}
	what, _, err := kind.Of(file)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", name, err)
	}
	return what, nil
}

// enter adds an entry and the phase that it is of.
func (s loose) enter(f *File, kinds []recording.Kind, run int) {
	m := &s.rec.Manifest
	profiler := strings.TrimPrefix(string(kinds[0]), "pprof.")
	switch kinds[0] {
	case recording.Stderr:
		profiler = ""
	case recording.ExecTrace:
		profiler = "trace"
	case recording.Stacks:
		profiler = "stacks"
	}
	if kinds[0] == recording.Load {
		profiler = ""
	}
	phase := cmp.Or(profiler, "bare")
	for n := 2; ; n++ {
		if _, taken := m.PhaseNamed(phase); !taken {
			break
		}
		phase = fmt.Sprintf("%s-%d", cmp.Or(profiler, "bare"), n)
	}
	covers := timeline.Span{End: timeline.Time(f.Length)}
	m.Phases = append(m.Phases, recording.Phase{Name: phase, Span: covers, Profiler: profiler, Run: run})
	for _, kind := range kinds {
		m.Entries = append(m.Entries, recording.Entry{Path: f.Name, Kind: kind, Phase: phase, Run: max(run, 0), Span: covers, Bytes: f.Bytes})
	}
	f.Kind = kinds[0]
}

// addTrace enters an execution trace, whose first event is the zero.
func (s loose) addTrace(f *File) error {
	s.enter(f, []recording.Kind{recording.ExecTrace}, -1)
	t, _, err := s.Trace()
	if err != nil {
		return err
	}
	f.Format = t.Version.String()
	if begin, _, err := s.traceBegin(); err == nil && begin != 0 {
		s.rec.Clocks = append(s.rec.Clocks, recording.Clock{Path: f.Name, Clock: timeline.Clock{Offset: -begin}})
	} // whoever reads on is told what is wrong
	return nil
}

// addLog enters what the runtime printed, as the bare phase of a process.
func (s loose) addLog(f *File) error {
	m := &s.rec.Manifest
	run := len(m.Target.Runs)
	at := len(m.Phases)
	d, err := s.dumpAt(f.Name)
	if err != nil {
		return err
	}
	f.Dumps, f.Goroutines = len(d.Dumps), d.Goroutines()
	kinds := []recording.Kind{recording.Stderr}
	if f.Goroutines > 0 {
		kinds = append(kinds, recording.Goroutine) // it ended with a dump, or was asked for one
	}
	s.enter(f, kinds, run)
	m.Target.Runs = append(m.Target.Runs, recording.Run{})
	l, err := s.Runtime(run)
	if err != nil {
		return err
	}
	f.Cycles, f.Samples = len(l.Cycles), len(l.Samples)
	f.Inits, f.Scavenges, f.Pacers = len(l.Inits), len(l.Scavenges), len(l.Pacers)
	if others := max(l.Others, l.OtherSamples); others > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("%s holds the lines of %d runs or processes%s: this covers the one with the most collections (loupe gc %s has each)",
			f.Name, others+1, l.named(), f.Name))
	}
	for i := range l.Cycles {
		f.Length = max(f.Length, l.Cycles[i].At+l.Cycles[i].Clock())
	}
	for i := range l.Samples {
		f.Length = max(f.Length, l.Samples[i].At)
	}
	for i := range l.Inits {
		f.Length = max(f.Length, l.Inits[i].At+l.Inits[i].Clock)
	}
	// The window of a phase ends before its end.
	covers := timeline.Span{End: timeline.Time(f.Length) + 1}
	m.Phases[at].Span, m.Target.Runs[run].Span = covers, covers
	for i := len(m.Entries) - len(kinds); i < len(m.Entries); i++ {
		m.Entries[i].Span = covers
	}
	if set := godebugOf(l.Log); set != "" {
		m.Target.Env = []string{"GODEBUG=" + set}
	}
	return nil
}

// godebugOf are the settings that have made a runtime print what is in a log.
func godebugOf(l *godebug.Log) string {
	var set []string
	for _, s := range []struct {
		setting string
		lines   int
	}{{"gctrace=1", len(l.Cycles)}, {"schedtrace=1000", len(l.Samples)}, {"inittrace=1", len(l.Inits)}, {"scavtrace=1", len(l.Scavenges)}, {"gcpacertrace=1", len(l.Pacers)}} {
		if s.lines > 0 {
			set = append(set, s.setting)
		}
	}
	return strings.Join(set, ",")
}

// addProfile enters a profile under the kinds that it can stand for.
func (s loose) addProfile(f *File) error {
	p, err := s.ProfileAt(f.Name)
	if err != nil {
		return err
	}
	f.Length, f.Time, f.Stacks = p.Duration, p.Time, p.Len()
	for _, t := range p.SampleTypes {
		f.Types = append(f.Types, t.Type+"/"+t.Unit)
	}
	if len(p.Mappings) > 0 {
		f.Program = path.Base(strings.ReplaceAll(p.Mappings[0].File, `\`, "/"))
	}
	s.enter(f, kindsOf(p), -1)
	return nil
}

// kindsOf tells by its sample types what a profile is. Profiles of the live
// heap have all allocations too.
func kindsOf(p *profile.Profile) []recording.Kind {
	has := func(name string) bool {
		return slices.ContainsFunc(p.SampleTypes, func(t profile.ValueType) bool { return t.Type == name })
	}
	switch {
	case has("cpu"):
		return []recording.Kind{recording.CPU}
	case has("alloc_space") && p.DefaultSampleType == "alloc_space":
		return []recording.Kind{recording.Allocs}
	case has("alloc_space"):
		return []recording.Kind{recording.Heap, recording.Allocs}
	case has("inuse_space"):
		return []recording.Kind{recording.Heap}
	case has("delay") && unlocks(p):
		return []recording.Kind{recording.Mutex}
	case has("delay"):
		return []recording.Kind{recording.Block}
	case has("goroutine"):
		return []recording.Kind{recording.Goroutine}
	case has("goroutineleak"):
		return []recording.Kind{recording.GoroutineLeak}
	case has("threadcreate"):
		return []recording.Kind{recording.ThreadCreate}
	}
	return []recording.Kind{OtherProfile}
}

// unlocks tells a mutex profile from a block profile, which has the same
// types: it has where locks were let go.
func unlocks(p *profile.Profile) bool {
	n := 0
	for _, id := range p.StackIDs {
		if slices.ContainsFunc(p.Stacks.Frames(id), func(f stack.FrameID) bool {
			name := p.Stacks.Frame(f).Func
			return strings.HasPrefix(name, "sync.") && strings.HasSuffix(name, "nlock") || name == "runtime.unlock" || name == "runtime._LostContendedRuntimeLock"
		}) {
			n++
		}
	}
	return 2*n > p.Len()
}

// addSources enters the sources of the user's code that are there.
func (s loose) addSources() {
	weights := map[string]int64{}
	seen := map[string]bool{}
	scope := s.Scope()
	for _, e := range s.rec.Entries {
		if !strings.HasPrefix(string(e.Kind), "pprof.") || seen[e.Path] || s.isOf(CoreFile, e.Path) {
			continue // the goroutines of a core are read when somebody asks
		}
		seen[e.Path] = true
		p, err := s.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		for _, id := range p.StackIDs {
			for _, f := range p.Stacks.Frames(id) {
				if frame := p.Stacks.Frame(f); strings.HasSuffix(frame.File, ".go") && scope.IsUser(frame) {
					weights[frame.File]++
				}
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(weights), func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(a, b))
	})
	kept := 0
	for _, name := range names {
		at := SourcePath(name)
		if at == "" {
			continue
		}
		if info, err := fs.Stat(s.rec.FS(), at); err != nil || !info.Mode().IsRegular() {
			continue
		}
		s.rec.Entries = append(s.rec.Entries, recording.Entry{Path: at, Kind: recording.Source, Source: name})
		if kept++; kept == maxLooseSources {
			break
		}
	}
}

// SourcePath is where [Loose] looks for a source file that profiles name so;
// "" for a name that is not absolute, as in a build with -trimpath.
func SourcePath(file string) string {
	name := path.Clean(strings.ReplaceAll(file, `\`, "/"))
	if len(name) > 2 && name[1] == ':' && name[2] == '/' {
		name = "/" + name[:1] + "_" + name[2:]
	}
	if !path.IsAbs(name) {
		return ""
	}
	return "source/abs" + name
}
