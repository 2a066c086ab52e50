// Package session is one opened recording: it decodes entries on demand,
// remembers what it decoded, and places everything on the recording's time
// axis. It computes no figures; the packages above it do.
//
// A session may be shared by several goroutines. What it hands out is shared
// too and must not be modified.
package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"loupe/godebug"
	"loupe/loadlog"
	"loupe/metrics"
	"loupe/profile"
	"loupe/recording"
	"loupe/stack"
	"loupe/timeline"
)

// ErrNone is wrapped by errors that say that a recording does not hold what
// was asked for, as opposed to holding it damaged.
var ErrNone = errors.New("the recording has none")

// maxEntry bounds how much of one entry is read into memory, and what a profile
// may inflate to: half a day of samples, and far below what five megabytes in a
// zip file can claim to be.
const maxEntry = 1 << 30

// Session is an opened recording.
type Session struct {
	rec *recording.Recording

	mu   sync.Mutex
	memo map[string]*memo
}

// memo is one decoded value, decoded once.
type memo struct {
	once  sync.Once
	value any
	err   error
}

// New makes a session of a recording. The caller closes the recording.
func New(rec *recording.Recording) *Session {
	return &Session{rec: rec, memo: map[string]*memo{}}
}

// Close closes the recording, for sessions of [Loose]. Traces must not be read
// any more.
func (s *Session) Close() error { return s.rec.Close() }

// Manifest returns what the recording says of itself.
func (s *Session) Manifest() *recording.Manifest { return &s.rec.Manifest }

// decoded returns the value of key, made by decode at the first call. Beside an
// error the value is what could be read all the same, or zero.
func decoded[T any](s *Session, key string, decode func() (T, error)) (T, error) {
	s.mu.Lock()
	m, ok := s.memo[key]
	if !ok {
		m = &memo{}
		s.memo[key] = m
	}
	s.mu.Unlock()
	m.once.Do(func() { m.value, m.err = decode() })
	return m.value.(T), m.err
}

// BarePhases returns the phases in which no profiler was on, in order of
// time; those that failed are left out.
func (s *Session) BarePhases() []recording.Phase {
	var out []recording.Phase
	for _, p := range s.rec.Phases {
		if p.Bare() && p.Error == "" {
			out = append(out, p)
		}
	}
	return out
}

// Profile returns the main profile of a kind ([recording.Manifest.Main]) and its
// entry.
func (s *Session) Profile(kind recording.Kind) (*profile.Profile, recording.Entry, error) {
	e, ok := s.rec.Main(kind)
	if !ok {
		return nil, recording.Entry{}, fmt.Errorf("no %s profile: %w", kind, ErrNone)
	}
	p, err := s.ProfileAt(e.Path)
	return p, e, err
}

// ProfileAt returns the profile of the entry at a path.
func (s *Session) ProfileAt(path string) (*profile.Profile, error) {
	return decoded(s, path, func() (*profile.Profile, error) {
		if s.isOf(recording.Stacks, path) || s.isOf(CoreFile, path) {
			return s.lastStacks(path)
		}
		data, err := s.rec.ReadFile(path, maxEntry)
		if err != nil {
			return nil, err
		}
		p, err := profile.Decode(data, profile.Options{MaxBytes: maxEntry})
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
		return p, nil
	})
}

// Scope tells the user's code from that of others. Besides the target's module
// the user's are those that were built from a folder and not from a version: the
// modules of a go.work, and what a replace in go.mod names by a path.
func (s *Session) Scope() stack.Scope {
	m := s.rec.Target.Module
	if m == "" {
		return stack.Scope{}
	}
	local, _ := decoded(s, "modules", func() ([]string, error) { return s.localModules() })
	return stack.Scope{Modules: append([]string{m}, local...)}
}

