package profile

// left is how many bytes there may be behind the field at hand.
func (in *input) left() int64 { return max(0, in.total-in.base-int64(in.top.Next)) }

// room returns how much room to make for what has grown to n, judging by how
// much has been read. Room that is not used is not touched and costs no memory,
// but growing leaves garbage.
func (in *input) room(n int) int {
	seen, left := float64(in.base)+float64(in.top.At), float64(in.left())
	switch {
	case n < 64:
		return n + 8 + min(64, int(in.total/64))
	case left == 0 || seen == 0:
		return n + n/2
	case seen < min(1<<17, float64(in.total)/8):
		return 2 * n // too early to tell
	}
	// Half as much again: what samples refer to comes before them, so that there
	// are fewer of them to the byte in the beginning.
	return n + n/16 + 16 + int(1.5*float64(n)*left/seen)
}

// likely is how many there will be of what there are n, rather too few: a table
// of hashes that is too large costs memory, and one too small a step more.
func (in *input) likely(n int) int {
	seen := float64(in.base) + float64(in.top.At)
	if seen < 1<<20 {
		return n
	}
	return n + int(0.7*float64(n)*float64(in.left())/seen)
}
