package benchmark

import (
	"bytes"
	"fmt"
	"sort"
	"strconv"
)

// blockWords begin the line that tells which block the results behind it are of. Everybody
// else skips such a line: a key of the configuration would make a table of each block.
const blockWords = "# loupe block "

// BlockLine is the line, without its end, in front of results that were measured in a
// block: those of the other side with the same number came right before or after them, in
// an order drawn at random (stats.Order).
func BlockLine(block int) string { return fmt.Sprint(blockWords, block) }

// blockMarks are the lines of a file, counted from 1, from which on results are of a block.
type blockMarks struct{ lines, blocks []int }

// marksOf finds them.
func marksOf(text []byte) (m blockMarks) {
	line := 0
	for s := range bytes.Lines(text) {
		line++
		number, ok := bytes.CutPrefix(s, []byte(blockWords))
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(string(bytes.TrimSpace(number))); err == nil && n >= 0 {
			m.lines, m.blocks = append(m.lines, line), append(m.blocks, n)
		}
	}
	return m
}

// unmarked is the block of results that nothing is told of.
const unmarked = -1

// at is the block of a result in a line.
func (m *blockMarks) at(line int) int {
	if i := sort.SearchInts(m.lines, line); i > 0 {
		return m.blocks[i-1]
	}
	return unmarked
}
