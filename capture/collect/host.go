package collect

import (
	"runtime"

	"loupe/recording"
)

// HostFacts describes the machine; what the system does not tell stays zero.
func HostFacts() recording.Host {
	h := recording.Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
	readHost(&h)
	return h
}
