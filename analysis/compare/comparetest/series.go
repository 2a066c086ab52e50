// Package comparetest helps to find out how often comparisons are right: series of rounds
// that were measured of real programs, and the ways in which others compare them.
package comparetest

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Series are rounds of one program, measured one after the other.
type Series struct {
	// Name is what was measured, Unit as in Go's benchmark format.
	Name, Unit string
	// Work is how much each side did, as a part of the first: 1, 1.01, 1.03. One side alone
	// has been measured in a row; several took turns in blocks of random order.
	Work []float64
	// Rounds are the values of each side.
	Rounds [][]float64
}

// Write writes series as text: a line that begins with the name, the unit and the work of the
// side, for each side, and its rounds behind it, with five digits.
func Write(w io.Writer, all []Series) error {
	b := bufio.NewWriter(w)
	for _, s := range all {
		for side, values := range s.Rounds {
			fmt.Fprintf(b, "%s %s %g", s.Name, s.Unit, s.Work[side])
			for _, v := range values {
				fmt.Fprintf(b, " %.5g", v)
			}
			b.WriteByte('\n')
		}
	}
	return b.Flush()
}

// Read reads what [Write] has written. It errs where a line is none of it.
func Read(r io.Reader) (all []Series, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		if len(words) < 4 {
			return nil, fmt.Errorf("%q has no rounds", lines.Text())
		}
		var values []float64
		for _, word := range words[2:] {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", words[0], words[1], err)
			}
			values = append(values, v)
		}
		at := slices.IndexFunc(all, func(s Series) bool { return s.Name == words[0] && s.Unit == words[1] })
		if at < 0 {
			at = len(all)
			all = append(all, Series{Name: words[0], Unit: words[1]})
		}
		all[at].Work = append(all[at].Work, values[0])
		all[at].Rounds = append(all[at].Rounds, values[1:])
	}
	return all, lines.Err()
}
