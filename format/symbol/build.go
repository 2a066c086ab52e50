package symbol

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// build is how a binary was built, as far as the go command has recorded it.
type build struct {
	read func() (*debug.BuildInfo, error)
}

func newBuild(r io.ReaderAt) build {
	return build{read: sync.OnceValues(func() (*debug.BuildInfo, error) {
		info, err := buildinfo.Read(r)
		if err != nil {
			return nil, fmt.Errorf("cannot read the build information: %w", err)
		}
		return info, nil
	})}
}

// BuildInfo returns what the go command has recorded in the binary: Go
// version, main module, dependencies, build settings. It is an error when the
// binary has none: built by hand with the compiler, or not Go at all.
func (b *build) BuildInfo() (*debug.BuildInfo, error) { return b.read() }

// GoMinor returns the version of Go that has built the binary: 26 is Go 1.26. ok is
// false where the binary does not say it.
func (b *build) GoMinor() (minor int, ok bool) {
	info, err := b.BuildInfo()
	if err != nil {
		return 0, false
	}
	// "go1.26.8", "devel go1.27-3f2a1b"
	_, rest, ok := strings.Cut(info.GoVersion, "go1.")
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	minor, err = strconv.Atoi(rest[:digits])
	return minor, ok && err == nil
}

// Setting returns a build setting that the go command has recorded, such as
// "-trimpath", "-ldflags", "CGO_ENABLED" or "vcs.revision".
func (b *build) Setting(key string) (value string, ok bool) {
	info, err := b.BuildInfo()
	if err != nil {
		return "", false
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}
