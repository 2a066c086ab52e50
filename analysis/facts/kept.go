package facts

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// InUse is what of the heap is in use, as one heap profile has it: what was allocated
// and not collected since. How much was allocated in all is another question.
type InUse struct {
	Provenance
	// Bytes is all of it, Samples the number of observations behind it.
	Bytes, Samples int64
	// Doubt is the standard error of Bytes by sampling, as a share of it. An object much
	// larger than the distance of two samples is always seen.
	Doubt float64

	profile *profile.Profile
	index   int
	scope   stack.Scope
}

// Line is a line of the user's code with the weight that goes through it.
type Line struct {
	At     stack.Frame
	Frames []stack.Frame // of the heaviest stack, the leaf first
	Weight int64

	heaviest int64
}

// Kept is what the main heap profile has in use. One that was taken at a peak is none: it
// may be of a moment before that, and what came later it does not know.
func (f *Facts) Kept() (*InUse, error) {
	p, entry, err := f.session.Profile(recording.Heap)
	if err != nil {
		return nil, err
	}
	if isPeak(entry) {
		return nil, fmt.Errorf("a heap profile besides those at peaks: %w", session.ErrNone)
	}
	return keptIn(f, p, entry)
}

// KeptAtMost is what the heap profile has in use that has most, where there are
// several.
func (f *Facts) KeptAtMost() (most *InUse, err error) {
	all := f.Manifest.Of(recording.Heap)
	if len(all) < 2 {
		return nil, fmt.Errorf("several heap profiles: %w", session.ErrNone)
	}
	for _, entry := range all {
		p, perr := f.session.ProfileAt(entry.Path)
		if perr != nil {
			err = errors.Join(err, perr)
			continue
		}
		if k, _ := keptIn(f, p, entry); k != nil && (most == nil || k.Bytes > most.Bytes) {
			most = k
		}
	}
	if most == nil && err == nil {
		err = fmt.Errorf("heap profiles with what is in use: %w", session.ErrNone)
	}
	return most, err
}

// BesideCore is what was in use right before the core of a recording was taken. The error
// wraps [session.ErrNone] where there is no core, or no heap profile beside it.
func BesideCore(f *Facts) (*InUse, error) {
	core, isThere := f.Manifest.Main(recording.Core)
	for _, entry := range f.Manifest.Of(recording.CoreHeap) {
		if !isThere || entry.Phase != core.Phase || entry.Run != core.Run {
			continue
		}
		p, err := f.session.ProfileAt(entry.Path)
		if err != nil {
			return nil, err
		}
		return keptIn(f, p, entry)
	}
	return nil, fmt.Errorf("a heap profile beside a core: %w", session.ErrNone)
}

// SizesAt is how much of what is in use was allocated at a line, by the bytes of each object.
// A stack counts for the line nearest to the leaf, as for [InUse.Lines].
func (k *InUse) SizesAt(at stack.Frame) map[int64]int64 {
	sizes := map[int64]int64{}
	for i, id := range k.profile.StackIDs {
		size, w := objectSize(k.profile, k.index, i), k.profile.Values[k.index][i]
		if size <= 0 || w <= 0 {
			continue
		}
		for _, f := range k.profile.Stacks.Frames(id) {
			if x := k.profile.Stacks.Frame(f); k.scope.IsUser(x) {
				if x.File == at.File && x.Line == at.Line { // at any address
					sizes[size] += w
				}
				break
			}
		}
	}
	return sizes
}

// MeanAt is how many bytes the objects have on average that a line has allocated, by the allocs profile; 0 where
// nothing tells. A stack counts for the line of the user's nearest to the leaf.
func MeanAt(f *Facts, at stack.Frame) float64 {
	w, err := f.Weights(Allocations, "alloc_space")
	if err != nil {
		return 0
	}
	scope, bytes, objects := f.session.Scope(), 0.0, 0.0
	for i, id := range w.Profile.StackIDs {
		for _, frame := range w.Profile.Stacks.Frames(id) {
			if x := w.Profile.Stacks.Frame(frame); scope.IsUser(x) {
				if size := objectSize(w.Profile, w.Index, i); x.File == at.File && x.Line == at.Line && size > 0 {
					n := float64(w.Profile.Values[w.Index][i])
					bytes, objects = bytes+n, objects+n/float64(size)
				}
				break
			}
		}
	}
	return bytes / max(objects, 1)
}

// objectSize is how many bytes each object of a sample takes, 0 where that is not known. The
// runtime says it in a label; else it is what there is on average, which is the same but for
// the rounding of the two numbers.
func objectSize(p *profile.Profile, space, sample int) int64 {
	if sample < len(p.LabelSets) {
		for _, l := range p.Labels(p.LabelSets[sample]) {
			if l.Key == "bytes" && l.Numeric {
				return l.Num
			}
		}
	}
	objects, err := p.Index("inuse_objects")
	if err != nil || p.Values[objects][sample] <= 0 {
		return 0
	}
	return int64(float64(p.Values[space][sample])/float64(p.Values[objects][sample]) + 0.5)
}

