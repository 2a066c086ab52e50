// Package form is what the command lines of the labs share: the choice of one
// form of the program among several, and an execution trace of its run.
package form

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/trace"
	"slices"
	"strings"
)

// Choose returns the form of a name, or an error that says which there are.
func Choose[F any](forms map[string]F, name string) (F, error) {
	f, ok := forms[name]
	if !ok {
		return f, fmt.Errorf("unknown -mode %q: there are %s", name, Names(forms))
	}
	return f, nil
}

// Names lists the forms for help texts and messages.
func Names[F any](forms map[string]F) string {
	return strings.Join(slices.Sorted(maps.Keys(forms)), ", ")
}

// Traced does the work, and meanwhile writes an execution trace to the file:
// what loupe captures from outside, for those who want to see how a program
// does it by itself. Without a name it just does the work.
//
// The trace is whole whatever becomes of the work: an error of the work comes
// back after the trace was closed.
func Traced(file string, work func() error) error {
	if file == "" {
		return work()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		return errors.Join(fmt.Errorf("cannot trace: %w", err), f.Close(), os.Remove(file))
	}
	err = work()
	trace.Stop()
	return errors.Join(err, f.Close())
}
