package store

// RecentIDs are the last IDs that were written, of which an engine has to remember as many as
// [Engine.Write] says: the oldest is forgotten first. The zero value is ready. It is used by one
// goroutine at a time.
type RecentIDs struct {
	set  map[ID]struct{}
	ring []ID
	next int
}

// MostRecentIDs is how many there are at most.
const MostRecentIDs = 100_000

// Has tells whether an ID is among them.
func (r *RecentIDs) Has(id ID) bool {
	_, ok := r.set[id]
	return ok
}

// Add adds IDs that have been written.
func (r *RecentIDs) Add(ids ...ID) {
	if r.set == nil {
		r.set = map[ID]struct{}{}
	}
	for _, id := range ids {
		if r.Has(id) {
			continue
		}
		r.set[id] = struct{}{}
		if len(r.ring) < MostRecentIDs {
			r.ring = append(r.ring, id)
			continue
		}
		delete(r.set, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % len(r.ring)
	}
}
