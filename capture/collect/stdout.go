package collect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"loupe/recording"
)

// maxStdout bounds how much of the standard output of one process is kept.
const maxStdout = 64 << 20

// stdoutLog keeps the standard output of one process. A program that writes
// nothing leaves no entry.
type stdoutLog struct {
	w     *recording.Writer
	run   int
	show  io.Writer // may be nil
	ours  *os.File
	child *os.File
	entry *recording.EntryWriter
	cut   bool
	done  chan struct{}
	err   error
}

// newStdoutLog makes the pipe; the process gets its child end.
func newStdoutLog(w *recording.Writer, run int, show io.Writer) (*stdoutLog, error) {
	ours, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stdoutLog{w: w, run: run, show: show, ours: ours, child: child, done: make(chan struct{})}, nil
}

// close gives up before anything was started.
func (l *stdoutLog) close() {
	l.child.Close()
	l.ours.Close()
}

// begin reads what the process writes, now that it has its end of the pipe,
// until nobody holds that any more or ended is closed.
func (l *stdoutLog) begin(ended <-chan struct{}) {
	l.child.Close()
	go func() {
		select {
		case <-ended:
			// Who else holds the pipe is not waited for.
			l.ours.SetReadDeadline(time.Now().Add(drainTime))
		case <-l.done:
		}
	}()
	go func() {
		defer close(l.done)
		defer l.ours.Close()
		buf := make([]byte, 256<<10)
		for {
			n, err := l.ours.Read(buf)
			l.take(buf[:n])
			if err != nil {
				break
			}
		}
		l.take(leftIn(l.ours))
		l.end()
	}()
}

// take keeps and shows p.
func (l *stdoutLog) take(p []byte) {
	if len(p) == 0 {
		return
	}
	if l.show != nil {
		l.show.Write(p)
	}
	if l.err != nil || l.cut {
		return
	}
	if l.entry == nil {
		l.entry, l.err = l.w.Append(recording.Entry{
			Path: numbered("stdout.log", l.run), Kind: recording.Stdout, Run: l.run, Source: "standard output",
		})
		if l.err != nil {
			return
		}
	}
	if room := maxStdout - l.entry.Bytes(); int64(len(p)) > room {
		p, l.cut = p[:room], true
	}
	l.entry.Write(p) // a failure is remembered by the entry
}

// end closes the entry.
func (l *stdoutLog) end() {
	if l.entry == nil {
		return
	}
	if l.cut {
		l.err = l.w.Note(fmt.Sprintf("%s: only the first %d MiB are kept", numbered("stdout.log", l.run), maxStdout>>20))
	}
	l.err = errors.Join(l.err, l.entry.Close())
}

// wait returns when everything that came is written.
func (l *stdoutLog) wait() error {
	<-l.done
	return l.err
}
