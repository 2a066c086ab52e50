package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Lists that are sorted although they are in order: the unstable sorts of the standard library show it by the function that their time goes
// into. partialInsertionSort is called where a first look has found everything in order; it goes through the list, and moves five elements at
// most before it gives up (sort/zsortfunc.go, pdqsort). Measured with lists of 40 to 1,000 elements, its share of the time is 0 % where the
// order is any other, also of two or ten lists in order behind each other; 70 to 100 % in order; 25 to 80 % where a tenth of them is new.

const (
	// inOrderShare is the part of a sort's time that has to be in partialInsertionSort. Chosen between these.
	inOrderShare = 0.7
	// reversedShare is that of reverseRange from which on lists come in the opposite order, after which it goes through them, too. Chosen.
	reversedShare = 0.02
	// inOrderSamples is how many samples the sort's own functions need. Chosen.
	inOrderSamples = 30
)

// pdqParts are the functions that the unstable sorts divide their work into, without what their forms add to the names.
var pdqParts = []string{"pdqsort", "partialInsertionSort", "insertionSort", "partition", "partitionEqual", "choosePivot", "median", "medianAdjacent", "order2", "reverseRange", "breakPatterns", "heapSort", "siftDown"}

// pdqPart is which of these a function is: partition of slices.partitionCmpFunc[...]; empty for any other function.
func pdqPart(fn string) string {
	if p := stack.Package(fn); p != "sort" && p != "slices" {
		return ""
	}
	name := ownName(fn)
	for _, form := range []string{"_func", "CmpFunc", "Ordered"} {
		name = strings.TrimSuffix(name, form)
	}
	if slices.Contains(pdqParts, name) {
		return name
	}
	return ""
}

// sortsInOrder tells of a line whose sorts spend their time on going through what is in order; share is the part of it, and part the function
// as the profile names it.
func sortsInOrder(h *hit, line *hitLine) (share float64, part string, ok bool) {
	t := h.p.Stacks
	var all, through, reversed int64
	for id, n := range h.p.Samples(h.index) {
		frames := t.Frames(id)
		at := slices.IndexFunc(frames, func(f stack.FrameID) bool { return t.Frame(f) == line.Caller })
		if at <= 0 || n <= 0 || stack.FoldGenerics(t.Frame(frames[at-1]).Func) != line.Callee {
			continue
		}
		// A comparison belongs to what compares, and what it sorts itself, to itself.
		in, name := "", ""
		for i := at - 1; i >= 0; i-- {
			fn := t.Frame(frames[i]).Func
			p := pdqPart(fn)
			if p == "" && in != "" {
				break
			}
			if p != "" {
				in, name = p, stack.FoldGenerics(fn)
			}
		}
		switch in {
		case "":
			continue
		case "partialInsertionSort":
			through, part = through+n, name
		case "reverseRange":
			reversed += n
		}
		all += n
	}
	if all == 0 {
		return 0, "", false
	}
	share = float64(through) / float64(all)
	return share, part, all >= inOrderSamples && share >= inOrderShare && float64(reversed) < reversedShare*float64(all)
}

// tellSortInOrder says of a sort that what it is given is in order, but for a few elements; it tells whether that is so.
func tellSortInOrder(h *hit, f *Finding) bool {
	line := h.lines[0]
	share, part, ok := sortsInOrder(h, line)
	if !ok {
		return false
	}
	f.Title = "What is sorted is nearly in order already"
	f.Summary += fmt.Sprintf("; %s of the time of these sorts is in %s, which only goes through lists that are in order but for a few elements", unit.Percent(share), part)
	f.Advice = "Look where the list comes from, and whether its order can be kept. If it is a copy of one that is in order, or comes in order from elsewhere, and nothing is added and nothing by which it is compared changes, leave the sort out. " +
		"Where few elements are added, insert each at the position found by binary search (slices.BinarySearchFunc, slices.Insert), or sort the new ones alone and merge them; taking elements out keeps the order."
	f.Doubts = append(f.Doubts, "a list that a sort goes through once is not always in order: in some, a few elements may be out of place in this run, and more in another. Where that may be, the sort is needed")
	return true
}
