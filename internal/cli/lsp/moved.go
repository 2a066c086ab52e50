package lsp

import (
	"strings"
)

// moved says where each line of an old text is in a new one, counted from 0; -1 is nowhere.
// Lines that are the same around a change are followed first; one that is nowhere then and
// that each text has once, blanks around it aside, has been moved.
func moved(before, after []string) []int {
	to := make([]int, len(before))
	taken := make([]bool, len(after))
	for i := range to {
		to[i] = -1
	}
	follow(before, after, 0, 0, to)
	for _, at := range to {
		if at >= 0 {
			taken[at] = true
		}
	}
	a, b := once(before), once(after)
	for text, i := range a {
		if j, ok := b[text]; ok && i >= 0 && j >= 0 && to[i] < 0 && !taken[j] && len(text) > 3 {
			to[i] = j
		}
	}
	return to
}

// once maps each text, without blanks around it, to the line where it stands; -1 is several.
func once(lines []string) map[string]int {
	at := map[string]int{}
	for i, l := range lines {
		l = strings.TrimSpace(l)
		if _, ok := at[l]; ok {
			i = -1
		}
		at[l] = i
	}
	return at
}

// follow pairs the lines of two texts that begin at a0 and b0 of the whole: those at both ends
// that are the same, and between them those around lines that each has once (a patience diff).
func follow(a, b []string, a0, b0 int, to []int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		to[a0] = b0
		a, b, a0, b0 = a[1:], b[1:], a0+1, b0+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		to[a0+len(a)-1] = b0 + len(b) - 1
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	pairs := anchors(a, b)
	if len(pairs) == 0 {
		return
	}
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(a), len(b)}) {
		follow(a[i:p[0]], b[j:p[1]], a0+i, b0+j, to)
		if p[0] < len(a) {
			to[a0+p[0]] = b0 + p[1]
		}
		i, j = p[0]+1, p[1]+1
	}
}

// anchors are lines that each of two texts has once, as many as are in the same order.
func anchors(a, b []string) [][2]int {
	count := func(lines []string) map[string]int {
		n := map[string]int{}
		for _, l := range lines {
			n[l]++
		}
		return n
	}
	na, nb := count(a), count(b)
	at := map[string]int{}
	for j, l := range b {
		if nb[l] == 1 {
			at[l] = j
		}
	}
	// The longest increasing run of places in b, by patience: tops has the last pair of
	// each pile, before the pair in front of each.
	type card struct{ i, j, before int }
	var cards []card
	var tops []int
	for i, l := range a {
		j, ok := at[l]
		if !ok || na[l] != 1 {
			continue
		}
		lo, hi := 0, len(tops)
		for lo < hi {
			if mid := (lo + hi) / 2; cards[tops[mid]].j < j {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		before := -1
		if lo > 0 {
			before = tops[lo-1]
		}
		cards = append(cards, card{i, j, before})
		if lo == len(tops) {
			tops = append(tops, len(cards)-1)
		} else {
			tops[lo] = len(cards) - 1
		}
	}
	if len(tops) == 0 {
		return nil
	}
	pairs := make([][2]int, len(tops))
	for n, c := len(tops)-1, tops[len(tops)-1]; n >= 0; n-- {
		pairs[n] = [2]int{cards[c].i, cards[c].j}
		c = cards[c].before
	}
	return pairs
}
