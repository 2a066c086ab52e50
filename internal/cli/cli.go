// Package cli is loupe's command line: one file per subcommand, which parses
// flags, opens files, calls the libraries and picks the exit code. Nothing is
// computed here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"

	"loupe/secret"
)

// Exit codes, see docs/cli.md.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitFound       = 3 // a threshold or finding was hit, or a regression found
	exitNothing     = 4 // nothing to show, or the target cannot be reached
	exitInterrupted = 130
)

// env is the world as a command sees it.
type env struct {
	stdin          *os.File
	stdout, stderr io.Writer
	// ctx ends at the first Ctrl-C.
	ctx context.Context
	// leaving is set at the second Ctrl-C; onAbort is run before the program
	// is left.
	leaving atomic.Bool
	// keeping counts what must come to its end after the first Ctrl-C: a
	// recording is completed and shown.
	keeping atomic.Int32
	mu      sync.Mutex
	onAbort []func()
	files   []readFile // that are read piece by piece
	// quiet keeps progress off, noLive the picture of a load run; view is the
	// one that is on the terminal.
	quiet, noLive bool
	view          atomic.Pointer[liveView]
	// pulse is the line that is there while a user waits.
	pulse atomic.Pointer[pulse]
}

// holdWhenLeaving does not return once the program is being left: what was
// aborted is not to be concluded in the moment before the exit.
func (e *env) holdWhenLeaving() {
	if e.leaving.Load() {
		select {}
	}
}

// keeps lets a command come to its end after an interrupt, until the function that
// it returns is called: what was recorded is completed and shown.
func (e *env) keeps() (done func()) {
	e.keeping.Add(1)
	return func() { e.keeping.Add(-1) }
}

// lateness returns when a command that was interrupted is ended.
func (e *env) lateness() <-chan time.Time {
	if e.keeping.Load() > 0 {
		return time.After(keepingTime)
	}
	return time.After(windUp)
}

// atAbort registers what to do when the user presses Ctrl-C twice.
func (e *env) atAbort(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onAbort = append(e.onAbort, f)
}

// commands returns every subcommand in the order of the overview.
func commands() []*command {
	return []*command{
		demoCommand, runCommand, attachCommand, watchCommand, loadCommand,
		newOpenCommand(), reportCommand, compareCommand, gcCommand, schedCommand, stacksCommand, newCoreCommand(), pprofCommand, newTraceCommand(),
		verifyCommand, rulesCommand, labsCommand, doctorCommand, newCompletionCommand(), versionCommand,
	}
}

// Main runs loupe with the given arguments, without the program's name, and
// returns the exit code.
func Main(args []string, stdin, stdout, stderr *os.File) int {
	e := &env{stdin: stdin, stdout: shownOn(stdout), stderr: shownOn(stderr)}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e.ctx = ctx
	stop := e.watchSignals(cancel)
	defer stop()
	if len(args) == 0 {
		overview(stderr)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return help(e, rest)
	case "-version", "--version":
		name = "version"
	}
	c := find(name)
	if c == nil {
		fmt.Fprintf(stderr, "loupe: unknown command %q%s\n", name, suggestion(name))
		return exitUsage
	}
	if c.reads {
		defer e.boundMemory(rest)()
	}
	return c.main(e, rest)
}

// watchSignals cancels at the first interrupt and leaves at the second, or when the
// command has not ended soon after the first one.
func (e *env) watchSignals(cancel func()) (stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
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
			e.leave(exitInterrupted, "")
		}
	}()
	return func() {
		signal.Stop(signals)
		close(quit)
	}
}

func find(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return c
		}
	}
	return nil
}

func overview(w io.Writer) {
	fmt.Fprint(w, `loupe records what a Go program does, puts load on it, says with evidence
what is wrong, and proves that a fix helped.

	loupe demo                                   see the whole loop in two minutes
	loupe run -load http://localhost:8080/ ./cmd/server
	loupe attach :6060                           record a running service
	loupe report DIR                             what a recording shows
	loupe compare A B                            what a change did

Commands:
`)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-11s %s\n", c.name, c.short)
	}
	fmt.Fprint(w, "\nloupe help COMMAND tells more. Exit codes: 0 fine, 1 failed, 2 wrong usage,\n"+
		"3 a finding or a regression, 4 nothing to show, 130 interrupted.\n")
}

func help(e *env, args []string) int {
	if len(args) == 0 {
		overview(e.stdout)
		return exitOK
	}
	c := find(args[0])
	if c == nil {
		fmt.Fprintf(e.stderr, "loupe: unknown command %q%s\n", args[0], suggestion(args[0]))
		return exitUsage
	}
	c.help(e.stdout)
	return exitOK
}

// suggestion returns ", did you mean …?" for a name close to a command.
func suggestion(name string) string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf(", did you mean %q?", near)
	}
	return " (loupe help lists them)"
}

// nearest returns the one of the names that a mistyped one is close to, or "": a
// slip of the finger, or two in a long name.
func nearest(name string, names []string) string {
	best, most := "", 1
	switch {
	case len(name) < 2:
		return ""
	case len(name) > 4:
		most = 2
	}
	for _, n := range names {
		if d := distance(name, n); d <= most {
			best, most = n, d-1
		}
	}
	return best
}

