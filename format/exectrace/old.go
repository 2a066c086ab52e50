package exectrace

import "fmt"

// openOld indexes a trace in one of the formats before Go 1.22 and works out
// its order. It holds the whole file: everything that events refer to can lie
// anywhere in it.
func (t *Trace) openOld() error {
	data, err := t.data.read(0, t.data.size, nil)
	if err != nil {
		return err
	}
	t.old = &oldTrace{data: data, format: newOldFormat(t.Version), frames: make(map[uint64]oldFrame), timers: make(map[uint64]bool)}
	t.index.gens, t.index.problems.list = nil, nil
	at, wrong := t.old.walk()
	g := &generation{number: 1, start: headerSize, bytes: int64(at - headerSize), complete: wrong == "" && t.old.frequency != 0}
	for _, p := range t.old.procs {
		g.threads = append(g.threads, thread{})
		g.batches += len(p.batches)
	}
	t.index.gens = append(t.index.gens, g)
	if t.opts.Live && !g.complete {
		return nil // the rest of it will come
	}
	t.index.problems.generation = 1
	problem := func(at int, text string) {
		t.index.problems.tell(int64(at), text)
	}
	if wrong != "" {
		problem(at, wrong+t.data.rest(int64(at)))
	}
	if t.old.frequency == 0 {
		problem(len(data), fmt.Sprintf("no clock frequency; taken to be %d ticks a second, so that only the proportions of times are right; most stacks are lost with it", int(defaultTicks)))
	}
	t.old.merge(problem)
	return t.index.problems.err
}
