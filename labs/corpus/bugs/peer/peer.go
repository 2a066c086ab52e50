// Package peer starts the services that a program asks: itself once more, with the
// flag -peer, as a process of its own.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// Start runs this program with -peer NAME and returns the address that it listens at.
// The process ends with the one that started it.
func Start(name string) (addr string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "-peer", name)
	if _, err := cmd.StdinPipe(); err != nil { // it ends when this is closed
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go cmd.Wait()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("peer %s did not start: %w", name, err)
	}
	return strings.TrimSpace(line), nil
}

// Listen is for the process that was started: it listens, and tells where.
func Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(l.Addr())
	return l, nil
}

// Serve answers HTTP requests in that process.
func Serve(h http.Handler) error {
	l, err := Listen()
	if err != nil {
		return err
	}
	return http.Serve(l, h)
}
