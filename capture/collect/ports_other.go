//go:build !linux

package collect

import (
	"os"
	"strings"
	"time"
)

// ProcessExists is true for any number here: other systems do not tell
// without sending a signal, and a small number is more often a port.
func ProcessExists(pid int) bool {
	_, err := os.FindProcess(pid)
	return err == nil && pid > 65535
}

// listeningPorts needs /proc, which only Linux has.
func listeningPorts(int) []string { return nil }

// listensAnywhere is not known.
func listensAnywhere(int, string) (listens, known bool) { return false, false }

// callersOf cannot tell here who is connected.
func callersOf(int, string) callers { return callers{} }

func listenerPID(Endpoint) int { return 0 }

// lookout cannot tell here who listens.
type lookout struct{ at []Endpoint }

func newLookout(at []Endpoint, _ string, _ int, _ string) *lookout { return &lookout{at} }

// String is the addresses.
func (l *lookout) String() string {
	var all []string
	for _, e := range l.at {
		all = append(all, e.Address)
	}
	return strings.Join(all, " and ")
}

func (l *lookout) sockets() string       { return "" }
func (l *lookout) who() (serving, error) { return serving{}, nil }

// marked is not known: other systems do not show the environment of a process.
func marked(string) []int { return nil }

func commandOf(int) string { return "" }

func startOf(int) time.Time { return time.Now() }
