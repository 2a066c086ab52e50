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
	t.gens, t.problems = nil, nil
	at, wrong := t.old.walk()
	g := &generation{number: 1, start: headerSize, bytes: int64(at - headerSize), complete: wrong == "" && t.old.frequency != 0}
	for _, p := range t.old.procs {
		g.threads = append(g.threads, thread{})
		g.batches += len(p.batches)
	}
	t.gens = append(t.gens, g)
	if t.opts.Live && !g.complete {
		return nil // the rest of it will come
	}
	problem := func(at int, text string) {
		if err == nil {
			err = t.problem(&Problem{Offset: int64(at), Generation: 1, Text: text})
		}
	}
	if wrong != "" {
		problem(at, wrong+t.rest(int64(at)))
	}
	if t.old.frequency == 0 {
		problem(len(data), fmt.Sprintf("no clock frequency; taken to be %d ticks a second, so that only the proportions of times are right; most stacks are lost with it", int(defaultTicks)))
	}
	t.old.merge(problem)
	return err
}
