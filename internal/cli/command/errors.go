package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"loupe/capture/collect"
	"loupe/value/terminal"
)

// Exit codes, see docs/cli.md.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitFound       = 3 // a threshold or finding was hit, or a regression found
	ExitNothing     = 4 // nothing to show, or the target cannot be reached
	ExitInterrupted = 130
)

// usageError is an error that the way of calling caused.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }

func (u usageError) Unwrap() error { return u.err }

// Usage is an error that the way of calling caused.
func Usage(err error) error { return usageError{err} }

// Usagef is the same, of a text.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitError carries an exit code through an error return; its error may be
// nil when everything was said already.
type exitError struct {
	code int
	err  error
}

// ErrFound ends a command whose output says it all with the code for a finding.
var ErrFound error = exitError{code: ExitFound}

// Exit ends a command with the code of another one, which has said why.
func Exit(code int) error { return exitError{code: code} }

// Found is an error with the code for a threshold that was hit.
func Found(err error) error { return exitError{ExitFound, err} }

// Nothing is an error that means that there is nothing to show or to reach.
func Nothing(err error) error { return exitError{ExitNothing, err} }

// Nothingf is the same, of a text.
func Nothingf(format string, args ...any) error { return Nothing(fmt.Errorf(format, args...)) }

func (x exitError) Error() string {
	if x.err == nil {
		return ""
	}
	return x.err.Error()
}

func (x exitError) Unwrap() error { return x.err }

// message is the text of err: every error that was joined into it once,
// without what a Ctrl-C leaves behind.
func message(err error) string {
	var kept []string
	for _, text := range texts(err) {
		if text != "" && !strings.HasSuffix(text, context.Canceled.Error()) && !slices.Contains(kept, text) {
			kept = append(kept, terminal.Text(text))
		}
	}
	if full, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(full, syscall.ENOSPC) && full.Path != os.Stdout.Name() {
		kept = append(kept, "the disk is full; what was recorded before is kept (make room, or choose another place with -o)")
	}
	return strings.Join(kept, "\n")
}

// Line formats what may hold names of others as one line that a terminal shows and does not obey.
func Line(format string, args ...any) string { return terminal.Line(fmt.Sprintf(format, args...)) }

// texts are the messages of joined errors.
func texts(err error) []string {
	var out []string
	for _, part := range apart(err) {
		text := strings.TrimSpace(part.Error())
		if x, ok := part.(*fs.PathError); ok {
			text = fmt.Sprintf("cannot %s %s: %v", x.Op, x.Path, x.Err)
		}
		out = append(out, text)
	}
	return out
}

// apart takes joined errors apart, and leaves those whole that wrap several.
func apart(err error) []error {
	if x, ok := err.(exitError); ok && x.err != nil {
		return apart(x.err)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	var lines []string
	for _, part := range joined.Unwrap() {
		out = append(out, apart(part)...)
		lines = append(lines, part.Error())
	}
	if strings.Join(lines, "\n") != err.Error() {
		return []error{err}
	}
	return out
}

// Unreachable gives an error about a target that does not answer its exit
// code.
func Unreachable(err error) error {
	if errors.Is(err, collect.ErrUnreachable) {
		return Nothing(err)
	}
	return err
}
