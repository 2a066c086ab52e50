package insight

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

// leastGain is the part of the CPU time below which nobody notices that it is gone; of a
// line that allocates much for a reason without a name of its own (AL02) it is more. Within
// openGain above it is little unless so few samples tell that it may be much.
// Chosen: a loaded machine changes its mind by as much from one run to the next, and bugs that
// people report cost a quarter and more.
const (
	leastGain   = 0.05
	leastOfMuch = 0.10
	openGain    = 0.05
)

// little tells of what a cause takes that it is below a share, or not known to be well beyond it.
func little(g stats.Interval, least float64) bool {
	return g.Estimate < least || g.Estimate < least+openGain && g.High < 2*(least+openGain)
}

// byWorth makes remarks of warnings about work that costs little, by the CPU profile.
// Shares of what is allocated say nothing of that: nine tenths of next to nothing is next
// to nothing.
func byWorth(in *Input, all []Finding) {
	c := newCausal(in, all)
	ran, alone := runningPart(in)
	alone = alone && byItself(in)
	part := ofSampled(in)
	for _, i := range c.found {
		f := &all[i]
		if !f.saves || !f.Severity.AtLeast(Warning) || f.Rule == wt08.ID { // what a stampede costs is waiting
			continue
		}
		if c.leisure > 0 && ofCPUAlone(f) {
			f.Severity = Info
			f.Doubts = slices.DeleteFunc(f.Doubts, func(d string) bool { return strings.HasPrefix(d, "the program used ") }) // the same, in other words
			f.Doubts = append(f.Doubts, fmt.Sprintf("the program used %s of one CPU, and waited for the rest of the run: less CPU time makes it shorter by that much at most", unit.Percent(c.leisure)))
			continue
		}
		much := f.Rule == "AL02"
		least := leastGain
		if much {
			least = leastOfMuch
		}
		g, ok := c.cpuGain(i)
		switch collecting := collectors(in); {
		case ok && f.waitsInside && little(g, least): // what its calls wait for is no CPU time of their own
			f.Doubts = append(f.Doubts, fmt.Sprintf("its own lines take %s of the CPU time: for most of its time it waits, be it for goroutines that it starts", unit.Percent(g.Estimate)))
		case ok && ofCPUAlone(f) && alone && g.Estimate*ran < leastGain && g.Estimate >= least:
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("the program was running for %s of the trace, and waited for the rest: all of it is %s of the run", unit.Percent(ran), unit.Percent(g.Estimate*ran)))
		case ok && !allocatesMuch(f) && scattered(g) && c.spent.total < enoughOfCPU: // of what is allocated another profile tells
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("%s tell of the CPU time: all of it may take as little as %s", unit.Plural(c.spent.total, "sample"), unit.Percent(g.Low)))
		case ok && part != "" && little(g, least):
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("all of it takes %s of the CPU time%s, including the collector's part; what it takes in the rest of the run is not known", unit.Percent(g.Estimate), part))
		case ok && little(g, least):
			f.Severity = Info
			gain := "there is little to gain"
			if heldAt(in, all, f) { // memory is another question
				gain = "there is little CPU time to gain"
			}
			f.Doubts = append(f.Doubts, fmt.Sprintf("all of it takes %s of the CPU time, including the collector's part: %s", unit.Percent(g.Estimate), gain))
		case !ok && ofAllocating(f) && (allocatesAlone(f) || c.spent != nil && c.spent.total >= enoughOfCPU) && collecting < leastCollecting:
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("the collector takes %s of the busy time, and there are too few CPU samples to show what allocation costs besides: there may be little to gain", unit.Percent(collecting)))
		case !ok && ofAllocating(f) && part != "" && c.spent != nil && c.spent.total > 0:
			f.Doubts = append(f.Doubts, fmt.Sprintf("none of %s%s is of it: what it costs in the rest of the run is not known", unit.Plural(c.spent.total, "sample"), part))
		case !ok && ofAllocating(f) && c.spent != nil && c.spent.total >= enoughOfCPU && little(unseenGain(c, i, collecting), least) && !heldAt(in, all, f):
			f.Severity = Info
			f.Doubts = append(f.Doubts, fmt.Sprintf("none of %s of the CPU is of it, and its part of what the collector takes is %s: there is little to gain", unit.Plural(c.spent.total, "sample"), unit.Percent(unseenGain(c, i, collecting).Estimate)))
		}
	}
}

