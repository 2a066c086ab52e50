// Package bench measures benchmarks and commands in rounds that take turns. A benchmark
// runs in a process of its own, with a number of operations that is the same in every
// round, and all that are compared follow each other in an order that is drawn anew for
// each round: what happens to the machine meanwhile happens to all of them alike.
//
// It measures and keeps; what the figures come to is said by package compare.
package bench

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/value/stats"
)

// Value is one figure of a result.
type Value struct {
	Unit   string  `json:"unit"`
	Number float64 `json:"value"`
}

// Noise is what else went on while something was measured.
type Noise struct {
	// Other is how many CPUs others used on average, Steal how many the hypervisor
	// gave to other machines; Load is the load average of a minute.
	Other float64 `json:"other_cpus"`
	Steal float64 `json:"steal_cpus"`
	Load  float64 `json:"load"`
	// Throttled is for how long the control group was kept from running.
	Throttled time.Duration `json:"throttled_ns,omitempty"`
}

// Result is one run of a case on a side.
type Result struct {
	// Round counts from 1; Order is the place of the run in its round's block, from 1.
	Round      int     `json:"round"`
	Order      int     `json:"order"`
	Iterations int64   `json:"iterations"`
	Values     []Value `json:"values"`
	Noise      Noise   `json:"noise"`
}

// Value is a figure by its unit.
func (r *Result) Value(unit string) (number float64, ok bool) {
	for _, v := range r.Values {
		if v.Unit == unit {
			return v.Number, true
		}
	}
	return 0, false
}

// Case is one thing that is measured: a benchmark, or a command with parameters.
type Case struct {
	// Package is its import path, "" of a command. Name is as Go's benchmark format has
	// it, with the number of Ps behind it. Config are the lines about its machine that
	// the test binary prints: "goos: linux".
	Package, Name string
	Config        []string
	// Sides are what is compared: one, or several, of which the first is the base.
	Sides []Side
	// Failed is why it is not measured any further.
	Failed error
	// Stopped tells that it was decided before the last round.
	Stopped bool
	mean    time.Duration // of one round of it
	order   stats.Order   // of its sides
}

// Side is a way to run a case, and what came of it.
type Side struct {
	run     func(ctx context.Context) (Result, error)
	at      *place // of a benchmark
	Results []Result
}

// place is where a benchmark is, and how it is run.
type place struct {
	pkg   *Package
	found found
	times int64 // operations in a round, 0 where that is not known
}

// Rounds is how many rounds a case has, of all of its sides.
func (c *Case) Rounds() int {
	n := len(c.Sides[0].Results)
	for _, s := range c.Sides {
		n = min(n, len(s.Results))
	}
	return n
}

// Procs is the GOMAXPROCS of a benchmark; 0 of a command.
func (c *Case) Procs() int {
	at := c.Sides[0].at
	if at == nil {
		return 0
	}
	suffix := strings.TrimPrefix(at.found.printed, at.found.name)
	if n, err := strconv.Atoi(strings.TrimPrefix(suffix, "-")); err == nil {
		return n
	}
	return 1 // package testing leaves it out
}

// Plan says how long is measured.
type Plan struct {
	// Rounds are taken at most. The first of them are taken whatever Budget says,
	// which bounds the time of all; 0 does not.
	Rounds int
	Budget time.Duration
	// Decided is asked after each round that Look names, and tells that a case needs no
	// more; nil asks nobody.
	Look    func(round int) bool
	Decided func(c *Case) bool
	// Done is told of each case that has had a round: what it returned last is in its
	// sides. An error ends all.
	Done func(c *Case) error
	// Progress is told what happens.
	Progress func(format string, args ...any)
	// Order draws the orders.
	Order stats.Order
}

// Measure measures the cases in rounds, until the plan's rounds are over, all is decided, or
// ctx ends. What is measured stays in the cases; a run that ctx has ended is not kept, nor is a
// round of which not all sides have come. An error is that of ctx, or of Done.
func Measure(ctx context.Context, plan Plan, cases []*Case) error {
	start := time.Now()
	for i, c := range cases {
		c.order = stats.Order{Seed: plan.Order.Seed + uint64(i) + 1}
	}
	for round := 1; round <= plan.Rounds; round++ {
		live := alive(cases)
		if len(live) == 0 {
			return nil
		}
		expected := time.Duration(0)
		for _, c := range live {
			expected += c.mean
		}
		if spent := time.Since(start); round > 1 && plan.Budget > 0 && spent+expected > plan.Budget {
			plan.Progress("the time budget of %v is spent after %d of %d rounds", plan.Budget, round-1, plan.Rounds)
			return nil
		}
		plan.tell(round, len(live), time.Since(start), expected)
		for _, i := range plan.Order.Block(round, len(live)) {
			if err := plan.block(ctx, live[i], round); err != nil {
				return err
			}
		}
		if plan.Decided == nil || !plan.Look(round) {
			continue
		}
		for _, c := range alive(cases) {
			c.Stopped = plan.Decided(c)
		}
	}
	return nil
}

// alive are the cases that are still measured.
func alive(cases []*Case) (live []*Case) {
	for _, c := range cases {
		if c.Failed == nil && !c.Stopped {
			live = append(live, c)
		}
	}
	return live
}

// tell says which round begins.
func (p *Plan) tell(round, live int, spent, expected time.Duration) {
	left := expected * time.Duration(p.Rounds-round+1)
	if p.Budget > 0 {
		left = min(left, p.Budget-spent)
	}
	if round == 1 {
		p.Progress("round 1 of at most %d: %d to measure", p.Rounds, live)
		return
	}
	p.Progress("round %d of at most %d: %d to measure, at most %v left", round, p.Rounds, live, left.Round(time.Second))
}

// block runs all sides of a case once, in an order that is drawn.
func (p *Plan) block(ctx context.Context, c *Case, round int) error {
	start := time.Now()
	results := make([]Result, len(c.Sides))
	for place, i := range c.order.Block(round, len(c.Sides)) {
		r, err := c.Sides[i].run(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.Failed = fmt.Errorf("round %d: %w", round, err)
			p.Progress("%s failed and is left out from here on", c.Name)
			return nil
		}
		r.Round, r.Order = round, place+1
		results[i] = r
	}
	for i := range c.Sides {
		c.Sides[i].Results = append(c.Sides[i].Results, results[i])
	}
	took := time.Since(start)
	c.mean += (took - c.mean) / time.Duration(round)
	if p.Done == nil {
		return nil
	}
	return p.Done(c)
}

// noiseOf is what went on around a run.
func noiseOf(r collect.Ran) Noise {
	n := Noise{Load: r.After.Load, Throttled: r.After.Throttled - r.Before.Throttled}
	if wall := r.Wall.Seconds(); wall > 0 {
		ours := r.User + r.System + r.After.Self - r.Before.Self
		n.Other = max(0, (r.After.Busy-r.Before.Busy-ours).Seconds()/wall)
		n.Steal = max(0, (r.After.Steal-r.Before.Steal).Seconds()/wall)
	}
	return n
}
