package command

import (
	"testing"

	"loupe/internal/cli/clitest"
)

// TestScreen: what comes in pieces is shown as if it came at once.
func TestScreen(t *testing.T) {
	const in = "\x1b[1mé\u202e€\x1b[0m\x1b[2J\x1b]\xff\ra\r\x1b[Kb\n"
	tty, shown := clitest.OpenTerminal(t)
	s := &textScreen{file: tty, own: ownSequences}
	for i := range len(in) {
		if n, err := s.Write([]byte{in[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := shown(), "\x1b[1mé€\x1b[0m[2J]\uFFFDa\r\x1b[Kb\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
