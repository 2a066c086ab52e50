// Package session is one opened recording: it decodes entries on demand,
// remembers what it decoded, and places everything on the recording's time
// axis. It computes no figures; the packages above it do.
//
// A session may be shared by several goroutines. What it hands out is shared
// too and must not be modified.
package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/godebug"
	"loupe/format/loadlog"
	"loupe/format/metrics"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/session/memo"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// ErrNone is wrapped by errors that say that a recording does not hold what
// was asked for, as opposed to holding it damaged.
var ErrNone = errors.New("the recording has none")

// maxEntry bounds how much of one entry is read into memory, and what a profile
// may inflate to: half a day of samples, and far below what five megabytes in a
// zip file can claim to be.
const maxEntry = 1 << 30

// Session is an opened recording. It has more methods than most because it is the one door
// to what a recording holds: one for each kind of entry that can be asked for, with which
// nobody above need know formats, paths and clocks. They share no state but the memo.
type Session struct {
	rec  *recording.Recording
	memo *memo.Memo
	ctx  context.Context // of who asks
}

// New makes a session of a recording. The caller closes the recording.
func New(rec *recording.Recording) *Session {
	return &Session{rec: rec, memo: &memo.Memo{}, ctx: context.Background()}
}

// With returns the session for somebody who waits no longer than ctx. All sessions of a
// recording share what has been read and computed.
func (s *Session) With(ctx context.Context) *Session {
	return &Session{rec: s.rec, memo: s.memo, ctx: ctx}
}

// Context returns what was given to [Session.With]: who reads a long entry, or computes
// something of it, ends with it.
func (s *Session) Context() context.Context { return s.ctx }

// Memo returns what keeps everything that was read of the recording and computed of it.
func (s *Session) Memo() *memo.Memo { return s.memo }

// Close closes the recording, for sessions of [Loose]. Traces must not be read
// any more.
func (s *Session) Close() error { return s.rec.Close() }

// Bytes is what an entry holds, at most so many bytes, for who decodes it himself.
func (s *Session) Bytes(e recording.Entry, most int64) ([]byte, error) {
	return s.rec.ReadFile(e.Path, most)
}

// Manifest returns what the recording says of itself.
func (s *Session) Manifest() *recording.Manifest { return &s.rec.Manifest }

// decoded returns the value of key, made by decode at the first call. Beside an error
// the value is what could be read all the same, or zero. What decode asks the session
// for it asks the one that it is given, for those who wait may leave.
func decoded[T any](s *Session, key string, decode func(s *Session) (T, error)) (T, error) {
	return memo.Once(s.ctx, s.memo, key, func(ctx context.Context) (T, error) { return decode(s.With(ctx)) })
}

// Computed returns the value of key, which compute makes of the recording at the first
// call and for as long as somebody waits, see [memo.Get].
func Computed[T any](s *Session, key string, compute func(s *Session) (T, error)) (T, error) {
	return memo.Get(s.ctx, s.memo, key, func(ctx context.Context) (T, error) { return compute(s.With(ctx)) })
}

