package exectrace

import (
	"cmp"
	"fmt"
	"slices"

	"loupe/value/timeline"
)

// sample is one sample of the CPU profiler.
type sample struct {
	time  timeline.Time
	m     ThreadID
	p     ProcID
	g     GoID
	stack uint64
}

// samples are those of a generation that are still to come, by time.
type samples []sample

// first returns the time of the first one.
func (s samples) first() timeline.Time {
	if len(s) == 0 {
		return maxTime
	}
	return s[0].time
}

// read reads the samples of a generation and sorts them.
func (s *samples) read(g *generation, data []byte, c clock, p *problems) {
	*s = (*s)[:0]
	for _, b := range g.samples {
		d := g.slice(data, b)
		for i := 1; i < len(d); {
			if d[i] != evCPUSample {
				p.tell(b.offset+int64(i), fmt.Sprintf("a CPU sample should begin here, but the byte is %#02x", d[i]))
				break
			}
			var f [5]uint64
			at := i
			i++
			for k := range f {
				f[k], i = uvarint(d, i)
			}
			if i == bad {
				p.tell(b.offset+int64(at), "a CPU sample is cut")
				break
			}
			one := sample{time: c.ns(f[0]), m: ThreadID(f[1]), p: NoProc, g: GoID(f[3]), stack: f[4]}
			if f[2] < maxProcs {
				one.p = ProcID(f[2])
			}
			if f[3] == 0 {
				one.g = NoGoroutine
			}
			*s = append(*s, one)
		}
	}
	slices.SortFunc(*s, func(a, b sample) int { return cmp.Compare(a.time, b.time) })
}
