package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Retention is what the heap profiles of a recording have in use over time: those at the
// peaks of the live heap, those of a growth phase, and the one that was asked for.
type Retention struct {
	// Looks are in the order of time.
	Looks []*Look
	// Most is the one with the most in use.
	Most *Look
}

// Look is what one heap profile has in use.
type Look struct {
	*InUse
	At timeline.Time
	// Peak tells that it was taken because the live heap had never been so large.
	Peak bool
	// AtExit tells that it was taken when the program had come to its end: what it no
	// longer has in use may have been in use all the time before.
	AtExit bool
}

// RetentionIn reads the heap profiles of a recording; the error is why there is none. Of a
// file that stands alone there is one look.
func RetentionIn(f *Facts) (*Retention, error) {
	kept, err := f.Kept()
	r := &Retention{}
	for _, entry := range f.Manifest.Of(recording.Heap) {
		k := kept
		if kept == nil || entry.Path != kept.Entry.Path {
			p, perr := f.session.ProfileAt(entry.Path)
			if perr != nil {
				continue // what is wrong with it, those say that ask for it
			}
			if k, _ = keptIn(f, p, entry); k == nil {
				continue
			}
		}
		look := &Look{InUse: k, At: entry.Span.Start, Peak: isPeak(entry)}
		if look.At == 0 {
			look.At = k.Time.Start
		}
		if runs := f.Manifest.Target.Runs; !look.Peak && entry.Run < len(runs) && f.Manifest.Target.Kind != "files" {
			look.AtExit = runs[entry.Run].Exit != "" && !runs[entry.Run].Stopped
		}
		r.Looks = append(r.Looks, look)
		if r.Most == nil || k.Bytes > r.Most.Bytes {
			r.Most = look
		}
	}
	if r.Most == nil {
		return nil, err
	}
	slices.SortStableFunc(r.Looks, func(a, b *Look) int { return cmp.Compare(a.At, b.At) })
	return r, nil
}

// isPeak tells whether an entry is a heap profile that was taken at a peak.
func isPeak(entry recording.Entry) bool {
	return entry.Kind == recording.Heap && path.Dir(strings.ReplaceAll(entry.Path, "\\", "/")) == "peak"
}

// AtMost is how much of what a line has allocated was in use in the look that has most of
// it, and the largest share of all that the line had allocated by then; 1 where a profile
// does not know that. known is false where no look was taken while the program was at work:
// then nothing proves that it is garbage.
func (r *Retention) AtMost(at stack.Frame) (bytes int64, share float64, known bool) {
	for _, look := range r.Looks {
		if look.Entry.Partial {
			continue
		}
		known = known || !look.AtExit
		kept, all := look.InUse.At(at), look.Allocated(at)
		bytes = max(bytes, kept)
		switch {
		case kept <= 0:
		case all <= 0:
			share = 1
		default:
			share = max(share, min(1, float64(kept)/float64(all)))
		}
	}
	return bytes, share, known
}

// Lasting is how much of what a line has allocated was still in use when nothing was being done
// with it: after a collection that was asked for while the program ran, or, of the peaks, where
// most of all that the line had allocated was in use at each of them for as long as no call
// lasts. What else is in use at a peak may be that of calls in progress.
func (r *Retention) Lasting(at stack.Frame) (bytes int64) {
	var from, to timeline.Time
	low, peaks := int64(0), 0
	for _, look := range r.Looks {
		kept, all := look.InUse.At(at), look.Allocated(at)
		switch {
		case look.Entry.Partial || look.AtExit:
		case !look.Peak:
			bytes = max(bytes, kept)
		case kept > 0 && (all <= 0 || 2*kept >= all):
			if peaks++; peaks == 1 {
				from, low = look.At, kept
			}
			to, low = look.At, min(low, kept)
		default:
			from, low, peaks = 0, 0, 0
		}
	}
	if peaks >= lastingPeaks && to.Sub(from) >= lastingTime {
		bytes = max(bytes, low)
	}
	return bytes
}

// At how many peaks, and for how long, all that a line allocates has to be in use to last.
// Chosen: calls in progress are over by then, also those of a slow client.
const (
	lastingPeaks = 3
	lastingTime  = 2 * time.Second
)

// Allocated is how much a line had allocated in all when the look was taken; 0 where the
// profile does not tell.
func (k *Look) Allocated(at stack.Frame) (sum int64) {
	index, err := k.profile.Index("alloc_space")
	if err != nil {
		return 0
	}
	all := *k.InUse
	all.index = index
	return all.At(at)
}

// Own is what a line itself has in use, and has allocated in all, when the look was taken: not what functions
// of the user below it have. 0 where the profile does not tell.
func (k *Look) Own(at stack.Frame) (kept, allocated int64) {
	own := func(all []*Line) int64 {
		for _, l := range all {
			if l.At.File == at.File && l.At.Line == at.Line {
				return l.Weight
			}
		}
		return 0
	}
	index, err := k.profile.Index("alloc_space")
	if err != nil {
		return own(k.Lines()), 0
	}
	return own(k.Lines()), own(lines(k.profile, index, k.scope))
}

// Course is how much of what a line has allocated was in use at the peaks, in the order of
// time.
func (r *Retention) Course(at stack.Frame) (times []timeline.Time, bytes []int64) {
	for _, look := range r.Looks {
		if look.Peak {
			times, bytes = append(times, look.At), append(bytes, look.InUse.At(at))
		}
	}
	return times, bytes
}
