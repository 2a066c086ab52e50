package session

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/format/compiler"
	"loupe/recording"
	"loupe/value/stack"
)

// Compiler returns what the compiler has said about the packages of the
// program. What is damaged is left out; beside an error the set holds the rest,
// or is nil where there is none.
func (s *Session) Compiler() (*compiler.Set, error) {
	found := s.rec.Of(recording.Compiler)
	if len(found) == 0 {
		return nil, fmt.Errorf("words of the compiler: %w", ErrNone)
	}
	return decoded(s, "compiler/", func(s *Session) (*compiler.Set, error) {
		set := &compiler.Set{}
		var errs []error
		for _, e := range found {
			data, err := s.rec.ReadFile(e.Path, maxEntry)
			if err == nil {
				err = addCompiler(set, data, func(names []string) string { return compiledIn(s, names) })
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", e.Path, err))
			}
		}
		if set.Len() == 0 {
			return nil, errors.Join(errs...)
		}
		if s.rec.Target.Kind == "files" {
			// A log says example.com/cmd/server where profiles say main.
			files := map[string]bool{}
			for d := range set.All {
				files[d.Pos.File] = true
			}
			eachFrame(s, func(f stack.Frame) {
				if files[f.File] {
					set.Packages[stack.Package(f.Func)] = true
				}
			})
		}
		return set, errors.Join(errs...)
	})
}

// addCompiler adds what the compiler has said: an answer as recordings keep it, or a log
// as it was printed.
// The folder that it was printed in is asked for where names of files are relative.
func addCompiler(set *compiler.Set, data []byte, folder func(relative []string) string) error {
	if !compiler.Looks(data[:min(len(data), 64<<10)]) {
		a, err := compiler.DecodeAnswer(data, maxEntry)
		if err != nil {
			return err
		}
		return a.AddTo(set, nil)
	}
	out, err := compiler.Parse(data, compiler.Options{})
	if out == nil {
		return err
	}
	names := map[string]bool{}
	for i := range out.Diagnostics {
		if name := out.Diagnostics[i].Pos.File; strings.HasSuffix(name, ".go") && !path.IsAbs(name) {
			names[path.Clean(name)] = true
		}
	}
	if dir := folder(slices.Sorted(maps.Keys(names))); dir != "" {
		if in, err := compiler.Parse(data, compiler.Options{Dir: dir}); err == nil {
			out = in
		}
	}
	set.Add(out.Diagnostics...)
	return err
}

// compiledIn finds the folder that an output of the compiler was printed in, from which
// its relative names start: the one in which most of these files are that the profiles
// name. It is "" where there is none, or no single one.
func compiledIn(s *Session, relative []string) string {
	if len(relative) == 0 {
		return ""
	}
	known := map[string]bool{}
	eachFrame(s, func(f stack.Frame) { known[f.File] = true })
	votes := map[string]int{}
	for name := range known {
		for _, r := range relative {
			if dir, ok := strings.CutSuffix(name, "/"+r); ok && path.IsAbs(name) {
				votes[dir]++
			}
		}
	}
	best, tie := "", false
	for dir, n := range votes {
		switch {
		case n > votes[best]:
			best, tie = dir, false
		case n == votes[best]:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}

// eachFrame calls see for the frames of all profiles.
func eachFrame(s *Session, see func(stack.Frame)) {
	seen := map[string]bool{}
	for _, e := range s.rec.Entries {
		if !strings.HasPrefix(string(e.Kind), "pprof.") || seen[e.Path] {
			continue
		}
		seen[e.Path] = true
		p, err := s.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		for f := range p.Stacks.NumFrames() {
			see(p.Stacks.Frame(stack.FrameID(f)))
		}
	}
}

// addCompilerLog enters what the compiler has said.
func (s loose) addCompilerLog(f *File) error {
	s.rec.Entries = append(s.rec.Entries, recording.Entry{Path: f.Name, Kind: recording.Compiler, Bytes: f.Bytes})
	f.Kind = recording.Compiler
	data, err := s.rec.ReadFile(f.Name, maxEntry)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Name, err)
	}
	set := &compiler.Set{}
	if err := addCompiler(set, data, func([]string) string { return "" }); err != nil {
		return fmt.Errorf("cannot read %s: %w", f.Name, err)
	}
	f.Diagnostics = set.Len()
	return nil
}

// Calls returns which function is called in front of the return address of an
// allocation, by that address less one, which is what profiles hold.
func (s *Session) Calls() (map[uint64]string, error) {
	found := s.rec.Of(recording.Calls)
	if len(found) == 0 {
		return nil, fmt.Errorf("calls of the binary: %w", ErrNone)
	}
	return decoded(s, found[0].Path, func(s *Session) (map[uint64]string, error) {
		data, err := s.rec.ReadFile(found[0].Path, maxEntry)
		if err != nil {
			return nil, err
		}
		calls := map[uint64]string{}
		for line := range bytes.Lines(data) {
			address, name, ok := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
			n, err := strconv.ParseUint(string(address), 0, 64)
			if !ok || err != nil {
				continue // cut off
			}
			calls[n] = string(name)
		}
		return calls, nil
	})
}