// BarePhases returns the phases in which no profiler was on, in order of
// time; those that failed are left out, and so is a round that was cut, where there are whole
// ones.
func (s *Session) BarePhases() []recording.Phase {
	var out []recording.Phase
	for _, p := range s.rec.Phases {
		if p.Bare() && p.Error == "" && !(p.Cut && len(out) > 0) {
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
	if s.isOf(recording.Stacks, path) || s.isOf(recording.Stderr, path) || s.isOf(CoreFile, path) {
		return decoded(s, "goroutines in "+path, func(s *Session) (*profile.Profile, error) { return s.lastStacks(path) })
	}
	return decoded(s, path, func(s *Session) (*profile.Profile, error) {
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
	local, _ := decoded(s, "modules", func(s *Session) ([]string, error) { return s.localModules() })
	return stack.Scope{Modules: append([]string{m}, local...)}
}

// localModules reads the build information for modules other than the target's
// that have no version.
func (s *Session) localModules() (local []string, err error) {
	for _, e := range s.rec.Of(recording.BuildInfo) {
		info, err := BuildInfo(s, e.Path)
		if err != nil {
			return nil, err
		}
		for _, path := range recording.LocalModules(info) {
			if !slices.Contains(local, path) {
				local = append(local, path)
			}
		}
	}
	return local, nil
}

// BuildInfo reads what `go version -m` says of a program, of the entry at a path.
func BuildInfo(s *Session, path string) (*debug.BuildInfo, error) {
	data, err := s.rec.ReadFile(path, maxBuildInfo)
	if err != nil {
		return nil, err
	}
	info, err := debug.ParseBuildInfo(string(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return info, nil
}

// ReaderAt returns the bytes of the entry at a path, and how many there are, until the
// recording is closed. Of a zip file they are read into memory, a gigabyte at the most.
func ReaderAt(s *Session, path string) (io.ReaderAt, int64, error) {
	return s.rec.ReaderAt(path, maxEntry)
}

// maxBuildInfo is more than the build information of any program.
const maxBuildInfo = 4 << 20

// Source returns the text of a source file that was kept, by the path that
// profiles give it.
func (s *Session) Source(file string) ([]byte, error) {
	for _, e := range s.rec.Of(recording.Source) {
		if e.Source == file {
			return decoded(s, e.Path, func(s *Session) ([]byte, error) { return s.rec.ReadFile(e.Path, 16<<20) })
		}
	}
	return nil, fmt.Errorf("source of %s: %w", file, ErrNone)
}

// Dependency returns the text of a source file of a package that the program imports, by the
// path that profiles give it: of those that make HTTP clients. None of them is code of the program's own.
func Dependency(s *Session, file string) ([]byte, error) {
	for _, e := range s.rec.Of(recording.Dependency) {
		if e.Source == file {
			return decoded(s, e.Path, func(s *Session) ([]byte, error) { return s.rec.ReadFile(e.Path, 16<<20) })
		}
	}
	return nil, fmt.Errorf("source of %s: %w", file, ErrNone)
}

// OtherRun is one more process in a log.
type OtherRun struct {
	Name   string // "" where the log does not name it
	Number int    // of the run in the log, from 0
	Cycles []godebug.Cycle
}

// RuntimeLog is what the runtime of one process printed, on the axis. Go
// programs that the process started may have printed to the same log, each
// with a time of its own: Cycles and Samples are those of the one with the
// most collections.
type RuntimeLog struct {
	*godebug.Log
	// Rest are the collections of the other programs, or of other runs of the same one; Name
	// is what the log calls the one with the most, "" where it calls it nothing.
	Rest []OtherRun
	Name string
	// Others and OtherSamples are how many more programs the log holds collections
	// and scheduler samples of.
	Others, OtherSamples int
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
			return decoded(s, e.Path, func(s *Session) (*RuntimeLog, error) { return s.readRuntime(e) })
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
	for run, n := range count {
		if run != main && n > 0 {
			l.Others++
		}
	}
	sampled := map[int]bool{main: true}
	for i := range l.Samples {
		sampled[l.Samples[i].Run] = true
	}
	l.OtherSamples = len(sampled) - 1
	l.Name = l.nameOf(main)
	if l.Stats.Runs > 1 {
		l.keepRest(count, main)
		l.Cycles = slices.DeleteFunc(l.Cycles, func(c godebug.Cycle) bool { return c.Run != main })
		l.Samples = slices.DeleteFunc(l.Samples, func(s godebug.SchedSample) bool { return s.Run != main })
	}
	return main
}

// nameOf is what the log calls a run.
func (l *RuntimeLog) nameOf(run int) string {
	if run < len(l.Names) {
		return l.Names[run]
	}
	return ""
}

// keepRest keeps the collections of all runs but the main one, run by run.
func (l *RuntimeLog) keepRest(count []int, main int) {
	at := map[int]int{}
	for run, n := range count {
		if run != main && n > 0 {
			at[run] = len(l.Rest)
			l.Rest = append(l.Rest, OtherRun{Name: l.nameOf(run), Number: run, Cycles: make([]godebug.Cycle, 0, n)})
		}
	}
	for i := range l.Cycles {
		if k, other := at[l.Cycles[i].Run]; other {
			l.Rest[k].Cycles = append(l.Rest[k].Cycles, l.Cycles[i])
		}
	}
}

// named lists what the log says of its processes, the first of them; "" where it
// says nothing.
func (l *RuntimeLog) named() string {
	var names []string
	for _, name := range l.Names {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) < 2:
		return ""
	case len(names) > 4:
		return " (" + strings.Join(names[:4], ", ") + ", …)"
	}
	return " (" + strings.Join(names, ", ") + ")"
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
			return decoded(s, e.Path, func(s *Session) (*loadlog.Log, error) {
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

// osSamples are the samples of the operating system, and how many lines of them are unreadable.
type osSamples struct {
	samples []metrics.OSSample
	bad     int
}

// OS returns the samples of the operating system, those that can be read: see [Session.Unread].
func (s *Session) OS() ([]metrics.OSSample, error) {
	found := s.rec.Of(recording.OS)
	if len(found) == 0 {
		return nil, fmt.Errorf("samples of the operating system: %w", ErrNone)
	}
	os, err := s.osSamples(found[0].Path)
	return os.samples, err
}

func (s *Session) osSamples(path string) (osSamples, error) {
	return decoded(s, path, func(s *Session) (os osSamples, err error) {
		data, err := s.rec.ReadFile(path, maxEntry)
		if err == nil {
			os.samples, os.bad = metrics.ParseOS(data)
		}
		return os, err
	})
}

// Unread counts the lines that cannot be read of an entry that [Session.OS] or [Session.Metrics] reads.
func (s *Session) Unread(e recording.Entry) int {
	switch e.Kind {
	case recording.OS:
		os, _ := s.osSamples(e.Path)
		return os.bad
	case recording.Metrics, recording.Vars:
		if set, err := s.Metrics(e.Run); err == nil {
			return set.Bad
		}
	}
	return 0
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
			return decoded(s, e.Path, func(s *Session) (*metrics.Set, error) {
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