// localModules reads the build information for modules other than the target's
// that have no version.
func (s *Session) localModules() (local []string, err error) {
	for _, e := range s.rec.Of(recording.BuildInfo) {
		data, err := s.rec.ReadFile(e.Path, maxBuildInfo)
		if err != nil {
			return nil, err
		}
		info, err := debug.ParseBuildInfo(string(data))
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", e.Path, err)
		}
		for _, d := range info.Deps {
			// A folder has no sum, whatever version its module is asked for in.
			if used := cmp.Or(d.Replace, d); used.Sum == "" && (used.Version == "" || used.Version == "(devel)") && !slices.Contains(local, d.Path) {
				local = append(local, d.Path)
			}
		}
	}
	return local, nil
}

// maxBuildInfo is more than the build information of any program.
const maxBuildInfo = 4 << 20

// Source returns the text of a source file that was kept, by the path that
// profiles give it.
func (s *Session) Source(file string) ([]byte, error) {
	for _, e := range s.rec.Of(recording.Source) {
		if e.Source == file {
			return decoded(s, e.Path, func() ([]byte, error) { return s.rec.ReadFile(e.Path, 16<<20) })
		}
	}
	return nil, fmt.Errorf("source of %s: %w", file, ErrNone)
}

// RuntimeLog is what the runtime of one process printed, on the axis. Go
// programs that the process started may have printed to the same log, each
// with a time of its own: Cycles and Samples are those of the one with the
// most collections.
type RuntimeLog struct {
	*godebug.Log
	// Clock maps the runtime's time since program start onto the axis.
	Clock timeline.Clock
	// Arrived holds the arrival time of each line, from line 1 at index 0.
	// It is empty when only the text was kept.
	Arrived []timeline.Time
}

// Runtime returns the runtime's lines of the process with the given index in
// Target.Runs.
func (s *Session) Runtime(run int) (*RuntimeLog, error) {
	for _, e := range s.rec.Of(recording.Stderr) {
		if e.Run == run {
			return decoded(s, e.Path, func() (*RuntimeLog, error) { return s.readRuntime(e) })
		}
	}
	return nil, fmt.Errorf("standard error of process %d: %w", run+1, ErrNone)
}

func (s *Session) readRuntime(e recording.Entry) (*RuntimeLog, error) {
	text, err := s.rec.ReadFile(e.Path, maxEntry)
	if err != nil {
		return nil, err
	}
	l := &RuntimeLog{Log: godebug.Parse(text)}
	main := l.keepMainRun()
	if data, err := s.rec.ReadFile(e.Path+".times", maxEntry); err == nil {
		l.Arrived = parseTimes(data)
	}
	for _, c := range s.rec.Clocks {
		if c.Path == e.Path {
			l.Clock = c.Clock
		}
	}
	end := timeline.Time(math.MaxInt64)
	if e.Run >= 0 && e.Run < len(s.rec.Target.Runs) && s.rec.Target.Runs[e.Run].Exit != "" {
		end = s.rec.Target.Runs[e.Run].Span.End
	}
	l.refineClock(main == 0, end)
	return l, nil
}

// keepMainRun drops the lines of all programs but the one with the most
// collections, and returns its number in the log.
func (l *RuntimeLog) keepMainRun() int {
	count := make([]int, l.Stats.Runs+1)
	for i := range l.Cycles {
		count[l.Cycles[i].Run]++
	}
	main := 0
	for run, n := range count {
		if n > count[main] {
			main = run
		}
	}
	if l.Stats.Runs > 1 {
		l.Cycles = slices.DeleteFunc(l.Cycles, func(c godebug.Cycle) bool { return c.Run != main })
		l.Samples = slices.DeleteFunc(l.Samples, func(s godebug.SchedSample) bool { return s.Run != main })
	}
	return main
}

func parseTimes(data []byte) []timeline.Time {
	out := make([]timeline.Time, 0, bytes.Count(data, []byte("\n")))
	for line := range bytes.Lines(data) {
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
		if err != nil {
			break // cut off
		}
		out = append(out, timeline.Time(n))
	}
	return out
}

