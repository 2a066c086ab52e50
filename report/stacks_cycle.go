package report

import (
	"fmt"
	"slices"
	"strings"

	"loupe/format/dump"
	"loupe/value/stack"
	"loupe/value/unit"
)

// maxCycle is how many steps of a cycle are told.
const maxCycle = 8

// cycleText says in sentences who waits for whom.
func cycleText(f *dump.File, c *dump.Cycle) string {
	text := "Likely deadlock"
	if c.Proven {
		text = "Deadlock"
	}
	var steps []string
	for i, e := range c.Edges {
		if i == maxCycle {
			steps = append(steps, fmt.Sprintf("and %d more steps", len(c.Edges)-i))
			break
		}
		steps = append(steps, edgeText(f, &e))
	}
	text += ": " + strings.Join(steps, "; ") + "."
	if n := c.Stuck - int64(len(c.Edges)); n > 0 {
		text += " " + unit.Count(n) + " more wait for the same."
	}
	if c.MaxWait > 0 {
		text += " The longest has waited for " + waitText(c.MaxWait) + "."
	}
	if c.Proven {
		from := "the addresses in their stacks"
		if slices.ContainsFunc(c.Edges, func(e dump.WaitEdge) bool { return e.Grip == dump.GripType }) {
			from = "the addresses and methods in their stacks"
		}
		return text + " The runtime found that none of them can continue; who holds what is inferred from " + from + "."
	}
	return text + " That they wait is a fact; who holds what is inferred from the addresses in their stacks, since no other goroutine in the dump has them. A second dump in which the same goroutines wait proves it."
}

// edgeText says for what one goroutine waits, and who may hold it.
func edgeText(f *dump.File, e *dump.WaitEdge) string {
	text := fmt.Sprintf("goroutine %d waits for ", f.IDs[e.Waiter])
	switch state := f.State(e.Waiter).Name; {
	case strings.HasPrefix(state, "chan "):
		text += "the channel"
	case strings.HasPrefix(state, "sync.WaitGroup"):
		text += "the WaitGroup"
	case strings.HasPrefix(state, "sync.Cond"):
		text += "the Cond"
	case strings.HasPrefix(state, "sync.RWMutex.R"):
		text += "the read lock"
	case strings.HasPrefix(state, "sync.RWMutex"):
		text += "the write lock"
	default:
		text += "the lock"
	}
	switch {
	case e.Lock != 0:
		text += fmt.Sprintf(" %#x", e.Lock)
	case e.Owner != 0:
		text += fmt.Sprintf(" in the struct at %#x", e.Owner)
	}
	text += " in " + place(e.Caller, e.File, e.Line) + ", "
	through := clean(stack.Short(e.Through))
	switch {
	case e.Grip == dump.GripWriter:
		return text + fmt.Sprintf("behind the writer goroutine %d", f.IDs[e.Holder])
	case e.Holder == e.Waiter:
		return text + fmt.Sprintf("which it may hold itself, if %s has taken it before", through)
	case e.Grip == dump.GripType:
		return text + fmt.Sprintf("which goroutine %d may hold (it alone is in a method of the same type, %s, whose receiver is not shown)", f.IDs[e.Holder], through)
	case strings.HasPrefix(f.State(e.Waiter).Name, "sync.Mutex") || strings.HasPrefix(f.State(e.Waiter).Name, "sync.RWMutex") || strings.HasPrefix(f.State(e.Waiter).Name, "semacquire"):
		return text + fmt.Sprintf("which goroutine %d may hold (%s has it)", f.IDs[e.Holder], through)
	}
	return text + fmt.Sprintf("which goroutine %d may serve (%s has it)", f.IDs[e.Holder], through)
}
