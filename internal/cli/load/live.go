package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/term"

	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/secret"
	"loupe/value/unit"
)

// runLoad is load.Run, shown on the terminal while it goes on.
func runLoad(e *command.Env, c load.Config) (*loadlog.Log, error) {
	return new(liveRun).run(e.Ctx, e, c)
}

// liveRun is a load that is shown while it goes on.
type liveRun struct{ view atomic.Pointer[liveView] }

func (l *liveRun) run(ctx context.Context, e *command.Env, c load.Config) (*loadlog.Log, error) {
	defer e.Keeps()()
	if !showsLive(e) {
		return load.Run(ctx, c)
	}
	terminal, _ := command.FileOf(e.Stderr) // it moves the cursor itself
	v := newLiveView(terminal, func() (int, int) { return terminalSize(e.Stderr) }, command.Colour(e.Stderr))
	v.state.Title, v.state.Requests, v.state.Duration = liveTitle(&c), int64(c.Requests), c.Duration
	c.Live = v.tick
	l.view.Store(v)
	defer v.stop()
	defer l.view.Store(nil)
	defer e.Shows(v)()
	return load.Run(ctx, c)
}

// showsLive tells whether runs are to be seen while they go on: on a terminal,
// and not when what comes of them goes into another program, which may be on
// the same screen.
func showsLive(e *command.Env) bool {
	if e.NoLive || e.Quiet || !command.IsTerminal(e.Stderr) || os.Getenv("TERM") == "dumb" {
		return false
	}
	f, ok := command.FileOf(e.Stdout)
	if !ok {
		return true
	}
	info, err := f.Stat()
	return err != nil || info.Mode()&os.ModeNamedPipe == 0
}

// sampled hands a sample of the service's metrics to the picture, if there is
// one.
func (l *liveRun) sampled(sample []byte) {
	if v := l.view.Load(); v != nil {
		v.service(sample)
	}
}

// liveTitle says what is sent.
func liveTitle(c *load.Config) string {
	if len(c.Targets) > 1 {
		return fmt.Sprintf("%d targets, the first of them %s", len(c.Targets), secret.URL(c.Targets[0].URL))
	}
	return strings.TrimSpace(c.Method + " " + secret.URL(c.URL))
}

// terminalSize returns that of the terminal behind w.
func terminalSize(w io.Writer) (columns, rows int) {
	columns, rows = command.Width(w), 24
	if f, ok := command.FileOf(w); ok {
		if _, h, err := term.GetSize(int(f.Fd())); err == nil && h > 0 {
			rows = h
		}
	}
	return columns, rows
}

// liveView keeps a picture at the end of what a terminal shows. Each frame is
// one write over the one before it, line by line, so that nothing flickers;
// and it changes no mode of the terminal, so that there is nothing to restore
// however the program ends.
type liveView struct {
	mu     sync.Mutex
	w      io.Writer
	size   func() (columns, rows int)
	colour bool
	state  report.LoadLive
	shown  []string // lines that are on the screen
	ended  bool

	collections int64 // of the service when it was looked at first
}

func newLiveView(w io.Writer, size func() (columns, rows int), colour bool) *liveView {
	return &liveView{w: w, size: size, colour: colour, collections: -1}
}

// tick takes in how the run goes, and shows it.
func (v *liveView) tick(s load.Snapshot) {
	t := report.LoadTick{
		Warmup: s.Warmup, Elapsed: s.Elapsed, Requests: s.Requests, Errors: s.Errors,
		Queued: s.Queued, InFlight: s.InFlight, Connections: s.Connections,
		Intended: s.Intended, Achieved: s.Achieved, Latency: s.Latency, Lag: s.Lag, Busy: s.Busy,
	}
	for _, f := range s.Failures {
		t.Failures = append(t.Failures, report.LoadFailure{Status: f.Status, Error: f.Error, Count: f.Count})
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.state.Add(t)
	v.draw("")
}

// Note prints a line above the picture.
func (v *liveView) Note(line string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		fmt.Fprint(v.w, line)
		return
	}
	v.draw(line)
}

// service takes in a sample of the service's metrics, as a recording has it.
// The picture shows it with the next tick.
func (v *liveView) service(sample []byte) {
	var got struct {
		Vars struct {
			Memory struct{ NumGC, HeapAlloc, NextGC int64 } `json:"memstats"`
		} `json:"vars"`
	}
	if json.Unmarshal(sample, &got) != nil || got.Vars.Memory.NextGC == 0 {
		return
	}
	m := got.Vars.Memory
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.collections < 0 {
		v.collections = m.NumGC
	}
	v.state.Service = &report.ServiceTick{Collections: m.NumGC - v.collections, Heap: unit.Bytes(m.HeapAlloc), Goal: unit.Bytes(m.NextGC)}
}

// draw writes a frame, with text above it.
func (v *liveView) draw(text string) {
	if v.ended {
		return
	}
	columns, rows := v.size()
	var b bytes.Buffer
	v.back(&b, columns, rows)
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimSuffix(line, "\n") + "\x1b[K\r\n")
	}
	v.shown = nil
	if v.state.Started() {
		v.shown = v.state.Lines(report.Style{Width: columns, Colour: v.colour}, rows-1)
	}
	for _, line := range v.shown {
		b.WriteString(line + "\x1b[K\r\n")
	}
	b.WriteString("\x1b[J")
	v.w.Write(b.Bytes())
}

// back moves to where the last frame began. In a terminal that got narrower
// since, its lines are broken into several.
func (v *liveView) back(b *bytes.Buffer, columns, rows int) {
	up := 0
	for _, line := range v.shown {
		up += max(1, (visible(line)+columns-1)/columns)
	}
	if up = min(up, rows-1); up > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA", up)
	}
}

// visible is how many columns a line takes without its colours.
func visible(line string) (n int) {
	for line != "" {
		before, rest, found := strings.Cut(line, "\x1b[")
		n += utf8.RuneCountInString(before)
		if !found {
			break
		}
		_, line, _ = strings.Cut(rest, "m")
	}
	return n
}

// stop takes the picture away.
func (v *liveView) stop() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return
	}
	v.ended = true
	var b bytes.Buffer
	columns, rows := v.size()
	v.back(&b, columns, rows)
	if b.Len() > 0 {
		b.WriteString("\x1b[J")
		v.w.Write(b.Bytes())
	}
}