// refineClock narrows the offset down: no line can arrive before what it
// tells has happened, so the smallest delay seen is the best estimate of
// where the runtime's zero lies. The runtime's times are whole milliseconds.
//
// The clock that was recorded with the start of the process is kept where
// every line came later than it allows, as from a log that was held up; it
// says nothing of a program that the process started (own is false). When loupe
// comes to read only after the process has ended, on a busy machine, then its end
// says more than the lines do.
func (l *RuntimeLog) refineClock(own bool, end timeline.Time) {
	best, found := timeline.Time(0), false
	last := time.Duration(0)
	for i := range l.Cycles {
		c := &l.Cycles[i]
		last = max(last, c.At+c.Clock())
		at, ok := l.ArrivedAt(c.Position)
		if !ok || c.At == 0 {
			continue
		}
		offset := at.Add(-c.At - c.Clock())
		if !found || offset < best {
			best, found = offset, true
		}
	}
	if latest := end.Add(-last); own && best > latest {
		best = max(latest, l.Clock.Offset)
	}
	late := own && l.Clock.Error > 0 && best > l.Clock.Offset.Add(l.Clock.Error)
	if found && !late {
		l.Clock.Offset, l.Clock.Error = best, 3*time.Millisecond
	}
}

// ArrivedAt returns when a record's line arrived.
func (l *RuntimeLog) ArrivedAt(p godebug.Position) (timeline.Time, bool) {
	if p.Line < 1 || p.Line > len(l.Arrived) {
		return 0, false
	}
	return l.Arrived[p.Line-1], true
}

// Window returns the part of a span of the axis in the runtime's own time,
// as the times of collections and scheduler samples are given.
func (l *RuntimeLog) Window(span timeline.Span) (from, to time.Duration) {
	return span.Start.Sub(l.Clock.Offset), span.End.Sub(l.Clock.Offset)
}

// Load returns the requests of a phase. Of a file that is damaged it returns
// those before the damage beside the error, or nil where there are none.
func (s *Session) Load(phase string) (*loadlog.Log, error) {
	for _, e := range s.rec.Of(recording.Load) {
		if e.Phase == phase {
			return decoded(s, e.Path, func() (*loadlog.Log, error) {
				data, err := s.rec.ReadFile(e.Path, maxEntry)
				if err != nil {
					return nil, err
				}
				l, err := loadlog.Decode(data)
				if err != nil {
					err = fmt.Errorf("cannot read %s: %w", e.Path, err)
				}
				if err != nil && l != nil && l.Len() == 0 {
					l = nil
				}
				return l, err
			})
		}
	}
	return nil, fmt.Errorf("requests of phase %s: %w", phase, ErrNone)
}

// OS returns the samples of the operating system.
func (s *Session) OS() ([]metrics.OSSample, error) {
	found := s.rec.Of(recording.OS)
	if len(found) == 0 {
		return nil, fmt.Errorf("samples of the operating system: %w", ErrNone)
	}
	return decoded(s, found[0].Path, func() ([]metrics.OSSample, error) {
		data, err := s.rec.ReadFile(found[0].Path, maxEntry)
		if err != nil {
			return nil, err
		}
		samples, _ := metrics.ParseOS(data)
		return samples, nil
	})
}

// Metrics returns the samples of runtime/metrics, or of /debug/vars where
// these are all there is, of one process; -1 is the one that loupe did not
// start, as in a phase.
func (s *Session) Metrics(run int) (*metrics.Set, error) {
	run = max(run, 0)
	for _, kind := range []recording.Kind{recording.Metrics, recording.Vars} {
		for _, e := range s.rec.Of(kind) {
			if e.Run != run {
				continue
			}
			return decoded(s, e.Path, func() (*metrics.Set, error) {
				data, err := s.rec.ReadFile(e.Path, maxEntry)
				if err != nil {
					return nil, err
				}
				if kind == recording.Vars {
					return metrics.ParseVars(data), nil
				}
				return metrics.ParseRuntime(data, s.rec.Start), nil
			})
		}
	}
	return nil, fmt.Errorf("metrics of process %d: %w", run+1, ErrNone)
}
