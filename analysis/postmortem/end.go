package postmortem

import (
	"bytes"
	"fmt"
	"io"

	"loupe/format/core"
	"loupe/format/dump"
	"loupe/format/program"
)

// Crash tells how the runtime was ending the program; ok is false where it was not,
// or where it cannot be read.
func (c *Core) Crash() (crash program.Crash, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	st, err := c.stop()
	if err != nil {
		return crash, false
	}
	return st.Crash()
}

// Check tells why goroutines cannot be read, without reading their stacks; nil where
// they can.
func (c *Core) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.stop()
	return err
}

// Goroutines are those of the core, the one that has ended the program first. All of
// their text is kept, for the arguments of each.
func (c *Core) Goroutines() (*dump.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	write, err := c.printer()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return nil, err
	}
	return c.some(dump.Parse(text.Bytes()))
}

// some refuses a core without goroutines.
func (c *Core) some(f *dump.File) (*dump.File, error) {
	if f.Len() == 0 {
		return nil, fmt.Errorf("cannot read the goroutines of %s: there are none where the program keeps them%s", c.Name, c.doubt())
	}
	return f, nil
}

// Stacks are the same, with the arguments of one goroutine of each stack and state
// alone: a hundred thousand goroutines need not be in memory at once.
func (c *Core) Stacks() (*dump.File, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	write, err := c.printer()
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.CloseWithError(write(w))
	}()
	f, err := dump.Read(r)
	r.Close() // should there be more
	<-done
	if err != nil {
		return nil, err
	}
	return c.some(f)
}

// printer returns what writes the goroutines as a dump. The caller holds c.mu.
func (c *Core) printer() (write func(io.Writer) error, err error) {
	st, err := c.stop()
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		var first []uint64
		if crash, ok := st.Crash(); ok {
			if crash.Message != "" {
				if _, err := io.WriteString(w, crash.Message+"\n"); err != nil {
					return err
				}
			}
			first = append(first, crash.Goroutine)
		}
		return st.WriteText(w, first...)
	}, nil
}

// Thread is one thread of the process.
type Thread struct {
	ID        int64  // as the kernel numbers it
	Machine   int64  // as the runtime does; -1 is not known
	Goroutine uint64 // that it ran; 0 is none
	Signal    int    // that it was about to take
	Dying     bool   // it was ending the program
	Registers []core.Register
	Frames    []Frame // leaf first
}

// Frame is a call on the stack of a thread.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	PC       uint64 `json:"pc"`
	SP       uint64 `json:"sp"`
}

// Threads are the first n threads, or all for 0. They are there without the runtime
// as well, with their registers.
func (c *Core) Threads(n int) []Thread {
	list := c.File.Threads
	if n > 0 {
		list = list[:min(n, len(list))]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Thread, 0, len(list))
	for i := range list {
		out = append(out, c.thread(&list[i]))
	}
	return out
}

// Ended is the thread that has ended the program, as the runtime knows, or, without
// the runtime, the one that took the signal.
func (c *Core) Ended() (t Thread, ok bool) {
	crash, crashed := c.Crash()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.File.Threads {
		if x := &c.File.Threads[i]; crashed && x.ID == crash.Thread || !crashed && c.program == nil && x.Signal != 0 {
			return c.thread(x), true
		}
	}
	return t, false
}

// thread is a thread with what the runtime knows of it. The caller holds c.mu.
func (c *Core) thread(t *core.Thread) Thread {
	out := Thread{ID: t.ID, Signal: t.Signal, Machine: -1, Registers: t.Registers}
	st, err := c.stop()
	if err != nil {
		return out
	}
	if m, ok := st.On(t.ID); ok {
		out.Machine, out.Goroutine, out.Dying = m.ID, m.Goroutine, m.Dying
	}
	for _, fr := range st.ThreadStack(at(t)) {
		out.Frames = append(out.Frames, Frame{Function: fr.Func, File: fr.File, Line: fr.Line, PC: fr.PC, SP: fr.SP})
	}
	return out
}
