// Package goroutineprofile makes a goroutine profile of a dump, for all that looks
// at profiles: flame graphs, rules, go tool pprof. The formats are blind to each
// other, so that what joins two of them stands above both.
package goroutineprofile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/format/dump"
	"loupe/format/profile"
	"loupe/value/stack"
)

// ErrEmpty tells that no goroutine was chosen.
var ErrEmpty = errors.New("there is no goroutine to write")

// Of makes a goroutine profile with labels for state and wait of the goroutines
// of a dump that keep chooses; nil is all. It fails with [ErrEmpty] when there are
// none.
//
// Package profile reads dumps, and knows what becomes a label and what a
// location. So that the two readers agree in that, it is given one goroutine
// of each kind in the form of debug=2, and the counts afterwards.
func Of(f *dump.File, keep func(int) bool) (*profile.Profile, error) {
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
		if n == 0 || keep != nil && !keep(g) {
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
		return nil, ErrEmpty
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
