package repetition

import (
	"cmp"
	"slices"

	"loupe/format/repeats"
	"loupe/recording"
	"loupe/session"
)

// Blocks are how often blocks of the program's source were entered, and what its loops went through.
type Blocks struct {
	// Entry is where that was counted; Loaded tells that a load was put on the program.
	Entry  recording.Entry
	Loaded bool
	files  map[string]*repeats.File
	calls  map[declared]int64
}

// declared is where a function is declared.
type declared struct {
	file string
	line int
}

// BlocksIn are those of a recording. An error wraps [session.ErrNone] where it has none.
func BlocksIn(s *session.Session) (*Blocks, error) {
	set, err := countsOf(s)
	if err != nil {
		return nil, err
	}
	entry, _ := s.Manifest().Main(recording.Repeats)
	b := BlocksOf(set.Files)
	b.Entry, b.Loaded = entry, set.Loaded
	b.calls = map[declared]int64{}
	for _, f := range set.Functions {
		if f.Caller != "" {
			continue
		}
		n := f.Calls
		if f.Cut {
			n = notAllCounted
		}
		b.calls[declared{f.File, f.Line}] = n
	}
	return b, nil
}

// BlocksOf are the counts of files.
func BlocksOf(files []repeats.File) *Blocks {
	b := &Blocks{files: map[string]*repeats.File{}}
	for i := range files {
		b.files[files[i].Name] = &files[i]
	}
	return b
}

// Entered is how often the block was entered whose brace, or the colon of a clause, is at an offset of a file. It is false where that was not counted.
func (b *Blocks) Entered(file string, offset int) (n int64, ok bool) {
	f := b.files[file]
	if f == nil {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(f.Blocks, offset, func(x repeats.Block, offset int) int { return cmp.Compare(x.Offset, offset) })
	if !ok {
		return 0, false
	}
	return f.Blocks[i].Count, true
}

// notAllCounted is of a function whose calls were not all counted.
const notAllCounted = -1

// Called is how often the function was called that is declared on a line of a file: never where nothing tells of it, in a file of which other things
// were counted. Calls of functions that do next to nothing are not. It is false where not all calls were.
func (b *Blocks) Called(file string, line int) (n int64, ok bool) {
	n, ok = b.calls[declared{file, line}]
	return n, ok && n != notAllCounted || !ok && b.files[file] != nil
}

// Has tells that blocks of a file were counted.
func (b *Blocks) Has(file string) bool { return b.files[file] != nil && len(b.files[file].Blocks) > 0 }

// Loop is what was counted of a loop.
type Loop = repeats.Loop

// LoopAt is what was counted of the loop whose keyword is at an offset of a file. It is false where nothing was.
func (b *Blocks) LoopAt(file string, offset int) (l Loop, ok bool) {
	f := b.files[file]
	if f == nil {
		return l, false
	}
	i, ok := slices.BinarySearchFunc(f.Loops, offset, func(x repeats.Loop, offset int) int { return cmp.Compare(x.Offset, offset) })
	if !ok {
		return l, false
	}
	return f.Loops[i], true
}

// Counts are what was counted of a function's calls, Within those within the calls of another, Func the function.
type (
	Counts = repeats.Counts
	Within = repeats.Within
	Func   = repeats.Func
)

// CallsOf are the counts of a function's calls in the whole run, by the name of its symbol without type parameters. It is false where it was
// not counted, or no call had the arguments of an earlier one.
func CallsOf(s *session.Session, name string) (calls Counts, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return calls, false
	}
	for _, f := range set.Functions {
		if f.Caller == "" && f.Name == name && f.Everywhere != nil {
			return *f.Everywhere, true
		}
	}
	return calls, false
}

// ChangesOf tells whether what the calls of a function returned was seen to be changed afterwards, in some of the calls that repeat one. It is false
// where that was not looked at.
func ChangesOf(s *session.Session, name string) (changed, ok bool) {
	set, err := countsOf(s)
	if err != nil {
		return false, false
	}
	for _, w := range set.Within {
		if f := set.Functions[w.Call]; f.Caller == "" && f.Name == name {
			changed, ok = changed || w.Changed > 0, true
		}
	}
	return changed, ok
}
