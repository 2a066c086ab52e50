package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/source/system"
)

// goCommand prepares a call of the go command in dir. It works in temp, a [Temp], or
// a folder go-build… is left behind when it is killed; also go list and go env make
// one.
func goCommand(ctx context.Context, temp, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "PWD="+dir), system.GoEnvironment()...)
	if temp != "" {
		cmd.Env = append(cmd.Env, "GOTMPDIR="+temp)
	}
	if v := os.Getenv("GODEBUG"); v != "" {
		cmd.Env = append(cmd.Env, "GODEBUG="+quietGODEBUG(v))
	}
	return cmd
}

// tracers are the keys of GODEBUG that make every Go program print to standard
// error.
var tracers = []string{"gctrace", "schedtrace", "scheddetail", "inittrace", "scavtrace", "gcpacertrace", "allocfreetrace"}

// quietGODEBUG leaves the tracers out. They are meant for the program: the go
// command keeps what its compiler prints, and repeats it in every later build.
func quietGODEBUG(value string) string {
	var kept []string
	for _, kv := range strings.Split(value, ",") {
		if key, _, _ := strings.Cut(kv, "="); !slices.Contains(tracers, key) {
			kept = append(kept, kv)
		}
	}
	return strings.Join(kept, ",")
}

// run executes cmd and returns its output; an error holds what it printed.
func run(cmd *exec.Cmd) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := execute(cmd); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			if name := filepath.Base(cmd.Path); name != "go" {
				return nil, fmt.Errorf("cannot find the command %s: is it installed?", name)
			}
			return nil, errors.New("cannot find the go command: install Go, or give a ready binary")
		}
		text := strings.TrimSpace(errs.String())
		if text == "" {
			text = err.Error()
		}
		if strings.Contains(text, "build cache") {
			return nil, noCache{text}
		}
		return nil, errors.New(text)
	}
	return out.Bytes(), nil
}

// noCache is the error of a go command that has no folder for what it has built: nothing is wrong
// with what it was asked for.
type noCache struct{ text string }

// Error says what the go command printed, and what to do.
func (e noCache) Error() string {
	how := "set GOCACHE to the absolute path of a folder that can be written"
	if dir := os.Getenv("GOCACHE"); dir != "" {
		how = fmt.Sprintf("GOCACHE=%s names it: set it to the absolute path of a folder that can be written, or unset it", dir)
	}
	return fmt.Sprintf("the go command cannot use its cache: %s (%s)", e.text, how)
}

// execute runs a command to its end. It is the leader of a process group, which
// goes as a whole when the context ends and when loupe is killed: the go command
// alone would leave its compilers working.
func execute(cmd *exec.Cmd) error {
	ownGroup(cmd)
	cmd.Cancel = func() error {
		signalGroup(cmd.Process, os.Kill)
		return cmd.Process.Kill()
	}
	cmd.WaitDelay = 2 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := mind(cmd.Process.Pid)
	defer stop()
	return cmd.Wait()
}
