package command

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// pulse keeps a line at the end of what a terminal shows that says every second
// what goes on and for how long: who waits sees that there is something to wait
// for.
type pulse struct {
	w     io.Writer
	width func() int
	begun time.Time
	quit  chan struct{}
	done  chan struct{}

	mu    sync.Mutex
	doing string
	since time.Time
	about time.Duration // of the whole, as far as it is known
}

// pulseEvery is how often the line changes.
const pulseEvery = time.Second / 2

// startPulse shows the line on w until stop is called.
func startPulse(w io.Writer, width func() int) *pulse {
	p := &pulse{w: w, width: width, begun: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	p.since = p.begun
	go p.beat()
	return p
}

func (p *pulse) beat() {
	defer close(p.done)
	tick := time.NewTicker(pulseEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.quit:
			return
		case <-tick.C:
			p.mu.Lock()
			p.draw("")
			p.mu.Unlock()
		}
	}
}

// draw writes a text above the line, and the line; p.mu is held.
func (p *pulse) draw(text string) {
	if p.doing == "" {
		fmt.Fprintf(p.w, "\r\x1b[K%s", text)
		return
	}
	now := time.Now()
	line := fmt.Sprintf("%d s", int(now.Sub(p.begun).Seconds()))
	if p.about > 0 {
		line += fmt.Sprintf(" of about %d s", int(p.about.Seconds()))
	}
	line += "  " + p.doing
	if n := int(now.Sub(p.since).Seconds()); n > 1 {
		line += fmt.Sprintf(", for %d s", n)
	}
	if r := []rune(line); len(r) >= p.width() {
		line = string(r[:p.width()-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s%s", text, line)
}

// do says what goes on from now on.
func (p *pulse) do(doing string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.since = doing, time.Now()
	p.draw("")
}

// expect says how long the whole will take, as far as one knows.
func (p *pulse) expect(about time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.about = about
}

// Note prints a line above.
func (p *pulse) Note(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.draw(line)
}

// stop takes the line away.
func (p *pulse) stop() {
	close(p.quit)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = ""
	p.draw("")
}
