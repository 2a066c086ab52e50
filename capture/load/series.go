package load

// Series has several runs go on where the one before has ended: with the number of the
// request, which picks targets, lines and rows as well, and with other random values. To a
// process that answers all of them they are one long load; each by itself would send it
// again what it has in its caches since the first. The zero value begins one, which is the
// same each time. Its runs come one after the other.
type Series struct {
	sent int64  // requests of the runs before, warm-ups included
	runs uint64 // how many there were
}

// add counts a run that has sent so many requests.
func (s *Series) add(sent int64) {
	s.sent += sent
	s.runs++
}

// begins is the number of the run's first request.
func (r *run) begins() int64 {
	if r.Series == nil {
		return 0
	}
	return r.Series.sent
}

// stream is the seed of the random values of a thread: each thread, each run of a series and
// each Seed has its own.
func (r *run) stream(thread uint64) uint64 {
	seed := mixed(r.Seed)
	if r.Series != nil && r.Series.runs > 0 { // the first is as one by itself
		seed = mixed(seed ^ r.Series.runs)
	}
	return seed + thread
}

// mixed spreads a number over all bits (the finalizer of SplitMix64), 0 staying 0.
func mixed(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// claimed is how many numbers of requests the phase has handed out.
func (p *phase) claimed() int64 { return min(p.taken.Load(), p.limit) }
