package collect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/format/godebug"
	"loupe/recording"
)

// maxProgramText bounds how much of the program's own output is kept; the
// runtime's lines are kept whatever their number.
const maxProgramText = 256 << 20

// stderrLog keeps the standard error of one process: the text itself, which
// any tool can read, and beside it the arrival time of each line. What the
// program itself wrote is passed on to the user.
type stderrLog struct {
	path string
	w    *recording.Writer

	mu      sync.Mutex
	stream  bool
	writers []*writer // who has written, the latest last
	whose   int       // the process whose lines of the runtime are the program's; 0 until it is known
	kids    childLines
	now     time.Time
	text    *recording.EntryWriter
	times   *recording.EntryWriter
	textBuf *bufio.Writer
	timeBuf *bufio.Writer
	partial []byte // a line of the program that has no newline yet
	kept    int64  // bytes of program text
	last    lastLines
	user    io.Writer // may be nil

	goProgram bool
	// holding tells that it is not yet known whose lines are the program's: they wait in held.
	holding bool
	held    []heldLine
	heldFor int // bytes

	done chan struct{}
	quit chan struct{}
	err  error
}

func newStderrLog(w *recording.Writer, run int, user io.Writer, stream, goProgram bool) (*stderrLog, error) {
	l := &stderrLog{path: numbered("stderr.log", run), w: w, user: user, goProgram: goProgram, done: make(chan struct{}), quit: make(chan struct{})}
	l.stream = stream
	var err error
	if l.text, err = w.Append(recording.Entry{Path: l.path, Kind: recording.Stderr, Run: run, Source: "standard error"}); err != nil {
		return nil, err
	}
	if l.times, err = w.Append(recording.Entry{Path: l.path + ".times", Kind: recording.StderrTimes, Run: run}); err != nil {
		return nil, err
	}
	l.textBuf, l.timeBuf = bufio.NewWriterSize(l.text, 64<<10), bufio.NewWriterSize(l.times, 16<<10)
	go l.flushNowAndThen()
	return l, nil
}

// flushInterval bounds what is lost when loupe is killed.
const flushInterval = 250 * time.Millisecond

func (l *stderrLog) flushNowAndThen() {
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.mu.Lock()
			l.textBuf.Flush()
			l.timeBuf.Flush()
			l.mu.Unlock()
		case <-l.quit:
			return
		}
	}
}

// writer is a process that has written to the program's standard error, with the
// lines of its runtime in the making.
type writer struct {
	pid int
	asm godebug.Assembler
}

// maxWriters is how many processes may be in the middle of lines at once.
const maxWriters = 64

// started tells which process was started: where that is a Go program, nobody
// else's lines are its own. A script has none, and what it starts speaks for it.
func (l *stderrLog) started(pid int) {
	l.kids.began = pid
	if l.goProgram {
		l.whose = pid
	}
}

func (l *stderrLog) packet(p []byte, at time.Time, from int) {
	l.mu.Lock()
	l.now = at
	l.writerOf(from).asm.Feed(p)
	l.mu.Unlock()
}

// writerOf returns the writer with a pid.
func (l *stderrLog) writerOf(pid int) *writer {
	if n := len(l.writers); n > 0 && l.writers[n-1].pid == pid {
		return l.writers[n-1]
	}
	at := slices.IndexFunc(l.writers, func(w *writer) bool { return w.pid == pid })
	if at < 0 {
		if at = 0; len(l.writers) < maxWriters {
			l.writers = slices.Insert(l.writers, 0, &writer{})
		}
		l.flush(l.writers[at])
		w := &writer{pid: pid}
		w.asm.Stream, w.asm.Program = l.stream, l.program
		w.asm.Line = func(line []byte) { l.line(pid, line) }
		l.writers[at] = w
	}
	w := l.writers[at]
	l.writers = append(slices.Delete(l.writers, at, at+1), w)
	return w
}

// flush takes what a writer has left of a line: the begin of another process's line
// of the runtime, which ended within it, is no text of the program.
func (l *stderrLog) flush(w *writer) {
	if w.pid != 0 && l.whose != 0 && w.pid != l.whose {
		w.asm.Program = func(p []byte) {
			if line := strings.TrimSuffix(string(p), "\n"); line != "" {
				l.kids.add(l.w, l.path, w.pid, []byte(line+"\n"))
			}
		}
	}
	w.asm.Flush()
}

// heldLine is a line that waits: of the program itself where pid is ofProgram, or of the runtime of
// a process.
type heldLine struct {
	pid  int
	text []byte
	at   time.Time
}

const (
	// ofProgram is the writer of what is no line of a runtime.
	ofProgram = -2
	// nobody is the process of which a recording takes the lines where there is none.
	nobody = -1
	// maxHeld bounds the lines that wait, in bytes.
	maxHeld = 4 << 20
)

// hold keeps a line until it is known whose lines are the program's; it returns false where it is.
func (l *stderrLog) hold(pid int, line []byte) bool {
	if !l.holding {
		return false
	}
	l.held = append(l.held, heldLine{pid, bytes.Clone(line), l.now})
	if l.heldFor += len(line); l.heldFor > maxHeld {
		l.release()
	}
	return true
}

