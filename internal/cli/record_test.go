package cli

import (
	"flag"
	"net"
	"testing"
	"time"
)

// TestBareLoad checks what bounds the load of a bare phase: -n, or -z, or else
// -for.
func TestBareLoad(t *testing.T) {
	f := func(requests int, length time.Duration, args ...string) {
		t.Helper()
		fs := &flagSet{FlagSet: flag.NewFlagSet("run", flag.ContinueOnError), quiet: map[string]bool{}}
		var r recordFlags
		r.declare(fs, true)
		if err := fs.Parse(append(args, "-load", "http://localhost:8080/")); err != nil {
			t.Fatal(err)
		}
		if _, err := r.plan(); err != nil {
			t.Fatal(err)
		}
		c, err := r.loading.config(r.load)
		if err != nil || c.Requests != requests || c.Duration != length {
			t.Errorf("%q gives %d requests, %v, %v; want %d, %v", args, c.Requests, c.Duration, err, requests, length)
		}
	}
	f(0, 10*time.Second)
	f(0, 3*time.Second, "-for", "3s")
	f(0, 2*time.Second, "-phases", "bare:2s,cpu")
	f(7, 0, "-n", "7")
	f(0, time.Second, "-z", "1s", "-for", "3s")
}

func TestFreeAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	if got := freeAddress(taken); got == taken {
		t.Errorf("%s is taken, and was taken for free", taken)
	}
	// Not the port that was just closed: others are looking for one too.
	const free = "127.0.0.1:1"
	if got := freeAddress(free); got != free {
		t.Errorf("%s is free; got %s", free, got)
	}
}
