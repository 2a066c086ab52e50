package leak

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"loupe/insight/leak"
	"loupe/source"
	"loupe/value/unit"
)

// told is how far the times of files must lie apart to say when their contents were made: those
// of copies are all alike.
const told = 2 * time.Second

// slack is by how much the times of two files may contradict their order.
const slack = time.Second

// inOrder puts files that stand alone in the order in which they were made, as far as their names
// tell: a shell puts dump-10 before dump-2. It says how it did so, for those that do not tell
// their time themselves, and whether the times of the files agree.
func inOrder(inputs []*source.Input) ([]*source.Input, leak.Order) {
	byNumber := slices.Clone(inputs)
	slices.SortStableFunc(byNumber, func(a, b *source.Input) int { return natural(a.Name, b.Name) })
	byLetter := slices.IsSortedFunc(inputs, func(a, b *source.Input) int { return cmp.Compare(a.Name, b.Name) })
	o := leak.Order{By: "in the order they were named in", Known: true}
	switch numbered := onlyNumbersDiffer(inputs); {
	case byLetter && !slices.Equal(inputs, byNumber):
		inputs, o.By = byNumber, "in the order of the numbers in their names"
	case numbered && slices.Equal(inputs, byNumber):
		o.By = "in the order of the numbers in their names"
	case byLetter: // a shell may have put them so
		o.By, o.Known = "in the order of their names", false
	}
	times := timesOf(inputs)
	if len(times) < 2 || slices.MaxFunc(times, time.Time.Compare).Sub(slices.MinFunc(times, time.Time.Compare)) < told {
		return inputs, o
	}
	for i := 1; i < len(times); i++ {
		if times[i-1].Sub(times[i]) > slack {
			o.Known = false
			o.Against = fmt.Sprintf("%s is the younger file, but %s comes after it %s", inputs[i-1].Name, inputs[i].Name, o.By)
			return inputs, o
		}
	}
	o.Known = true
	return inputs, o
}

// timesOf are the times at which files were written; nil where one is not told.
func timesOf(inputs []*source.Input) (all []time.Time) {
	for _, in := range inputs {
		info, err := os.Stat(in.Path)
		if err != nil || !in.Held() {
			return nil
		}
		all = append(all, info.ModTime())
	}
	return all
}

// natural compares names as people count: a number by its value.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		var p, q string
		p, x = token(x)
		q, y = token(y)
		if isDigit(p[0]) && isDigit(q[0]) {
			p, q = strings.TrimLeft(p, "0"), strings.TrimLeft(q, "0")
			if c := cmp.Compare(len(p), len(q)); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(p, q); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// token cuts a number, or what is none, from the begin of a name.
func token(s string) (first, rest string) {
	end := 1
	for end < len(s) && isDigit(s[end]) == isDigit(s[0]) {
		end++
	}
	return s[:end], s[end:]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// onlyNumbersDiffer tells whether names are the same but for the numbers in them.
func onlyNumbersDiffer(inputs []*source.Input) bool {
	form := func(in *source.Input) string {
		return strings.Join(strings.FieldsFunc(in.Name, func(r rune) bool { return '0' <= r && r <= '9' }), "#")
	}
	return !slices.ContainsFunc(inputs, func(in *source.Input) bool { return form(in) != form(inputs[0]) })
}

// different leaves out files that have the same bytes as one before them, and says so.
func different(inputs []*source.Input) (kept []*source.Input, said []string) {
	first := map[[sha256.Size]byte]*source.Input{}
	again := map[*source.Input]int{}
	for _, in := range inputs {
		sum, ok := sumOf(in)
		if before := first[sum]; ok && before != nil {
			again[before]++
			continue
		}
		if ok {
			first[sum] = in
		}
		kept = append(kept, in)
	}
	for _, in := range kept {
		if n := again[in]; n > 0 {
			said = append(said, fmt.Sprintf("%s with the same bytes as %s: one look, counted once (profiles that carry their time, without debug=1 or 2, tell two looks at a program that stands still apart)", unit.Plural(int64(n), "more file"), in.Name))
		}
	}
	return kept, said
}

// sumOf is that of the bytes of a file.
func sumOf(in *source.Input) (sum [sha256.Size]byte, ok bool) {
	f, err := os.Open(in.Path)
	if err != nil {
		return sum, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, false
	}
	return [sha256.Size]byte(h.Sum(nil)), true
}
