// Package holders says what holds the memory of a program: it reads the core that a
// recording has of it (phase core) with the program that was kept beside it, and asks its
// heap where memory piles up. Which line has allocated it no core says; [Held.OfSizes] says
// how much of it can only be, or may be, held by each.
package holders

import (
	"fmt"
	"slices"

	"loupe/analysis/heap"
	"loupe/analysis/postmortem"
	"loupe/recording"
	"loupe/session"
)

// Held is what holds memory in a core.
type Held struct {
	heap.Keeping
	// Entry is the core.
	Entry recording.Entry
	// Missing is how many bytes of the heap the core does not have, and Damaged how many
	// spans of it could not be read.
	Missing int64
	Damaged int
}

// What is told of, chosen: a keeper has leastShare of what is reached, and least bytes.
const (
	leastShare = 0.05
	least      = 1 << 20
)

// Of reads the core of a recording, once. The error wraps [session.ErrNone] where there is
// no core.
func Of(s *session.Session) (*Held, error) {
	return session.Computed(s, "holders", read)
}

func read(s *session.Session) (*Held, error) {
	m := s.Manifest()
	entry, ok := m.Main(recording.Core)
	if !ok {
		return nil, fmt.Errorf("a core (record with -phases core): %w", session.ErrNone)
	}
	i := slices.IndexFunc(m.Entries, func(e recording.Entry) bool {
		return e.Kind == recording.Program && e.Phase == entry.Phase && e.Run == entry.Run
	})
	if i < 0 {
		return nil, fmt.Errorf("cannot read %s: its program is not in the recording", entry.Path)
	}
	c, err := join(s, entry, m.Entries[i])
	if err != nil {
		return nil, err
	}
	if c.Identity == postmortem.OtherBuild {
		return nil, fmt.Errorf("cannot read %s: it is from a different build than %s", entry.Path, m.Entries[i].Path)
	}
	h, err := c.Heap(func(float64) error { return s.Context().Err() })
	if err != nil {
		return nil, err
	}
	g, err := h.Graph()
	if err != nil {
		return nil, fmt.Errorf("cannot read the heap of %s: %w", entry.Path, err)
	}
	k, err := heap.Keepers(g, max(least, int64(leastShare*float64(h.Totals().Reached.Bytes))))
	if err != nil {
		return nil, fmt.Errorf("cannot read the heap of %s: %w", entry.Path, err)
	}
	return &Held{*k, entry, h.Missing, h.Damaged}, nil
}

// join puts a core and its program together.
func join(s *session.Session, entry, program recording.Entry) (*postmortem.Core, error) {
	data, size, err := session.ReaderAt(s, entry.Path)
	if err != nil {
		return nil, err
	}
	image, _, err := session.ReaderAt(s, program.Path)
	if err != nil {
		return nil, err
	}
	c, err := postmortem.Read(entry.Path, data, size, program.Path, image)
	if err == nil && c.File.Cut > 0 {
		return nil, fmt.Errorf("cannot read %s: its end is missing", entry.Path)
	}
	return c, err
}

// Share is a keeper's part of something.
type Share struct {
	*heap.Keeper
	// Low and High bound the bytes: objects of one size may be its own or another's.
	Low, High int64
}

// OfSizes says how much of some objects each keeper holds, the one that is sure of most
// first. The objects are given by their bytes by size, as of a line in a heap profile of the
// same moment. Of objects of one size the core has so many bytes in all, and the keeper so
// many: what is more than others can have is sure to be its own.
//
// Note: A profile is an estimate, and so are the bounds that come of it.
func (h *Held) OfSizes(sizes map[int64]int64) (all []Share) {
	for i := range h.Keepers {
		k := &h.Keepers[i]
		x := Share{Keeper: k}
		for size, bytes := range sizes {
			total := h.Sizes[size]
			bytes = min(bytes, total)
			x.Low += max(0, bytes+k.Sizes[size]-total)
			x.High += min(bytes, k.Sizes[size])
		}
		if x.High > 0 {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(a, b Share) int { return int(max(-1, min(1, b.Low-a.Low))) })
	return all
}