// unseenGain is the CPU time that a finding about what is allocated may take where no sample is of it: as much as chance may hide,
// and its part of what the collector takes, by the larger of its share of the busy time and its samples.
func unseenGain(c *causal, i int, collecting float64) stats.Interval {
	part := c.bytes[firstLine(&c.all[i])]
	if f := &c.all[i]; allocatesMuch(f) {
		part = f.Impact.Value
	}
	if !(collecting > c.spent.collector) { // NaN where nothing tells
		collecting = c.spent.collector
	}
	return raised(stats.Wilson(0, float64(c.spent.total), compare.Confidence), collecting*part)
}

// heldMuch is the live heap from which on a line that has most of it counts although it takes no time. Chosen: a Go program
// that does little has less.
const heldMuch = 32 << 20

// heldAt tells of a finding that its line has most of a large live heap, which costs memory whatever it takes of the CPU time.
func heldAt(in *Input, all []Finding, f *Finding) bool {
	kept, err := in.Facts.Kept()
	return slices.ContainsFunc(all, func(o Finding) bool {
		at := firstLine(f)
		return o.Rule == gc16.ID && o.State == Found && at != "" && (firstLine(&o) == at || o.Title == headTitle && shows(&o, at)) &&
			(o.Severity.AtLeast(Warning) || err == nil && float64(kept.Bytes) >= heldMuch)
	})
}

// ofAllocating tells of a finding that it is about a share of what is allocated, whose cost is that of allocating and
// collecting.
func ofAllocating(f *Finding) bool {
	return strings.HasPrefix(f.Rule, "AL") && f.Impact != nil && strings.HasPrefix(f.Impact.Unit, "share of allocated ")
}

// allocatesAlone tells of such a finding that its lines cost nothing else: what others know of, as formatting, takes time
// besides.
func allocatesAlone(f *Finding) bool {
	return f.Rule == al02.ID || len(f.costs) > 0 && !slices.ContainsFunc(f.costs, func(c cost) bool { return !c.allocating })
}

// scattered tells of what a cause takes that so few samples are of it that it may as well be little: below a tenth, and a
// third of what it may be at most.
func scattered(g stats.Interval) bool { return g.Low < leastOfMuch && g.High > 3*g.Low }

// littleCPU is the part of one CPU below which a program that runs by itself waits for most of the run, and mostRunning
// the part of a trace in which its goroutines may run for that: where they run for longer the program had to wait for a
// CPU, beside others. Chosen: with no CPU time at all the run would be shorter by a fifth.
const (
	littleCPU   = 0.20
	mostRunning = 0.40
)

// leisureOf is the part of one CPU that the program used, where it ran by itself, without anybody who waits for each answer,
// and spent most of the run waiting for something else than a CPU; else 0.
func leisureOf(in *Input, s *spent) float64 {
	if s == nil || s.cpus <= 0 || s.cpus >= littleCPU || !byItself(in) {
		return 0
	}
	ran, ok := runningPart(in)
	if ok && ran >= mostRunning || !ok && in.Facts.Noise().Full() {
		return 0
	}
	return s.cpus
}

// byItself tells of a program that it ran to its end without a load.
func byItself(in *Input) bool {
	m := in.Session.Manifest()
	return len(m.Of(recording.Load)) == 0 && slices.ContainsFunc(m.Target.Runs, func(r recording.Run) bool { return r.Exit != "" && !r.Stopped })
}

// runningPart is the part of the trace in which any goroutine of the program was running, be it that its thread waited for a CPU.
func runningPart(in *Input) (part float64, ok bool) {
	t := traceIfAny(in)
	if t == nil || t.Parallel.Procs == 0 || t.Length() <= 0 {
		return 0, false
	}
	ran := time.Duration(0)
	for _, d := range t.Parallel.Running[min(1, len(t.Parallel.Running)):] {
		ran += d
	}
	return ran.Seconds() / t.Length().Seconds(), true
}

// besideCPU are rules about work whose time is not CPU time alone: it waits for the kernel, for processes, for files.
var besideCPU = []string{"CP04", "CP15", "CP18", "CP21", "CP22"}

// ofCPUAlone tells of a finding that less CPU time is all that is to be had.
func ofCPUAlone(f *Finding) bool {
	return family(f.Rule) == "work" && !slices.Contains(besideCPU, f.Rule) && !f.more && f.felt == 0 && len(f.waits) == 0
}

// leastCollecting is the share of the busy time below which the collector is no reason to
// allocate less. Chosen: rule GC03 speaks of more.
const leastCollecting = 0.02

// collectors is the collector's share of the busy time, in the bare phase in which it took most;
// NaN where nothing tells.
func collectors(in *Input) float64 {
	most := math.NaN()
	for i := range in.Facts.Rounds {
		if share, _ := gcShare(in, &in.Facts.Rounds[i]); !(share <= most) && !math.IsNaN(share) {
			most = share
		}
	}
	return most
}