// distance is the edit distance of two short words, where two neighbours that
// changed places are one edit (Damerau 1964, as optimal string alignment).
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// usageError is an error that the way of calling caused.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }

func (u usageError) Unwrap() error { return u.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError carries an exit code through an error return; its error may be
// nil when everything was said already.
type exitError struct {
	code int
	err  error
}

func (x exitError) Error() string {
	if x.err == nil {
		return ""
	}
	return x.err.Error()
}

func (x exitError) Unwrap() error { return x.err }

// main parses the arguments, runs the command and turns its error into a
// message and an exit code.
func (c *command) main(e *env, args []string) int {
	fs := c.flagSet()
	var p selfProfile
	p.flags(fs)
	positional, err := c.parse(fs, args)
	if errors.Is(err, errHelp) {
		c.help(e.stdout)
		return exitOK
	}
	if err == nil {
		err = fs.useless()
	}
	if err == nil {
		err = p.start()
	}
	if err == nil {
		err = errors.Join(survive(func() error { return c.run(e, fs, positional) }), e.shrunk())
		if perr := p.stop(); err == nil {
			err = perr
		}
	}
	return c.conclude(e, err)
}

func (c *command) conclude(e *env, err error) int {
	if err == nil {
		if e.ctx.Err() != nil {
			return exitInterrupted
		}
		return exitOK
	}
	if u, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(e.stderr, "loupe %s: %v\nusage: %s\n(loupe help %s tells more)\n", c.name, printable(secret.Text(u.Error())), c.usageLine(), c.name)
		return exitUsage
	}
	code := exitFailed
	if x, ok := errors.AsType[exitError](err); ok {
		code = x.code
	}
	if e.ctx.Err() != nil && (code == exitFailed || code == exitNothing) { // what does not answer, because nobody waits
		code = exitInterrupted
	}
	if text := secret.Text(message(err)); text != "" {
		fmt.Fprintf(e.stderr, "loupe %s: %s\n", c.name, text)
	}
	return code
}

// message is the text of err: every error that was joined into it once,
// without what a Ctrl-C leaves behind.
func message(err error) string {
	var kept []string
	for _, text := range texts(err) {
		if text != "" && !strings.HasSuffix(text, context.Canceled.Error()) && !slices.Contains(kept, text) {
			kept = append(kept, printable(text))
		}
	}
	if full, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(full, syscall.ENOSPC) && full.Path != os.Stdout.Name() {
		kept = append(kept, "the disk is full; what was recorded before is kept (make room, or choose another place with -o)")
	}
	return strings.Join(kept, "\n")
}

// printable takes out of a message what a terminal would obey: names of files and
// answers of servers are whatever somebody put there.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// texts are the messages of joined errors.
func texts(err error) []string {
	var out []string
	for _, part := range apart(err) {
		text := strings.TrimSpace(part.Error())
		if x, ok := part.(*fs.PathError); ok {
			text = fmt.Sprintf("cannot %s %s: %v", x.Op, x.Path, x.Err)
		}
		out = append(out, text)
	}
	return out
}

// apart takes joined errors apart, and leaves those whole that wrap several.
func apart(err error) []error {
	if x, ok := err.(exitError); ok && x.err != nil {
		return apart(x.err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	var lines []string
	for _, part := range joined.Unwrap() {
		out = append(out, apart(part)...)
		lines = append(lines, part.Error())
	}
	if strings.Join(lines, "\n") != err.Error() {
		return []error{err}
	}
	return out
}

// createFile makes a file, or empties the one that is there. What loupe writes tells
// what a program does and has in memory: a new file is for its owner alone.
func createFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// selfProfile profiles loupe itself, on any command.
type selfProfile struct {
	cpu, mem, trace string
	files           []*os.File
}

func (p *selfProfile) flags(fs *flagSet) {
	fs.hidden(func() {
		fs.StringVar(&p.cpu, "cpuprofile", "", "write a CPU profile of loupe itself to `file`")
		fs.StringVar(&p.mem, "memprofile", "", "write an allocation profile of loupe itself to `file`")
		fs.StringVar(&p.trace, "selftrace", "", "write an execution trace of loupe itself to `file`")
	})
}

func (p *selfProfile) create(name string) (*os.File, error) {
	f, err := createFile(name)
	if err == nil {
		p.files = append(p.files, f)
	}
	return f, err
}

func (p *selfProfile) start() error {
	if p.cpu != "" {
		f, err := p.create(p.cpu)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
	}
	if p.trace != "" {
		f, err := p.create(p.trace)
		if err != nil {
			return err
		}
		return trace.Start(f)
	}
	return nil
}

func (p *selfProfile) stop() error {
	var err error
	if p.cpu != "" {
		pprof.StopCPUProfile()
	}
	if p.trace != "" {
		trace.Stop()
	}
	if p.mem != "" {
		var f *os.File
		if f, err = p.create(p.mem); err == nil {
			err = pprof.Lookup("allocs").WriteTo(f, 0)
		}
	}
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
