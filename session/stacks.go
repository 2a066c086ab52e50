package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/dump"
	"loupe/profile"
	"loupe/recording"
	"loupe/stack"
)

// Listing is an entry with goroutine dumps.
type Listing struct {
	Entry recording.Entry
	*dump.File
}

// Stacks returns the dumps of goroutines that the recording holds, in the order
// of their capture: the files that are dumps, and the standard error of
// processes that have panicked or were sent SIGQUIT. An entry that cannot be
// read is left out and told in the error beside the others.
func (s *Session) Stacks() ([]Listing, error) {
	var all []Listing
	var wrong []error
	for _, e := range s.rec.Entries {
		if e.Kind != recording.Stacks && e.Kind != recording.Stderr {
			continue
		}
		f, err := s.dumpAt(e.Path)
		switch {
		case err != nil:
			wrong = append(wrong, err)
		case f.Len() > 0 || len(f.Races) > 0:
			all = append(all, Listing{e, f})
		}
	}
	if len(all) == 0 && len(wrong) == 0 {
		return nil, fmt.Errorf("no goroutine dump: %w", ErrNone)
	}
	return all, errors.Join(wrong...)
}

// dumpAt returns the dumps in an entry.
func (s *Session) dumpAt(path string) (*dump.File, error) {
	return decoded(s, "dumps in "+path, func() (*dump.File, error) {
		data, err := s.rec.ReadFile(path, maxEntry)
		if err != nil {
			return &dump.File{}, err
		}
		return dump.Parse(data), nil
	})
}

// addStacks enters a file of dumps. The last of them stands for a goroutine
// profile as well.
func (s *Session) addStacks(f *File) error {
	d, err := s.dumpAt(f.Name)
	if err != nil {
		return err
	}
	f.Dumps, f.Goroutines = len(d.Dumps), d.Goroutines()
	kinds := []recording.Kind{recording.Stacks}
	if d.Goroutines() > 0 {
		kinds = append(kinds, recording.Goroutine)
	}
	s.enter(f, kinds, -1)
	return nil
}

// lastStacks makes a goroutine profile of the last dump of a file.
func (s *Session) lastStacks(path string) (*profile.Profile, error) {
	d, err := s.dumpAt(path)
	if err != nil {
		return nil, err
	}
	return GoroutineProfile(d, d.InDump(len(d.Dumps)-1))
}

// GoroutineProfile makes a goroutine profile with labels for state and wait of
// the goroutines of a dump that keep chooses.
//
// Package profile reads dumps, and knows what becomes a label and what a
// location. So that the two readers agree in that, it is given one goroutine
// of each kind in the form of debug=2, and the counts afterwards.
func GoroutineProfile(f *dump.File, keep func(int) bool) (*profile.Profile, error) {
	type key struct {
		stack stack.ID
		state dump.StateID
		wait  int32
	}
	at := map[key]int{}
	var counts []int64
	var text bytes.Buffer
	for g, id := range f.StackIDs {
		n := f.Count(g)
		if n == 0 || !keep(g) {
			continue
		}
		k := key{id, f.StateIDs[g], f.Waits[g]}
		i, ok := at[k]
		if !ok {
			i = len(counts)
			at[k] = i
			counts = append(counts, 0)
			writeGoroutine(&text, f, g, i+1)
		}
		counts[i] += n
	}
	if len(counts) == 0 {
		return nil, fmt.Errorf("no goroutine to write: %w", ErrNone)
	}
	p, err := profile.Decode(text.Bytes(), profile.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot make a profile of the dump: %w", err)
	}
	if p.Len() != len(counts) {
		return nil, fmt.Errorf("cannot make a profile of the dump: %d kinds of goroutines have become %d samples", len(counts), p.Len())
	}
	p.Values = [][]int64{slices.Clone(counts)}
	return p, nil
}

// writeGoroutine prints a goroutine as debug=2 does.
func writeGoroutine(b *bytes.Buffer, f *dump.File, g, number int) {
	s := f.State(g)
	fmt.Fprintf(b, "goroutine %d [%s", number, s.Name)
	for _, flag := range []struct {
		set  bool
		text string
	}{{s.Leaked, " (leaked)"}, {s.Scan, " (scan)"}, {s.Durable, " (durable)"}} {
		if flag.set {
			b.WriteString(flag.text)
		}
	}
	if f.Waits[g] > 0 {
		fmt.Fprintf(b, ", %d minutes", f.Waits[g])
	}
	if s.Locked {
		b.WriteString(", locked to thread")
	}
	if s.Bubble != "" {
		b.WriteString(", synctest bubble " + s.Bubble)
	}
	if s.More != "" {
		b.WriteString(", " + s.More)
	}
	if s.Labels != "" {
		b.WriteString(" labels:{" + s.Labels + "}")
	}
	b.WriteString("]:\n")
	for _, id := range f.Stacks.Frames(f.StackIDs[g]) {
		r := f.Stacks.Frame(id)
		switch {
		case r.Func == dump.FramesElided:
			b.WriteString("...additional frames elided...\n")
			continue
		case r.Func == dump.NoStack:
			b.WriteString("\tgoroutine running on other thread; stack unavailable\n")
			continue
		case r.Func == dump.NotGo && r.File == "":
			b.WriteString("non-Go function at pc=0x0\n")
			continue
		case strings.HasPrefix(r.Func, dump.CreatedBy):
			b.WriteString(r.Func)
		case r.Inlined:
			b.WriteString(r.Func + "(...)")
		default:
			b.WriteString(r.Func + "()")
		}
		fmt.Fprintf(b, "\n\t%s:%d\n", cmp.Or(r.File, "?"), r.Line)
	}
	b.WriteByte('\n')
}
