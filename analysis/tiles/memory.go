package tiles

// shedder keeps a builder within its memory.
type shedder struct {
	next int64 // events: when to look again
	rung int   // how much was given up
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

// check gives up what comes next as long as there is more than the memory that is
// allowed, after so many events; 0 is any. To look costs some nanoseconds for each living goroutine.
func (s *shedder) check(events int64, l *lanes, memory int64) {
	slots := int64(len(l.lives.pages)) * lifePage
	s.next = events + max(checkEvery, 4*slots)
	for memory > 0 && s.rung < rungProcSpans && l.size() > memory {
		s.rung++
		if fewer := fewestSpans[s.rung]; fewer != l.ended.short.fewer {
			l.ended.short.leaveOut(fewer)
		}
		s.drop(l)
	}
	s.drop(l)
}

// drop drops the spans that the rung allows no more.
func (s *shedder) drop(l *lanes) {
	if s.rung >= rungGoroutineSpans {
		l.lives.each(func(g *life) { g.drop() })
		for _, l := range l.ended.long {
			l.drop()
		}
	}
	if s.rung >= rungProcSpans {
		l.machines.each(func(c *column, _ Kind, _ int64) { c.drop() })
	}
}
