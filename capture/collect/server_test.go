//go:build unix

package collect_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"loupe/capture/collect"
)

// serve is what the test binary does as the server of TestServer.
func serve(addr string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	for {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
	}
}

// TestServer starts a server, meets it, and stops it with its children.
func TestServer(t *testing.T) {
	if addr := os.Getenv("LOUPE_TEST_SERVE"); addr != "" {
		serve(addr)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	command := fmt.Sprintf("LOUPE_TEST_SERVE=%s %s -test.run=TestServer$ & wait", addr, os.Args[0])
	if _, err := collect.StartServer(t.Context(), command, collect.TCP(addr), time.Minute); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("beside another server: %v", err)
	}
	l.Close()
	s, err := collect.StartServer(t.Context(), command, collect.TCP(addr), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil || s.Ended() != nil {
		t.Errorf("%v, %v", err, s.Ended())
	} else {
		c.Close()
	}
	s.Stop()
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the child still listens")
	}
	if s.Ended() == nil {
		t.Error("the server has not ended")
	}
	if _, err := collect.StartServer(t.Context(), "echo no config; exit 3", collect.TCP(addr), time.Minute); err == nil || !strings.Contains(err.Error(), "exit status 3; it said: no config") {
		t.Errorf("a server that ends: %v", err)
	}
	if _, err := collect.StartServer(t.Context(), "sleep 60", collect.TCP(addr), time.Millisecond); !errors.Is(err, collect.ErrUnreachable) {
		t.Errorf("a server that does not listen: %v", err)
	}
}