// keptIn reads a heap profile.
func keptIn(f *Facts, p *profile.Profile, entry recording.Entry) (*InUse, error) {
	index, err := p.Index("inuse_space")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	if err := whole(p, index, entry); err != nil {
		return nil, err
	}
	k := &InUse{Provenance: f.provenance(entry, 0), profile: p, index: index, scope: f.session.Scope()}
	k.What, k.Length, k.Precision, k.Bytes = "heap profile", 0, Sampled, p.Total(index)
	counts, _ := p.Observations(index)
	variance := 0.0
	for i, n := range counts {
		if p.Values[index][i] <= 0 {
			continue
		}
		k.Samples += n
		if seen := 1 - math.Exp(-float64(objectSize(p, index, i))/float64(max(1, p.Period))); seen > 0 {
			each := float64(p.Values[index][i]) / float64(max(1, n)) // of what one that was seen stands for
			variance += float64(n) * (1 - seen) * each * each
		} else {
			each := float64(p.Values[index][i])
			variance += each * each
		}
	}
	k.Doubt = math.Sqrt(variance) / float64(max(1, k.Bytes))
	return k, nil
}

// Lines are the lines of the user's code that have allocated what is in use, the most
// first. A stack counts for the line nearest to the leaf.
func (k *InUse) Lines() []*Line { return lines(k.profile, k.index, k.scope) }

// EachStack are the stacks that have allocated what is in use, the leaf first, with how much of it.
func EachStack(k *InUse) iter.Seq2[[]stack.Frame, int64] {
	return func(yield func([]stack.Frame, int64) bool) {
		for id, w := range k.profile.Samples(k.index) {
			if w > 0 && !yield(Frames(k.profile.Stacks, id), w) {
				return
			}
		}
	}
}

// EachStackAllocated are the stacks of [EachStack], and others whose memory has gone, with all that they had allocated; none where
// the profile does not tell.
func EachStackAllocated(k *InUse) iter.Seq2[[]stack.Frame, int64] {
	all := *k
	index, err := k.profile.Index("alloc_space")
	if err != nil {
		return func(func([]stack.Frame, int64) bool) {}
	}
	all.index = index
	return EachStack(&all)
}

// At is how much of what is in use was allocated through a line.
func (k *InUse) At(at stack.Frame) (kept int64) {
	for id, w := range k.profile.Samples(k.index) {
		if w > 0 && slices.ContainsFunc(k.profile.Stacks.Frames(id), func(f stack.FrameID) bool {
			x := k.profile.Stacks.Frame(f)
			return x.File == at.File && x.Line == at.Line && x.Func == at.Func
		}) {
			kept += w
		}
	}
	return kept
}

// InTables is how much of what is in use a line has allocated itself, and not by a library that it calls, in objects of at least so many bytes: where the line
// stores into a map, that is the map's table. The runtime's own functions are left out of heap profiles.
func (k *InUse) InTables(at stack.Frame, least int64) (kept int64) {
	for i, id := range k.profile.StackIDs {
		w := k.profile.Values[k.index][i]
		if w <= 0 || objectSize(k.profile, k.index, i) < least {
			continue
		}
		frames := Frames(k.profile.Stacks, id)
		near := slices.IndexFunc(frames, func(f stack.Frame) bool {
			return !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "internal/runtime/maps.")
		})
		if near >= 0 && k.scope.IsUser(frames[near]) && frames[near].File == at.File && frames[near].Line == at.Line {
			kept += w
		}
	}
	return kept
}

// Through is how much of what is in use was allocated below a function, at any line.
func (k *InUse) Through(function string) (kept int64) {
	for id, w := range k.profile.Samples(k.index) {
		if w > 0 && slices.ContainsFunc(k.profile.Stacks.Frames(id), func(f stack.FrameID) bool { return k.profile.Stacks.Frame(f).Func == function }) {
			kept += w
		}
	}
	return kept
}

// Below is the part of what a line has in use that was allocated below a function of these names. A stack counts
// for the line nearest to the leaf, as for [InUse.Lines].
func (k *InUse) Below(at stack.Frame, names ...string) float64 {
	all, below := int64(0), int64(0)
	for id, w := range k.profile.Samples(k.index) {
		frames := Frames(k.profile.Stacks, id)
		near := slices.IndexFunc(frames, k.scope.IsUser)
		if w <= 0 || near < 0 || frames[near].File != at.File || frames[near].Line != at.Line {
			continue
		}
		if all += w; slices.ContainsFunc(frames[near:], func(f stack.Frame) bool { return slices.Contains(names, f.Func) }) {
			below += w
		}
	}
	return float64(below) / float64(max(1, all))
}

// InObjects is how much of what is in use was allocated through a line, in objects that
// take so many bytes each.
func (k *InUse) InObjects(at stack.Frame, size uint64) (kept int64) {
	return k.SizesAt(at)[int64(size)]
}

