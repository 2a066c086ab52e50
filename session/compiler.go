package session

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"loupe/compiler"
	"loupe/recording"
)

// Compiler returns what the compiler has said about the packages of the
// program. What is damaged is left out; beside an error the set holds the rest,
// or is nil where there is none.
func (s *Session) Compiler() (*compiler.Set, error) {
	found := s.rec.Of(recording.Compiler)
	if len(found) == 0 {
		return nil, fmt.Errorf("words of the compiler: %w", ErrNone)
	}
	return decoded(s, "compiler/", func() (*compiler.Set, error) {
		set := &compiler.Set{}
		var errs []error
		for _, e := range found {
			data, err := s.rec.ReadFile(e.Path, maxEntry)
			var a *compiler.Answer
			if err == nil {
				a, err = compiler.DecodeAnswer(data, maxEntry)
			}
			if err == nil {
				err = a.AddTo(set, nil)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", e.Path, err))
			}
		}
		if set.Len() == 0 {
			set = nil
		}
		return set, errors.Join(errs...)
	})
}

// Calls returns which function is called in front of the return address of an
// allocation, by that address less one, which is what profiles hold.
func (s *Session) Calls() (map[uint64]string, error) {
	found := s.rec.Of(recording.Calls)
	if len(found) == 0 {
		return nil, fmt.Errorf("calls of the binary: %w", ErrNone)
	}
	return decoded(s, found[0].Path, func() (map[uint64]string, error) {
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
