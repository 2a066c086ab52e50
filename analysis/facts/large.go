package facts

// Large is a line that makes objects so large that few of them fill the heap. A heap profile has what outlived a
// collection that ended, and was there at the next one: of an object that alone makes the collector run it may show
// nothing, though the heap was full of it.
type Large struct {
	// Made is a look at all that was allocated, where other looks are at what was in use.
	Made *Look
	// Top is the line, with all that it has allocated as its weight.
	Top *Line
	// Largest is the size of its largest object, Objects how many it has made.
	Largest, Objects int64
}

// AtLeast is how much of a heap of so many bytes the line must have made: what all other lines together have not allocated. It is 0 where the
// profile is not of all that the heap had.
func (x *Large) AtLeast(heap float64) float64 {
	all := float64(x.Made.Bytes)
	if all < heap {
		return 0
	}
	return max(0, heap-(all-float64(x.Top.Weight)))
}

// LargeIn returns the line of the user's code that has allocated most bytes, by the allocs profile; nil where none tells.
func LargeIn(f *Facts) *Large {
	w, err := f.Weights(Allocations, "alloc_space")
	if err != nil {
		return nil
	}
	k := &InUse{Provenance: w.Provenance, Bytes: w.Total(), profile: w.Profile, index: w.Index, scope: f.session.Scope()}
	all := k.Lines()
	if len(all) == 0 || k.Bytes <= 0 {
		return nil
	}
	x := &Large{Made: &Look{InUse: k, At: w.Entry.Span.Start}, Top: all[0]}
	x.Objects, x.Largest = k.MadeAt(x.Top.At, func(string) bool { return true })
	return x
}
