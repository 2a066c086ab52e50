package sched

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Block is one place at which goroutines waited for one reason.
type Block struct {
	State  exectrace.State // Waiting or Syscall
	Reason exectrace.NameID
	Stack  stack.ID
	Wait   Histogram
	// Wakers are the places from which the waits were ended, most frequent
	// first; NoStack stands for the runtime: poller, timers, other threads.
	Wakers []Waker
	// Alternating counts the wake-ups of a goroutine by the one that it had
	// woken itself last: two that play ping-pong.
	Alternating int64
	// Worst is the longest wait.
	Worst Interval

	next *Block // of the same stack: few have more than one reason
}

// Waker is a place from which goroutines at a Block were woken.
type Waker struct {
	Stack stack.ID
	Count int64
	Time  time.Duration // waited for it
}

// maxWakers bounds the wakers of one block; the rest is counted as the
// runtime's.
const maxWakers = 16

// blockTable finds the block of a stack and reason.
type blockTable struct {
	byStack []*Block // by stack id
	all     []*Block
}

// get returns the block of a stack, a reason and a state.
func (b *blockTable) get(id stack.ID, why exectrace.NameID, state exectrace.State) *Block {
	if int(id) < len(b.byStack) {
		for k := b.byStack[id]; k != nil; k = k.next {
			if k.Reason == why && k.State == state {
				return k
			}
		}
	}
	for len(b.byStack) <= int(id) {
		b.byStack = append(b.byStack, nil)
	}
	k := &Block{State: state, Reason: why, Stack: id, next: b.byStack[id]}
	b.byStack[id] = k
	b.all = append(b.all, k)
	return k
}

// add counts a wait of a goroutine, which was ended by waker at a stack, and tells whether
// it is the longest. A nil waker is the runtime.
func (k *Block) add(d time.Duration, by stack.ID, g exectrace.GoID, waker *track) (worst bool) {
	k.Wait.Add(d)
	if waker == nil {
		by = 0
	} else if waker.lastWaker == g {
		k.Alternating++
	}
	k.woken(by, d)
	return d >= k.Worst.Len()
}

func (k *Block) woken(by stack.ID, d time.Duration) {
	for i := range k.Wakers {
		if w := &k.Wakers[i]; w.Stack == by {
			w.Count++
			w.Time += d
			if i > 0 && w.Count > k.Wakers[0].Count { // the usual one comes first
				k.Wakers[0], *w = *w, k.Wakers[0]
			}
			return
		}
	}
	if len(k.Wakers) >= maxWakers {
		if by != 0 {
			k.woken(0, d)
			return
		}
	}
	k.Wakers = append(k.Wakers, Waker{by, 1, d})
}

// sorted returns all blocks, longest total first.
func (b *blockTable) sorted() []*Block {
	slices.SortFunc(b.all, func(x, y *Block) int {
		return cmp.Or(cmp.Compare(y.Wait.Sum, x.Wait.Sum), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.Reason, y.Reason))
	})
	for _, k := range b.all {
		slices.SortFunc(k.Wakers, func(x, y Waker) int {
			return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Stack, y.Stack))
		})
	}
	return b.all
}

// isSyncReason says whether a reason of waiting is a channel, a select or a
// lock, as cmd/trace tells them apart (pprof.go, computePprofBlock).
func isSyncReason(reason string) bool {
	return strings.Contains(reason, "chan") || strings.Contains(reason, "sync") || strings.Contains(reason, "select")
}

// Left is a set of goroutines that the end of the trace found in one place.
type Left struct {
	Name    exectrace.NameID
	State   exectrace.State
	Reason  exectrace.NameID
	Stack   stack.ID
	Count   int64
	Created int64         // of them within the trace
	Longest time.Duration // in that state
	// Wait is how long each of them had been there.
	Wait Histogram
	// Quarters counts in which quarter of the trace they came there.
	Quarters [4]int64
	// Example is the one that had been there for longest.
	Example exectrace.GoID
	// Creator and Origin are the go statements that led to one that was made within the
	// trace, 0 where none was: its own, and that of the goroutine with it.
	Creator, Origin stack.ID
	// Makers are the go statements that led to all of those, with how many each; more than
	// maxWakers are left out.
	Makers []Maker
}

// Maker is the go statement that goroutines were made by, and that of the goroutine with it.
type Maker struct {
	Creator, Origin stack.ID
	Count           int64
}

// made counts the go statements that a goroutine was made by.
func (l *Left) made(b begun) {
	for i := range l.Makers {
		if m := &l.Makers[i]; m.Creator == b.creator && m.Origin == b.origin {
			m.Count++
			return
		}
	}
	if len(l.Makers) < maxWakers {
		l.Makers = append(l.Makers, Maker{b.creator, b.origin, 1})
	}
}

type leftKey struct {
	name, reason exectrace.NameID
	state        exectrace.State
	stack        stack.ID
}

// Block is the waits that have not ended as a place at which goroutines waited, up to
// the end of the trace. Nobody has woken them.
func (l *Left) Block(end timeline.Time) *Block {
	return &Block{State: l.State, Reason: l.Reason, Stack: l.Stack, Wait: l.Wait, Worst: Interval{
		G: l.Example, Name: l.Name, State: l.State, Reason: l.Reason, Stack: l.Stack,
		Start: end.Add(-l.Longest), End: end, P: exectrace.NoProc, By: exectrace.NoGoroutine,
	}}
}

// leftForever is a goroutine that waits for what never comes, such as a select without
// cases. It is as good as dead for the figures of its life, and a leak all the same.
type leftForever struct {
	leftKey
	begun
	since timeline.Time
}

// begun is a goroutine, with the go statements that led to it.
type begun struct {
	id              exectrace.GoID
	creator, origin stack.ID
}

// leftBehind are the goroutines that have not ended, by where they are.
type leftBehind map[leftKey]*Left

// found counts a goroutine that the end of the trace found in one place, where it had
// been since an instant; for long says how much of that counts.
func (s leftBehind) found(k leftKey, b begun, since timeline.Time, long time.Duration, trace timeline.Span) {
	l := s[k]
	if l == nil {
		l = &Left{Name: k.name, Reason: k.reason, State: k.state, Stack: k.stack, Example: b.id}
		s[k] = l
	}
	l.Count++
	l.Wait.Add(long)
	if b.creator != 0 {
		l.Created++
		l.made(b)
	}
	if span := trace.End - trace.Start; span > 0 {
		l.Quarters[min(3, max(0, 4*(since-trace.Start)/span))]++
	}
	if long > l.Longest {
		l.Longest, l.Example = long, b.id
	}
	if b.creator != 0 && l.Creator == 0 {
		l.Creator, l.Origin = b.creator, b.origin
	}
}
