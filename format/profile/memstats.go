package profile

import (
	"bytes"
	"fmt"
	"strconv"
)

// MemStats is the state of the allocator and the collector that Go writes below
// a heap profile in text form (debug=1). The fields have the names and units of
// those of runtime.MemStats; what a version of Go has not written is 0.
type MemStats struct {
	// Of all memory, in bytes, and how many objects.
	Alloc, TotalAlloc, Sys, Lookups, Mallocs, Frees uint64
	// Of the heap, in bytes, and how many objects.
	HeapAlloc, HeapSys, HeapIdle, HeapInuse, HeapReleased, HeapObjects uint64
	// Of the runtime itself, in bytes.
	StackInuse, StackSys, MSpanInuse, MSpanSys, MCacheInuse, MCacheSys,
	BuckHashSys, GCSys, OtherSys uint64

	NextGC uint64 // size of the heap, in bytes, that the next collection aims at
	LastGC uint64 // when the last one ended, in nanoseconds since 1970

	// PauseNs and PauseEnd are how long the last collections have stopped the
	// program and when they did, in nanoseconds: up to 256 of them, the oldest
	// first. (In the text they are a ring, of which some may never have been
	// used.)
	PauseNs, PauseEnd []uint64

	NumGC, NumForcedGC uint32  // collections so far, and how many of them the program has asked for
	GCCPUFraction      float64 // share of the CPU that collections have used
	DebugGC            bool

	MaxRSS uint64 // most memory that the process has had, in bytes; only some systems tell
}

// pair finds the two numbers of a line such as "Stack = 425984 / 425984".
func (m *MemStats) pair(key string) (inuse, sys *uint64) {
	switch key {
	case "Stack":
		return &m.StackInuse, &m.StackSys
	case "MSpan":
		return &m.MSpanInuse, &m.MSpanSys
	case "MCache":
		return &m.MCacheInuse, &m.MCacheSys
	}
	return nil, nil
}

func (m *MemStats) number(key string) *uint64 {
	return map[string]*uint64{
		"Alloc": &m.Alloc, "TotalAlloc": &m.TotalAlloc, "Sys": &m.Sys, "Lookups": &m.Lookups,
		"Mallocs": &m.Mallocs, "Frees": &m.Frees, "HeapAlloc": &m.HeapAlloc, "HeapSys": &m.HeapSys,
		"HeapIdle": &m.HeapIdle, "HeapInuse": &m.HeapInuse, "HeapReleased": &m.HeapReleased,
		"HeapObjects": &m.HeapObjects, "BuckHashSys": &m.BuckHashSys, "GCSys": &m.GCSys,
		"OtherSys": &m.OtherSys, "NextGC": &m.NextGC, "LastGC": &m.LastGC, "MaxRSS": &m.MaxRSS,
	}[key]
}

// line takes in "HeapSys = 3932160". Lines with other keys are for people.
func (m *MemStats) line(line []byte) (err error) {
	k, v, ok := bytes.Cut(line, []byte(" = "))
	if !ok {
		return nil
	}
	key, value := string(k), string(bytes.TrimSpace(v))
	switch key {
	case "Stack", "MSpan", "MCache":
		inuse, sys := m.pair(key)
		_, err = fmt.Sscanf(value, "%d / %d", inuse, sys)
	case "PauseNs":
		m.PauseNs, err = numbers(v)
	case "PauseEnd":
		m.PauseEnd, err = numbers(v)
	case "NumGC":
		_, err = fmt.Sscan(value, &m.NumGC)
		m.PauseNs, m.PauseEnd = inOrder(m.PauseNs, m.NumGC), inOrder(m.PauseEnd, m.NumGC)
	case "NumForcedGC":
		_, err = fmt.Sscan(value, &m.NumForcedGC)
	case "GCCPUFraction":
		m.GCCPUFraction, err = strconv.ParseFloat(value, 64)
	case "DebugGC":
		m.DebugGC = value == "true"
	default:
		if at := m.number(key); at != nil {
			*at, err = strconv.ParseUint(value, 10, 64)
		}
	}
	if err != nil {
		return fmt.Errorf("runtime.MemStats: cannot read %s", key)
	}
	return nil
}

// numbers reads a list as fmt prints it: [1 2 3].
func numbers(s []byte) (list []uint64, err error) {
	for _, f := range bytes.Fields(bytes.Trim(s, "[] \t\r")) {
		v, err := strconv.ParseUint(string(f), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// inOrder turns a ring into a list. Collection n, from 1 on, is at n-1 in it.
func inOrder(ring []uint64, n uint32) []uint64 {
	if int(n) <= len(ring) {
		return ring[:n:n]
	}
	if len(ring) == 0 {
		return nil
	}
	next := int(n) % len(ring)
	return append(ring[next:len(ring):len(ring)], ring[:next]...)
}
