package exectrace

import "fmt"

// Problem is one thing in a trace that could not be read as it should be.
type Problem struct {
	// Offset is where in the file, or -1 when no place can be named.
	Offset int64
	// Generation is the generation's number in the file; 0 before the first.
	Generation uint64
	// Text says what is wrong and what was lost by it.
	Text string
}

// Error makes a Problem an error.
func (p *Problem) Error() string {
	switch {
	case p.Offset < 0 && p.Generation == 0:
		return p.Text
	case p.Offset < 0:
		return fmt.Sprintf("generation %d: %s", p.Generation, p.Text)
	case p.Generation == 0:
		return fmt.Sprintf("at byte %d: %s", p.Offset, p.Text)
	}
	return fmt.Sprintf("at byte %d, generation %d: %s", p.Offset, p.Generation, p.Text)
}

// maxProblems is how many problems a list keeps.
const maxProblems = 100

// problems are what was found wrong with a trace, by its index or by a reader.
type problems struct {
	strict     bool   // the first one ends the reading
	generation uint64 // the number of the one that is read, 0 for none
	list       []*Problem
	err        error // what has ended the reading
}

// tell keeps a problem, or ends a strict reading with it.
func (p *problems) tell(offset int64, text string) {
	one := &Problem{Offset: offset, Generation: p.generation, Text: text}
	if len(p.list) < maxProblems {
		p.list = append(p.list, one)
	}
	if p.strict && p.err == nil {
		p.err = one
	}
}
