package collect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/godebug"
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
	asm     godebug.Assembler
	now     time.Time
	text    *recording.EntryWriter
	times   *recording.EntryWriter
	textBuf *bufio.Writer
	timeBuf *bufio.Writer
	partial []byte // a line of the program that has no newline yet
	kept    int64  // bytes of program text
	last    lastLines
	user    io.Writer // may be nil

	done chan struct{}
	quit chan struct{}
	err  error
}

func newStderrLog(w *recording.Writer, run int, user io.Writer, stream bool) (*stderrLog, error) {
	l := &stderrLog{path: numbered("stderr.log", run), w: w, user: user, done: make(chan struct{}), quit: make(chan struct{})}
	l.asm.Stream = stream
	var err error
	if l.text, err = w.Append(recording.Entry{Path: l.path, Kind: recording.Stderr, Run: run, Source: "standard error"}); err != nil {
		return nil, err
	}
	if l.times, err = w.Append(recording.Entry{Path: l.path + ".times", Kind: recording.StderrTimes, Run: run}); err != nil {
		return nil, err
	}
	l.textBuf, l.timeBuf = bufio.NewWriterSize(l.text, 64<<10), bufio.NewWriterSize(l.times, 16<<10)
	l.asm.Program = l.program
	l.asm.Line = func(line []byte) { l.keep(line) }
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

func (l *stderrLog) packet(p []byte, at time.Time) {
	l.mu.Lock()
	l.now = at
	l.asm.Feed(p)
	l.mu.Unlock()
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
	if l.kept += int64(len(l.partial)); l.kept <= maxProgramText {
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
	l.asm.Flush()
	if len(l.partial) > 0 && l.kept+int64(len(l.partial)) <= maxProgramText {
		// Without a newline, as it came: the runtime may have been cut short.
		l.keep(l.partial)
	}
	l.textBuf.Flush()
	l.timeBuf.Flush()
	if l.kept > maxProgramText {
		l.w.Note(fmt.Sprintf("%s: only the first %d MiB of the program's own output are kept", l.path, maxProgramText>>20))
	}
	l.err = errors.Join(l.text.Close(), l.times.Close())
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
