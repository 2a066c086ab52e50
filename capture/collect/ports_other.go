//go:build !linux

package collect

import "os"

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

func listenerPID(string) int { return 0 }

// reachesOnly cannot tell here who listens.
func reachesOnly(string, string, int, string) error { return nil }
