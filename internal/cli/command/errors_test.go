package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// TestMessage checks what is printed of errors: each once, and nothing of
// what a Ctrl-C leaves behind.
func TestMessage(t *testing.T) {
	f := func(err error, want string) {
		t.Helper()
		if got := message(err); got != want {
			t.Errorf("message(%q) = %q, want %q", err, got, want)
		}
	}
	a, b := errors.New("a"), errors.New("b")
	f(a, "a")
	f(errors.Join(a, b, errors.Join(a, nil)), "a\nb")
	f(fmt.Errorf("x: %w: %w", a, b), "x: a: b")
	f(fmt.Errorf("x: %w", errors.Join(a, a)), "x: a\na")
	f(context.Canceled, "")
	f(errors.Join(a, fmt.Errorf("cannot fetch: %w", context.Canceled)), "a")
	f(&os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC},
		"cannot write f: no space left on device\nthe disk is full; what was recorded before is kept (make room, or choose another place with -o)")
	f(&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, "cannot write /dev/stdout: no space left on device")
	f(&os.PathError{Op: "open", Path: "x\x1b[31m\u202ey", Err: os.ErrPermission}, "cannot open x[31my: permission denied")
}
