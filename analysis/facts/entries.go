package facts

import (
	"strings"

	"loupe/value/stack"
)

// EntriesAt is what a container that is filled at a line has for its entries by itself, in use and allocated in all:
// its table, its backing array, its nodes. It is what the line allocates itself, or by way of the functions of
// the standard library that keep values; the values that other functions make are not counted. 0 of allocated
// where the profile does not tell.
func (k *InUse) EntriesAt(file string, line int) (kept, allocated int64) {
	all := k.index
	if i, err := k.profile.Index("alloc_space"); err == nil {
		all = i
	}
	for i, id := range k.profile.StackIDs {
		if !fillsAt(Frames(k.profile.Stacks, id), file, line) {
			continue
		}
		kept += max(0, k.profile.Values[k.index][i])
		if all != k.index {
			allocated += max(0, k.profile.Values[all][i])
		}
	}
	return kept, allocated
}

// fillsAt tells of a stack, the leaf first, that a line allocates in it, or a container that it calls does.
func fillsAt(frames []stack.Frame, file string, line int) bool {
	for i, f := range frames {
		if f.File == file && f.Line == line {
			return true
		}
		switch {
		case keepsValues(f.Func):
		case !inHeap(frames[i:]): // which calls the methods of the user's type
			return false
		}
	}
	return false
}

// keepsValues tells of a function of the standard library or the runtime that has values by itself.
func keepsValues(name string) bool {
	for _, p := range []string{"runtime.", "internal/runtime/", "internal/sync.", "sync.", "container/", "slices.", "maps."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// inHeap tells of a method that container/heap has called it: Push, which appends.
func inHeap(frames []stack.Frame) bool {
	return len(frames) > 1 && strings.HasPrefix(frames[1].Func, "container/heap.")
}
