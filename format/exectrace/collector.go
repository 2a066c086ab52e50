package exectrace

import (
	"slices"
	"strings"

	"loupe/value/stack"
)

// semaphores are the packages whose functions wait at a semaphore of the runtime
// for their callers: locks, and what keeps a file from being closed meanwhile.
var semaphores = []string{"sync", "internal/sync", "internal/poll"}

// IsCollectorWait tells whether a goroutine that waits for the reason "sync"
// waits for the collector: at one of the runtime's own semaphores, below an
// allocation that has to start, help or end a collection. The runtime gives such
// waits the reason of locks; only the stack tells them apart. It begins at the
// leaf, as the frames of the runtime may be left out of a trace: then nothing of
// package sync is above the code that waits.
func IsCollectorWait(t *stack.Table, id stack.ID, reason NameID) bool {
	if reason != NameSync {
		return false
	}
	for _, f := range t.Frames(id) {
		name := t.Frame(f).Func
		pkg := stack.Package(name)
		switch {
		case slices.Contains(semaphores, pkg):
			return false
		case strings.HasPrefix(name, "runtime.gc"), strings.HasPrefix(name, "runtime.mallocgc"), strings.HasPrefix(name, "runtime.GC"):
			return true
		case strings.HasPrefix(name, "sync_runtime_") || strings.Contains(name, "_runtime_Semacquire"):
			return false
		case !stack.IsRuntime(pkg) && pkg != "":
			return true
		}
	}
	return false // nothing tells
}

// CollectorWaits is [IsCollectorWait] for who asks it of many waits, by what it has found
// out of each stack of a table. The zero value is ready for use, by one goroutine.
type CollectorWaits struct {
	known []uint8 // by stack: 0 for not known, 1 for no, 2 for yes
}

// Is tells whether a goroutine that waits for a reason at a stack waits for the collector.
func (c *CollectorWaits) Is(t *stack.Table, id stack.ID, reason NameID) bool {
	if reason != NameSync {
		return false
	}
	if uint(id) < uint(len(c.known)) && c.known[id] > 0 {
		return c.known[id] > 1
	}
	return c.find(t, id)
}

// find finds it out of a stack that comes for the first time.
func (c *CollectorWaits) find(t *stack.Table, id stack.ID) bool {
	if n := int(id) + 1 - len(c.known); n > 0 {
		c.known = append(c.known, make([]uint8, n)...)
	}
	is := IsCollectorWait(t, id, NameSync)
	if c.known[id] = 1; is {
		c.known[id] = 2
	}
	return is
}

// CollectorReason is the name of such a wait in tables.
const CollectorReason = "GC (runtime semaphore)"

// WaitReason is the name of the reason for which a goroutine waits at a stack: that
// of the runtime, but [CollectorReason] for a wait that is the collector's. Whoever
// shows, filters or adds up waits by reason takes it from here.
func (s *symbols) WaitReason(reason NameID, at stack.ID) string {
	return s.Name(s.WaitReasonID(reason, at))
}

// WaitReasonID is the id of [Reader.WaitReason]: [NameCollector] for a wait that is
// the collector's.
func (s *symbols) WaitReasonID(reason NameID, at stack.ID) NameID {
	if IsCollectorWait(s.stacks, at, reason) {
		return NameCollector
	}
	return reason
}