// ObjectsThrough is how many objects of one size, at most, are in use in one heap profile that
// were allocated through frames of the user's code, the line of the allocation first. It is 0 where
// the profiles do not count objects, or have seen fewer of them than least.
func (f *Facts) ObjectsThrough(frames []stack.Frame, least int64) (most int64) {
	isUser := f.session.Scope().IsUser
	through := func(all []stack.Frame) bool {
		all = slices.DeleteFunc(all, func(x stack.Frame) bool { return !isUser(x) })
		return len(all) >= len(frames) && slices.EqualFunc(all[:len(frames)], frames, func(a, b stack.Frame) bool {
			return a.Func == b.Func && a.File == b.File && a.Line == b.Line
		})
	}
	for _, e := range f.Manifest.Of(recording.Heap) {
		p, err := f.session.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		objects, oerr := p.Index("inuse_objects")
		space, serr := p.Index("inuse_space")
		if oerr != nil || serr != nil {
			continue
		}
		seen, _ := p.Observations(space)
		bySize, seenOf := map[int64]int64{}, map[int64]int64{}
		for i, id := range p.StackIDs {
			n, w := p.Values[objects][i], p.Values[space][i]
			if n <= 0 || !through(Frames(p.Stacks, id)) {
				continue
			}
			size := int64(float64(w)/float64(n) + 0.5)
			bySize[size] += n
			if i < len(seen) {
				seenOf[size] += seen[i]
			}
		}
		for size, n := range bySize {
			if seenOf[size] >= least {
				most = max(most, n)
			}
		}
	}
	return most
}

// StillInUse tells of each sample of a profile of allocations whether most of what it
// has allocated is in use: nothing was let go that could be used again, so that it says
// what is kept and not how fast memory is used up. It is false where the profile does not
// know.
func StillInUse(p *profile.Profile) func(sample int) bool {
	alloc, err := p.Index("alloc_space")
	inuse, ierr := p.Index("inuse_space")
	if err != nil || ierr != nil {
		return func(int) bool { return false }
	}
	return func(i int) bool { return 2*p.Values[inuse][i] > p.Values[alloc][i] }
}

// lines adds up a column of a profile by the user's line that is nearest to the leaf,
// the heaviest first.
func lines(p *profile.Profile, index int, scope stack.Scope) []*Line {
	type key struct {
		file string
		line int
	}
	by := map[key]*Line{}
	var all []*Line
	for id, w := range p.Samples(index) {
		if w <= 0 {
			continue // let go since
		}
		for _, frame := range p.Stacks.Frames(id) {
			at := p.Stacks.Frame(frame)
			if !scope.IsUser(at) {
				continue
			}
			k := key{at.File, at.Line}
			l := by[k]
			if l == nil {
				l = &Line{At: at}
				by[k], all = l, append(all, l)
			}
			if l.Weight += w; w > l.heaviest || l.Frames == nil {
				l.heaviest, l.Frames = w, Frames(p.Stacks, id)
			}
			break
		}
	}
	slices.SortStableFunc(all, func(a, b *Line) int { return cmp.Compare(b.Weight, a.Weight) })
	return all
}

// Within is what a line has in use by the function that allocated it, the innermost one that is not of the runtime: its full name with the bytes.
func (k *InUse) Within(at stack.Frame) map[string]int64 {
	sums := map[string]int64{}
	for id, w := range k.profile.Samples(k.index) {
		if w <= 0 {
			continue
		}
		allocates := ""
		for _, frame := range k.profile.Stacks.Frames(id) {
			f := k.profile.Stacks.Frame(frame)
			if allocates == "" && !stack.IsRuntime(stack.Package(f.Func)) {
				allocates = f.Func
			}
			if k.scope.IsUser(f) {
				if f.File == at.File && f.Line == at.Line {
					sums[allocates] += w
				}
				break
			}
		}
	}
	return sums
}

// MadeAt is how many objects a line had allocated by then, and the bytes of the largest of them.
// Those count that were allocated in a function that the line calls of which by is true; it is
// asked with an empty name of what the line allocates itself. They are 0 where the profile does
// not know.
func (k *InUse) MadeAt(at stack.Frame, by func(called string) bool) (objects, largest int64) {
	space, err := k.profile.Index("alloc_space")
	counts, cerr := k.profile.Index("alloc_objects")
	if err != nil || cerr != nil {
		return 0, 0
	}
	for i, id := range k.profile.StackIDs {
		n, w := k.profile.Values[counts][i], k.profile.Values[space][i]
		if n <= 0 || w <= 0 {
			continue
		}
		called := ""
		for _, f := range k.profile.Stacks.Frames(id) {
			x := k.profile.Stacks.Frame(f)
			if !k.scope.IsUser(x) {
				if called = x.Func; strings.HasPrefix(called, "runtime.") {
					called = ""
				}
				continue
			}
			if x.File == at.File && x.Line == at.Line && by(called) {
				objects, largest = objects+n, max(largest, int64(float64(w)/float64(n)+0.5))
			}
			break
		}
	}
	return objects, largest
}
