package repeats

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where something stands in a source file. Line counts from 1, Offset in bytes from 0.
type Place struct {
	File   string
	Line   int
	Offset int
}

// File is a source file of the program, with what was counted of it.
type File struct {
	// Name is its path.
	Name string `json:"name"`
	// Blocks are those of functions that were called, in the order of the source.
	Blocks []Block `json:"blocks,omitempty"`
	Loops  []Loop  `json:"loops,omitempty"`
}

// Block is a function's body, a loop's body, a branch, or a clause of a switch or select.
type Block struct {
	// Line and Offset are those of the opening brace; of a clause, those of its colon.
	Line   int `json:"line"`
	Offset int `json:"offset"`
	// Count is how often it was entered. Where several goroutines entered it at once, some may be missing.
	Count int64 `json:"count"`
}

// Loop is a loop that goes through a slice, a map or a text; or x[a:b], of which x and the part are looked at in the same way.
type Loop struct {
	// Line and Offset are those of its keyword; those of the opening bracket for x, and of the closing one for the part.
	Line   int `json:"line"`
	Offset int `json:"offset"`
	// Entered is how often it began. Looked of these were looked at: there it had Size elements to go through, in all.
	Entered int64 `json:"entered"`
	Looked  int64 `json:"looked"`
	Size    int64 `json:"size"`
	// Contents is how many different ones these were, as far as one hash goes (docs/formats/repeats.md), counted up to 512. Paired is how many were looked
	// at the time after another look, and Alike how many of these were much the same as then: a list most of whose elements had been in that, the
	// same map with about as many entries.
	Contents int64 `json:"contents"`
	Paired   int64 `json:"paired,omitempty"`
	Alike    int64 `json:"alike,omitempty"`
}

// Counted are the blocks and loops that the counting code knows by their numbers.
type Counted struct {
	Blocks []CountedBlock
	Loops  []Place
}

// CountedBlock is where a block stands; Func is the number of the body of its function.
type CountedBlock struct {
	Place
	Func int
}

// Fields of a line of the counting code: of a block's behind the first number, and of a loop's.
const (
	mostInLine = 64
	loopFields = 7
)

// blockCounts reads the counts of blocks from a number on.
func (s *counter) blockCounts(v []int64) error {
	first := int(v[0])
	for i, n := range v[1:] {
		switch {
		case first+i < len(s.blocks):
			s.blocks[first+i] = n
		case n > 0:
			return fmt.Errorf("there is no block %d", first+i)
		}
	}
	return nil
}

// files puts what was counted of blocks and loops under their files.
func (s *counter) files(counted Counted) {
	at := map[string]int{}
	file := func(name string) *File {
		i, ok := at[name]
		if !ok {
			i = len(s.Files)
			at[name] = i
			s.Files = append(s.Files, File{Name: name})
		}
		return &s.Files[i]
	}
	for i, b := range counted.Blocks {
		if b.Func < len(s.blocks) && s.blocks[b.Func] > 0 {
			f := file(b.File)
			f.Blocks = append(f.Blocks, Block{b.Line, b.Offset, s.blocks[i]})
		}
	}
	for i, place := range counted.Loops {
		if l := s.loops[i]; l.Entered > 0 {
			l.Line, l.Offset = place.Line, place.Offset
			f := file(place.File)
			f.Loops = append(f.Loops, l)
		}
	}
	for i := range s.Files {
		slices.SortFunc(s.Files[i].Blocks, func(a, b Block) int { return a.Offset - b.Offset })
		slices.SortFunc(s.Files[i].Loops, func(a, b Loop) int { return a.Offset - b.Offset })
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// Limits of what a file may have.
const (
	mostFiles  = 1 << 14
	mostBlocks = 1 << 17
	// mostContents is up to how many different contents of a loop are counted.
	mostContents = 512
	mostOffset   = 1 << 30
)

// possible tells that what is said of a file does not contradict itself.
func (f *File) possible() bool {
	at := func(line, offset int) bool {
		return line >= 1 && line <= mostLine && offset >= 0 && offset <= mostOffset
	}
	last := -1
	for _, b := range f.Blocks {
		if !at(b.Line, b.Offset) || b.Offset <= last || !sane(b.Count) {
			return false
		}
		last = b.Offset
	}
	last = -1
	for _, l := range f.Loops {
		if !at(l.Line, l.Offset) || l.Offset <= last || !sane(l.Entered, l.Looked, l.Size, l.Contents, l.Paired, l.Alike) ||
			l.Looked > l.Entered || l.Contents > l.Looked || l.Contents > mostContents || l.Paired > max(0, l.Looked-1) || l.Alike > l.Paired ||
			l.Looked == 0 && l.Size > 0 {
			return false
		}
		last = l.Offset
	}
	return f.Name != "" && len(f.Name) <= mostName
}
