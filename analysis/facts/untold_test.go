package facts

import (
	"testing"

	"loupe/recording"
)

// TestUntold: why there are no collections is not said of what the recording refutes.
func TestUntold(t *testing.T) {
	const begin = "the runtime printed nothing about its collections: "
	f := func(what, want string, target recording.Target) {
		t.Helper()
		if got := untold(&recording.Manifest{Target: target}); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	on, off := []string{"GODEBUG=gctrace=1,schedtrace=1000"}, []string{"GODEBUG=gctrace=0"}
	f("asked for", begin+"it may have closed its standard error, or have replaced itself by another program", recording.Target{Go: "go1.26", Env: on})
	f("off", begin+"gctrace=1 is not in its GODEBUG", recording.Target{Go: "go1.26", Env: off})
	f("whatever", begin+"it may not be a Go program, or it may have closed its standard error, or have replaced itself by another program", recording.Target{Env: on})
	f("another process", "there is no data on individual collections: the process that answers is not the one that was started, and its runtime printed none (has it GODEBUG=gctrace=1, and the same standard error?)",
		recording.Target{Go: "go1.26", Env: on, Runs: []recording.Run{{PID: 7, Server: 8}}})
}