// release takes the lines that have waited.
func (l *stderrLog) release() {
	held, now := l.held, l.now
	l.holding, l.held = false, nil
	for _, h := range held {
		if l.now = h.at; h.pid == ofProgram {
			l.keep(h.text)
		} else {
			l.line(h.pid, h.text)
		}
	}
	l.now = now
}

// decide says which process speaks for the program from now on, and for what has been held:
// the one that was started, where itself is true, of which a script leaves it open.
func (l *stderrLog) decide(pid int, itself bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !itself || l.goProgram {
		l.whose = pid
	}
	l.release()
}

// line takes a whole line of the runtime of a process.
func (l *stderrLog) line(pid int, line []byte) {
	if l.hold(pid, line) {
		return
	}
	if l.whose == 0 {
		l.whose = pid
	}
	if pid == 0 && l.whose != nobody || pid == l.whose {
		l.keep(line)
		return
	}
	l.kids.add(l.w, l.path, pid, line)
}

// childLines keeps what the runtimes of the program's children say.
type childLines struct {
	to    *recording.EntryWriter
	err   error
	lines int
	pids  map[int]bool
	began int // the process that was started, which is one of them where another one is recorded
}

// add keeps a line, with the process in front of it.
func (c *childLines) add(w *recording.Writer, path string, pid int, line []byte) {
	if c.pids == nil {
		c.pids = map[int]bool{}
		c.to, c.err = w.Append(recording.Entry{Path: path + ".children", Kind: recording.StderrChildren, Source: "standard error, of child processes"})
	}
	c.pids[pid] = true
	c.lines++
	if c.err == nil {
		fmt.Fprintf(c.to, "%d %s", pid, line)
	}
}

// end closes the file and says what is in it.
func (c *childLines) end(w *recording.Writer, path string) error {
	if c.pids == nil {
		return nil
	}
	whose := "the runtimes of other processes that have the program's standard error"
	switch {
	case c.pids[c.began] && len(c.pids) == 1:
		whose = "the runtime of the process that was started, which is not the recorded one,"
	case c.pids[c.began]:
		whose = "the runtimes of the process that was started, which is not the recorded one, and of others that have its standard error"
	}
	w.Note(fmt.Sprintf("%s.children has what %s printed (processes: %d, lines: %d); it counts nowhere", path, whose, len(c.pids), c.lines))
	if c.err != nil {
		return c.err
	}
	return c.to.Close()
}

// program takes what the program itself wrote: it goes to the user at once
// and into the log line by line.
func (l *stderrLog) program(p []byte) {
	if l.user != nil {
		l.user.Write(p)
	}
	l.last.add(p)
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		const longest = 1 << 20
		if len(l.partial)+len(line) < longest {
			l.partial = append(l.partial, line...)
		}
		if whole {
			l.endLine()
		}
	}
}

// endLine keeps the program's line as it stands.
func (l *stderrLog) endLine() {
	l.partial = append(l.partial, '\n')
	if l.kept += int64(len(l.partial)); l.kept <= maxProgramText && !l.hold(ofProgram, l.partial) {
		l.keep(l.partial)
	}
	l.partial = l.partial[:0]
}

// keep writes a whole line and its arrival time.
func (l *stderrLog) keep(line []byte) {
	l.textBuf.Write(line) // a failure is remembered by the entry
	var b [24]byte
	l.timeBuf.Write(append(strconv.AppendInt(b[:0], int64(l.w.At(l.now)), 10), '\n'))
}

// end is called after the last packet.
func (l *stderrLog) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.quit)
	l.release()
	for _, w := range l.writers {
		l.flush(w)
	}
	if len(l.partial) > 0 && l.kept+int64(len(l.partial)) <= maxProgramText {
		// Without a newline, as it came: the runtime may have been cut short.
		l.keep(l.partial)
	}
	l.textBuf.Flush()
	l.timeBuf.Flush()
	if l.kept > maxProgramText {
		l.w.Note(fmt.Sprintf("%s: only the first %d MiB of the program's own output are kept", l.path, maxProgramText>>20))
	}
	l.err = errors.Join(l.text.Close(), l.times.Close(), l.kids.end(l.w, l.path))
	close(l.done)
}

// wait returns when everything has arrived and is written.
func (l *stderrLog) wait() error {
	select {
	case <-l.done:
	case <-time.After(5 * time.Second):
		return fmt.Errorf("%s: the end did not arrive", l.path)
	}
	return l.err
}

// tail returns the last lines that the program wrote.
func (l *stderrLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last.String()
}

// lastLines remembers the end of a text.
type lastLines struct{ b []byte }

const lastBytes = 2048

func (t *lastLines) add(p []byte) {
	t.b = append(t.b, p...)
	if over := len(t.b) - lastBytes; over > lastBytes {
		t.b = append(t.b[:0], t.b[over:]...)
	}
}

// String returns at most ten whole lines.
func (t *lastLines) String() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
