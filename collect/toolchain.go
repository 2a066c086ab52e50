package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// toolchain is the Go that builds in a directory.
type toolchain struct {
	// minor is 26 for Go 1.26. A version that does not say counts as the
	// newest.
	minor    int
	root     string // GOROOT
	modCache string
}

func toolchainIn(ctx context.Context, dir string) toolchain {
	t := toolchain{minor: 1 << 20}
	out, err := run(goCommand(ctx, dir, "env", "-json", "GOVERSION", "GOROOT", "GOMODCACHE"))
	var v struct{ GOVERSION, GOROOT, GOMODCACHE string }
	if err != nil || json.Unmarshal(out, &v) != nil {
		return t
	}
	fmt.Sscanf(v.GOVERSION, "go1.%d", &t.minor)
	t.root, t.modCache = v.GOROOT, v.GOMODCACHE
	return t
}

// keeps tells whether dir belongs to the toolchain or to the module cache.
func (t toolchain) keeps(dir string) bool {
	return below(t.root, dir) || below(t.modCache, dir)
}

// overlays tells whether the standard library can be overlaid: not where the
// toolchain was downloaded into the module cache.
func (t toolchain) overlays() bool { return t.root != "" && !below(t.modCache, t.root) }

// below tells whether dir is root or lies in it; nothing lies in "".
func below(root, dir string) bool {
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && !strings.HasPrefix(rel, "..")
}
