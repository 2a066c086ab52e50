package lab

import (
	"net"
	"testing"
)

func TestFreeAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	if got := FreeAddress(taken); got == taken {
		t.Errorf("%s is taken, and was taken for free", taken)
	}
	// Not the port that was just closed: others are looking for one too.
	const free = "127.0.0.1:1"
	if got := FreeAddress(free); got != free {
		t.Errorf("%s is free; got %s", free, got)
	}
}
