package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/value/stack"
)

// unflushedClient is a client whose requests lie in a buffer; what flushes it is put in.
const unflushedClient = `package main

import (
	"bufio"
	"fmt"
	"net"
	"time"
)

type client struct {
	conn  net.Conn
	bw    *bufio.Writer
	tick  *time.Ticker
	queue chan []byte
	done  chan struct{}
	quit  chan struct{}
}

const pause = 40 * time.Millisecond

func newClient(conn net.Conn) *client {
	c := &client{conn: conn, bw: bufio.NewWriter(conn), tick: time.NewTicker(pause)}
	c.bw.WriteString("hello")
	c.bw.Flush()
	return c
}

func (c *client) read() {
	r := bufio.NewReader(c.conn)
	for {
		if _, err := r.ReadString(10); err != nil { // here
			return
		}
		c.done <- struct{}{}
	}
}

func (c *client) flush() { c.bw.Flush() }

func (c *client) Close() {
	c.flush()
	c.conn.Close()
}

func (c *client) write(b []byte) {
	c.bw.Write(b)
	$write
}

func (c *client) loop() {
	$before
	for {
		select {
		case b := <-c.queue:
			c.write(b)
			$queued
		case <-$ticker:
			$ticked
		case <-c.quit:
			c.bw.Flush()
			return
		}
	}
}
`

// TestTickedBuffer: a buffer that only a ticker flushes while it is in use; not one that is flushed behind a write as well.
func TestTickedBuffer(t *testing.T) {
	for _, c := range []struct {
		name                                  string
		write, before, queued, ticker, ticked string
		found                                 bool
		every                                 time.Duration
	}{
		{"a field's ticker", "", "", "", "c.tick.C", "c.bw.Flush()", true, 40 * time.Millisecond},
		{"by a method", "", "", "", "c.tick.C", "c.flush()", true, 40 * time.Millisecond},
		{"a ticker of the function", "", "t := time.NewTicker(5 * time.Millisecond)\n\tdefer t.Stop()", "", "t.C", "c.flush()", true, 5 * time.Millisecond},
		{"when it is full as well", "if c.bw.Buffered() > 4000 {\n\t\tc.flush()\n\t}", "", "", "c.tick.C", "c.flush()", true, 40 * time.Millisecond},
		{"of a length that is not known", "", "t := time.NewTicker(wait())", "", "t.C", "c.flush()", true, 0},
		{"behind each write", "c.flush()", "", "", "c.tick.C", "c.flush()", false, 0},
		{"where the queue is empty", "", "", "if len(c.queue) == 0 {\n\t\t\t\tc.flush()\n\t\t\t}", "c.tick.C", "c.flush()", false, 0},
		{"by who has it", "flushAll(c.bw)", "", "", "c.tick.C", "c.flush()", false, 0},
		{"by another name", "w := c.bw\n\tw.Flush()", "", "", "c.tick.C", "c.flush()", false, 0},
		{"written to by the library", "fmt.Fprintln(c.bw)", "", "", "c.tick.C", "c.flush()", true, 40 * time.Millisecond},
		{"a signal, no ticker", "", "", "", "c.done", "c.flush()", false, 0},
		{"the ticker does something else", "", "", "c.flush()", "c.tick.C", "println()", false, 0},
	} {
		text := strings.NewReplacer("$write", c.write, "$before", c.before, "$queued", c.queued, "$ticker", c.ticker, "$ticked", c.ticked).Replace(unflushedClient)
		b, ok := tickedBufferOf(sourceOf(text), []stack.Frame{lineWith(text, "// here")})
		if ok != c.found || b.every != c.every {
			t.Errorf("%s: %v, %v %+v", c.name, ok, b.every, b)
		}
	}
}

// TestUnflushed: where the answers come about as late as the ticker fires, the wait is for that, and no peer's; where they come much sooner, or later, it is not.
func TestUnflushed(t *testing.T) {
	text := strings.NewReplacer("$write", "", "$before", "", "$queued", "", "$ticker", "c.tick.C", "$ticked", "c.flush()").Replace(unflushedClient)
	for took, told := range map[time.Duration]bool{25 * time.Millisecond: true, 4 * time.Millisecond: false, 300 * time.Millisecond: false} {
		first := true
		const reads = "internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;bufio.(*Reader).ReadString@bufio.go:1;main.(*client).read@a.go:32"
		r := served(t, 20, func(p *accounttest.Program) {
			if first {
				first = false
				p.Create(19, "main.(*client).read", accounttest.In("main.handle@b.go:4"))
				p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.ask@b.go:9", "main.handle@b.go:5"))
				p.Start(19)
			} else {
				p.Block("chan receive", accounttest.In("runtime.chanrecv1@chan.go:1", "main.ask@b.go:9", "main.handle@b.go:5"))
				p.Wake(19, "")
				p.Start(19)
			}
			p.Block("network", reads)
			p.Pass(took)
			p.Wake(19, "")
			p.Start(19)
			p.Wake(5, "runtime.chansend1@chan.go:1;main.(*client).read@a.go:35")
			p.Block("network", reads)
			p.Start(5)
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
		f := answers(t, r, "WT01")[0]
		if says := strings.Contains(f.Summary, "what asks for it is only flushed each 40.0 ms, at a.go:"); says != told || told != (f.Advice == unflushedAdvice) {
			t.Errorf("after %v: %s: %s → %s", took, f.Severity, f.Summary, f.Advice)
		} else if told && f.Severity != Warning {
			t.Errorf("after %v: %s: %q", took, f.Severity, f.Doubts)
		}
	}
}
