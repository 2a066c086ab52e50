package tiles

import "loupe/exectrace"

// shedder keeps a builder within its memory.
type shedder struct {
	events, next int64 // when to look again
	rung         int   // how much was given up
}

// checkEvery is how many events lie between two looks at the memory, at least.
const checkEvery = 1 << 18

// What is given up on each rung: the lanes of goroutines with fewer spans than
// that, but on two of them the spans of lanes with a pyramid.
var fewestSpans = [...]int{0, 16, 64, rungGoroutineSpans: 64, 256, 1024, promoteAt, rungProcSpans: promoteAt}

const (
	rungGoroutineSpans = 3
	rungProcSpans      = 7
)

// checkMemory gives up what comes next as long as there is too much. To look
// costs some nanoseconds for each living goroutine.
func (b *Builder) checkMemory() {
	slots := int64(len(b.lives.pages)) * lifePage
	b.shed.next = b.shed.events + max(checkEvery, 4*slots)
	for b.opts.Memory > 0 && b.shed.rung < rungProcSpans && b.size() > b.opts.Memory {
		b.shed.rung++
		if fewer := fewestSpans[b.shed.rung]; fewer != b.short.fewer {
			b.short.leaveOut(fewer)
		}
		b.dropSpans()
	}
	b.dropSpans()
}

// dropSpans drops the spans that the rung allows no more.
func (b *Builder) dropSpans() {
	if b.shed.rung >= rungGoroutineSpans {
		b.eachLife(func(g *life) { g.drop() })
		for _, l := range b.long {
			l.drop()
		}
	}
	if b.shed.rung >= rungProcSpans {
		for _, p := range b.procs {
			if p != nil {
				p.drop()
			}
		}
		for _, m := range b.threads {
			m.drop()
		}
	}
}

// eachLife visits the living goroutines.
func (b *Builder) eachLife(visit func(*life)) {
	for _, page := range b.lives.pages {
		for i := range page {
			if page[i].state != exectrace.Undetermined {
				visit(&page[i])
			}
		}
	}
}

// size returns the bytes of what the set will have.
func (b *Builder) size() int64 {
	n := int64(b.short.bytes())
	b.eachLife(func(g *life) {
		if g.more != nil {
			n += g.size()
		}
	})
	for _, l := range b.long {
		n += l.size()
	}
	for _, p := range b.procs {
		if p != nil {
			n += p.size()
		}
	}
	for _, m := range b.threads {
		n += m.size()
	}
	for _, c := range b.groups {
		n += c.pyramid.size()
	}
	for _, c := range b.counters() {
		n += c.pyramid.size()
	}
	for i := range b.states.pyramids {
		n += b.states.pyramids[i].size()
	}
	return n + b.latency.pyramid.size() + b.gc.size()
}
