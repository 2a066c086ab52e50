package inflate

// Raw unpacks what has neither a header nor a trailer, and tells how many bytes it took.
func Raw(dst, src []byte) (content []byte, used int, ok bool) {
	s := &state{in: src}
	n, ok := s.blocks(dst[:cap(dst)])
	return dst[:n], s.pos - int(s.n/8), ok
}
