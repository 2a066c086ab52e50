package load

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"loupe/capture/load/internal/content"
	"loupe/format/loadlog"
)

// An answer that is made anew for each request, and is as before, could be kept. So that the log can
// say so, each lane compares an answer now and then with the one that it looked at before, if the requests were the same to
// the byte.

const (
	// lookEvery is the least time between two answers that a lane looks at: one takes up to a millisecond.
	lookEvery = 250 * time.Millisecond
	// likenessTargets is how many targets a lane compares.
	likenessTargets = 8
)

// likeness compares the answers of one lane. Whoever calls it holds the lane; but for due and Take, which
// the one call that is looked at may use.
type likeness struct {
	next    atomic.Int64 // no answer is looked at before this instant
	of      *call        // whose answer is looked at; nil for none
	reader  content.Reader
	targets []*likeTarget
}

// likeTarget is what is known of the answers to one target.
type likeTarget struct {
	loadlog.Likeness
	first, last []content.Chunk
	firstAt     int64
}

// due tells whether an answer may be looked at.
func (k *likeness) due(now int64) bool { return now >= k.next.Load() }

// begin looks at the answer to a call that is about to be sent, unless another one is looked at.
func (k *likeness) begin(c *call, now int64) {
	if k.of != nil || !k.due(now) || c.m.varies() {
		return
	}
	if len(k.targets) == likenessTargets && !slices.ContainsFunc(k.targets, func(t *likeTarget) bool { return int(t.Target) == c.target }) {
		return
	}
	k.next.Store(now + int64(lookEvery))
	k.of, c.look = c, &k.reader
}

// end keeps what a call's answer has in common with those before it.
func (k *likeness) end(c *call, ok bool) {
	if k.of != c {
		return
	}
	k.of, c.look = nil, nil
	if !ok || c.status != 200 {
		return
	}
	chunks := k.reader.End()
	i := slices.IndexFunc(k.targets, func(t *likeTarget) bool { return int(t.Target) == c.target })
	if i < 0 {
		first := slices.Clone(chunks)
		k.targets = append(k.targets, &likeTarget{Likeness: loadlog.Likeness{Target: uint16(c.target)}, first: first, last: slices.Clone(first), firstAt: c.sent})
		return
	}
	t := k.targets[i]
	t.Compared++
	same, all := content.Compare(t.last, chunks)
	t.Same, t.Bytes = t.Same+same, t.Bytes+all
	t.SameAsFirst, t.LastBytes = content.Compare(t.first, chunks)
	t.Between = time.Duration(c.sent - t.firstAt)
	t.last = append(t.last[:0], chunks...)
}

// likenesses joins what the lanes have seen of each target, in the order of the targets.
func likenesses(lanes []*lane) (all []loadlog.Likeness) {
	for _, l := range lanes {
		for _, t := range l.like.targets {
			if t.Compared == 0 {
				continue
			}
			i := slices.IndexFunc(all, func(k loadlog.Likeness) bool { return k.Target == t.Target })
			if i < 0 {
				all = append(all, t.Likeness)
				continue
			}
			all[i].Join(t.Likeness)
		}
	}
	slices.SortFunc(all, func(a, b loadlog.Likeness) int { return cmp.Compare(a.Target, b.Target) })
	return all
}
