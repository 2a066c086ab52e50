package exectrace

import "fmt"

// losses are what a reader has lost of a trace, and has made up for it.
type losses struct {
	lossy           bool    // events of the generation are lost: its states are not what follows begins with
	reset           bool    // the states were forgotten since the last sync
	forced, skipped int     // events of the generation: see force.go
	bridges         bridges // scratch

	data     *source
	problems *problems
}

// damaged tells what c has lost, if it has.
func (l *losses) damaged(c *cursor) {
	if c.wrong != "" {
		l.lose(c, fmt.Sprintf("thread %d: %s", c.thread, c.wrong), c.left())
	}
}

// lose tells that events are lost. The following generation begins with new
// states.
func (l *losses) lose(c *cursor, why string, bytes int64) {
	l.lossy = true
	l.problems.tell(c.at+int64(c.off), fmt.Sprintf("%s; %d bytes of events (%.1f%% of the file) are lost", why, bytes, l.data.share(bytes)))
}

// shrunk tells that the file has no more than size bytes of a generation.
func (l *losses) shrunk(g *generation, size int64) {
	l.lossy = true
	l.problems.tell(g.start+size, fmt.Sprintf("the file has become shorter since it was opened; %d bytes of the generation are lost", g.bytes-size))
}

// tellForced says what was guessed in the generation that ends.
func (l *losses) tellForced() {
	if l.forced+l.skipped == 0 {
		return
	}
	l.problems.tell(-1, fmt.Sprintf("%d events come where their times say, because what they depend on is lost; %d that make no sense without it are left out", l.forced, l.skipped))
	l.forced, l.skipped = 0, 0
}

// takeReset says whether the states were forgotten since it was asked last.
func (l *losses) takeReset() bool {
	was := l.reset
	l.reset = false
	return was
}
