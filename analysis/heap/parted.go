package heap

// Parted are larger objects without pointers, to which strings and slices alone refer, of which a copy of the parts would not
// free much, or takes away what a program may count on.
type Parted struct {
	// Covered are those of which several parts together cover half or more.
	Covered Total `json:"covered,omitzero"`
	// Parts are what these are covered by, as in [Pinned].
	Parts Total `json:"parts,omitzero"`
	// Roomy are those that a slice begins with, which has all of the room and uses at most a quarter of it:
	// append goes on in the same object. Used is how many bytes are in use of these.
	Roomy Total `json:"roomy,omitzero"`
	Used  int64 `json:"used,omitzero"`
}

// note counts an object, if it is one of these.
func (x *Parted) note(h *Heap, id uint32, s *span) {
	p := h.pinned.of
	if p == nil || !p.set.has(id) {
		return
	}
	r := p.at(id)
	used := min(r.sum, r.high-r.low)
	switch {
	case r.whole || r.parts == 0:
	case r.roomy && pinnedPart*used <= s.elemsize:
		x.Roomy.add(1, s.elemsize)
		x.Used += int64(used)
	case r.parts > 1 && 2*used >= s.elemsize:
		x.Covered.add(1, s.elemsize)
		x.Parts.Count += int64(r.parts)
		x.Parts.Bytes += int64(r.sum)
	}
}
