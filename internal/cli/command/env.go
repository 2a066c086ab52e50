package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"loupe/capture/collect"
	"loupe/source"
)

// Env is the world as a command sees it.
type Env struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	// Ctx ends at the first Ctrl-C.
	Ctx context.Context
	// leaving is set at the second Ctrl-C; onAbort is run before the program
	// is left.
	leaving atomic.Bool
	// keeping counts what must come to its end after the first Ctrl-C: a
	// recording is completed and shown.
	keeping atomic.Int32
	mu      sync.Mutex
	onAbort []func()
	files   []readFile // that are read piece by piece
	// Call runs another command, whose words these are, and returns its exit code.
	Call func(args []string) int
	// Inside runs a command whose output goes to writers, for one that goes on.
	Inside func(ctx context.Context, stdout, stderr io.Writer, args []string) int
	Doors  doors
	// quiet keeps progress off, noLive the picture of a load run; above prints lines
	// above what is on the terminal.
	Quiet, NoLive bool
	above         atomic.Pointer[Noter]
	// pulse is the line that is there while a user waits.
	pulse atomic.Pointer[pulse]
}

// NewEnv is the world of a program that was started with these files, until it is
// stopped or the user interrupts.
func NewEnv(stdin, stdout, stderr *os.File) (e *Env, stop func()) {
	e = &Env{Stdin: stdin, Stdout: shownOn(stdout), Stderr: shownOn(stderr)}
	ctx, cancel := context.WithCancel(context.Background())
	e.Ctx = ctx
	quit := watchSignals(e, cancel)
	return e, func() {
		quit()
		cancel()
	}
}

// Unprinted is the error of what could not be written to standard output.
func (e *Env) Unprinted() error {
	if k, ok := e.Stdout.(*keeper); ok {
		return k.err
	}
	return nil
}

// Noter prints a line above a picture that it keeps at the end of what a terminal shows.
type Noter interface{ Note(line string) }

// Shows lets the lines of progress stand above a picture, until done is called.
func (e *Env) Shows(picture Noter) (done func()) {
	e.above.Store(&picture)
	return func() { e.above.Store(nil) }
}

// HoldWhenLeaving does not return once the program is being left: what was
// aborted is not to be concluded in the moment before the exit.
func (e *Env) HoldWhenLeaving() {
	if e.leaving.Load() {
		select {}
	}
}

// Keeps lets a command come to its end after an interrupt, until the function that
// it returns is called: what was recorded is completed and shown.
func (e *Env) Keeps() (done func()) {
	e.keeping.Add(1)
	return func() { e.keeping.Add(-1) }
}

// lateness returns when a command that was interrupted is ended.
func (e *Env) lateness() <-chan time.Time {
	if e.keeping.Load() > 0 {
		return time.After(keepingTime)
	}
	return time.After(windUp)
}

// AtAbort registers what to do when the user presses Ctrl-C twice.
func (e *Env) AtAbort(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onAbort = append(e.onAbort, f)
}

// watchSignals cancels at the first interrupt, SIGTERM or SIGHUP and leaves at the second, or when the
// command has not ended soon after the first one.
func watchSignals(e *Env, cancel func()) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP) // the terminal is gone, and what was recorded is to be kept
	}
	quit := make(chan struct{})
	go func() {
		var late <-chan time.Time
		for n := 0; ; n++ {
			select {
			case <-quit:
				return
			case <-late:
			case <-signals:
			}
			if n == 0 {
				cancel()
				late = e.lateness()
				continue
			}
			e.leave(ExitInterrupted, "")
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
	}
}

// WithTemp calls f with a private directory that is removed afterwards, also
// when the user aborts.
func (e *Env) WithTemp(f func(temp string) error) error {
	temp, err := collect.NewTemp()
	if err != nil {
		return err
	}
	e.AtAbort(temp.Remove)
	defer temp.Remove()
	return f(temp.Dir)
}

// doors are the doors that a command has opened, and those of the commands that have
// called it.
type doors struct {
	mu  sync.Mutex
	all []*source.Door
}

func (d *doors) Add(one *source.Door) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// open counts them.
func (d *doors) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.all)
}

// close removes the copies of what was taken in through the doors beyond the first
// ones, which are those of a command that has called this one.
func (d *doors) close(first int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.all[first:] {
		one.Close() // what stays lies in the folder for temporary files
	}
	d.all = d.all[:first]
}

// Rename puts the names that the user knows into a text about copies.
func (d *doors) Rename(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.all {
		text = one.Rename(text)
	}
	return text
}

// Version is the module's version as the build recorded it: a tag, a
// revision, or "devel".
func Version() string {
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := bi.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	rev, dirty := "", ""
	for _, s := range bi.Settings {
		switch {
		case s.Key == "vcs.revision":
			rev = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev[:min(12, len(rev))] + dirty
}
