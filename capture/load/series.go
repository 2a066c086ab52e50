package load

// Series has several runs go on where the one before has ended: with the number of the
// request, which picks targets, lines and rows as well, and with other random values. To a
// process that answers all of them they are one long load; each by itself would send it
// again what it has in its caches since the first. The zero value begins one, which is the
// same each time. Its runs come one after the other.
type Series struct {
	sent   int64  // requests of the runs before, warm-ups included
	runs   uint64 // how many there were
	warmed int64  // requests of the longest warm-up
	skip   int64  // how far behind the beginning of a run at least it begins to be kept, if it has a warm-up
}

// InStep has the next runs of several series send the same: they begin where the one begins that has sent most. Of two
// services that answer at their own pace for a time, the faster one would otherwise have rows and keys that the other
// never gets to. What is kept behind a warm-up begins alike as well, as far as the warm-ups before tell how much one sends.
func InStep(all ...*Series) {
	var most Series
	for _, s := range all {
		most.sent, most.runs = max(most.sent, s.sent), max(most.runs, s.runs)
		most.skip = max(most.skip, s.skip, s.warmed+s.warmed/4)
	}
	for _, s := range all {
		s.sent, s.runs, s.skip = most.sent, most.runs, most.skip
	}
}

// afterWarmUp is the number of the first request behind a warm-up.
func (r *run) afterWarmUp(p *phase) int64 {
	sent := p.claimed()
	if s := r.Series; s != nil {
		s.warmed = max(s.warmed, sent)
		sent = max(sent, s.skip)
	}
	return p.first + sent
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
