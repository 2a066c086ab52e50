package exectrace

// Fill copies the following events to dst, as many as there is room for, and returns
// how many there are: none when [Reader.Next] would return false. All are of one
// generation; whole says that the next one is not of it.
//
// One goroutine may read ahead by Fill while another has the events of the
// calls before, and asks for names and stacks. When a generation is whole, it must be
// done with them before Fill is called again, for that replaces the tables. What a
// reader tells of its current event ([Reader.Message], [Reader.PCs]) it cannot ask for.
func (r *Reader) Fill(dst []Event) (n int, whole bool) {
	out := &r.merge.out
	own := out.ev
	defer func() { out.ev = own }()
	for n < len(dst) && !whole {
		out.ev = &dst[n]
		if !r.Next() {
			return n, true
		}
		n++
		whole = r.merge.exhausted()
	}
	return n, whole
}

// exhausted says that the generation has no more events.
func (m *merger) exhausted() bool {
	return len(m.order.frontier) == 0 && m.out.queued >= len(m.out.queue) && len(m.samples) == 0
}
