// Package debuginfo keeps, in a recording, what is needed of a program to explain the recording
// later and elsewhere: the source files that its profiles and traces point into, and what is
// called where memory is allocated.
package debuginfo

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
)

// Profiles reads those of a kind; what cannot be read is left out.
func Profiles(w *recording.Writer, kind recording.Kind) (profiles []*profile.Profile) {
	m := w.Manifest()
	for _, e := range m.Of(kind) {
		data, err := w.ReadFile(e.Path)
		if err != nil {
			continue
		}
		if p, err := profile.Decode(data, profile.Options{MaxBytes: MaxProfile}); err == nil {
			profiles = append(profiles, p)
		}
	}
	return profiles
}

// Packages names the packages of profiles that belong to some modules, in order; without
// modules those that are not known to be somebody else's. names gives all of a profile.
func Packages(profiles []*profile.Profile, modules []string, names func(*profile.Profile) []string) []string {
	scope := stack.Scope{Modules: modules}
	own := map[string]bool{}
	for _, p := range profiles {
		for _, name := range names(p) {
			if scope.IsUser(stack.Frame{Func: name + ".f"}) && filepath.IsLocal(filepath.FromSlash(name)) {
				own[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(own))
}

// Calls writes which function is called where memory is allocated: heap profiles leave the
// frames of the runtime out. program is the file of the program, and name what it is called;
// read gives, of that file, what names the function that is called in front of an address. An
// error is one of writing.
func Calls(w *recording.Writer, program, name string, profiles []*profile.Profile, read func(io.ReaderAt) (func(returnAddress uint64) string, error)) error {
	f, err := os.Open(program)
	if err != nil {
		return nil // gone: there is nothing to be said
	}
	defer f.Close()
	callee, err := read(f)
	if err != nil {
		return w.Note("of lines on which several things may allocate it is not known which do: " + strings.Join(strings.Fields(err.Error()), " "))
	}
	calls := map[uint64]string{}
	for _, p := range profiles {
		for id := 1; id < p.Stacks.Len(); id++ {
			frames := p.Stacks.Frames(stack.ID(id))
			if len(frames) == 0 {
				continue
			}
			address := p.Stacks.Frame(frames[0]).Address
			if name := callee(address + 1); address != 0 && name != "" {
				calls[address] = name
			}
		}
	}
	if len(calls) == 0 {
		return nil
	}
	var text bytes.Buffer
	for _, address := range slices.Sorted(maps.Keys(calls)) {
		fmt.Fprintf(&text, "%#x %s\n", address, calls[address])
	}
	return w.Put(recording.Entry{Path: "calls.txt", Kind: recording.Calls, Source: name}, text.Bytes())
}
