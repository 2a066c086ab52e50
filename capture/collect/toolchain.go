package collect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"loupe/source/system"
)

// toolchain is the Go that builds in a directory.
type toolchain struct {
	// minor is 26 for Go 1.26. A version that does not say counts as the
	// newest.
	minor    int
	root     string // GOROOT
	modCache string
}

func toolchainIn(ctx context.Context, temp, dir string) toolchain {
	t := toolchain{minor: 1 << 20}
	out, err := run(goCommand(ctx, temp, dir, "env", "-json", "GOVERSION", "GOROOT", "GOMODCACHE"))
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

// overlaid returns the GOROOT under which the standard library can be overlaid; ""
// where there is none. Go refuses to overlay what lies in the module cache, and
// toolchains that it has downloaded lie there; it goes by the names, so that a link to
// one does. The link is in the user's cache, or in temp where there is none: it
// stands in the paths of the standard library in the program that is built.
func (t toolchain) overlaid(temp string) string {
	if t.root == "" || !below(t.modCache, t.root) {
		return t.root
	}
	dir, err := system.UserCache()
	if err == nil {
		dir = filepath.Join(dir, "toolchains")
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		dir = temp
	}
	link := filepath.Join(dir, filepath.Base(t.root))
	if to, err := os.Readlink(link); err == nil && to == t.root {
		return link
	}
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if os.Symlink(t.root, fresh) != nil {
		return ""
	}
	if os.Rename(fresh, link) != nil {
		os.Remove(fresh)
		return ""
	}
	return link
}

// command is the go command of the toolchain, by the name root for its GOROOT.
func (t toolchain) command(ctx context.Context, root, temp, dir string, args ...string) *exec.Cmd {
	cmd := goCommand(ctx, temp, dir, args...)
	if root != "" && root != t.root {
		cmd.Path, cmd.Err = filepath.Join(root, "bin", "go"), nil
		cmd.Env = append(cmd.Env, "GOROOT="+root, "GOTOOLCHAIN=local")
	}
	return cmd
}

// below tells whether dir is root or lies in it; nothing lies in "".
func below(root, dir string) bool {
	if root == "" {
		return false
	}
	rel, err := filepath.Rel(root, dir)
	return err == nil && !strings.HasPrefix(rel, "..")
}
