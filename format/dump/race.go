package dump

import (
	"bytes"
	"strconv"

	"loupe/value/stack"
)

// Race is one report of the race detector.
type Race struct {
	Offset int64 // of the report in the text
	// Accesses are the two accesses to the same memory, the later one first.
	Accesses []Access
	// Goroutines are those that took part, with where they were created.
	Goroutines []RaceGoroutine
}

// Access is one of the accesses that race.
type Access struct {
	What      string // "Read", "Previous write"
	Address   uint64
	Goroutine uint64 // 0 is the main goroutine or not known
	By        string // "goroutine 7", "main goroutine"
	Stack     stack.ID
}

// RaceGoroutine is a goroutine of a race report.
type RaceGoroutine struct {
	ID      uint64
	State   string // "running", "finished"
	Created stack.ID
}

// raceReader holds the report that is being read.
type raceReader struct {
	r      Race
	access bool // the frames are of the last access, not of the last goroutine
	any    bool
}

// raceStep says how a report goes on behind a line.
type raceStep uint8

const (
	raceGoesOn raceStep = iota
	raceEnds
	raceLeft // the line is none of it
)

// line reads a line of a report, which is at an offset:
//
//	Read at 0x00c000094028 by goroutine 7:
//	  main.(*S).inc()
//	      /home/user/app/main.go:7 +0x30
//
//	Goroutine 7 (running) created at:
func (r *raceReader) line(x *frames, l []byte, at int64) raceStep {
	switch {
	case len(l) == 0:
		r.endStack(x)
		return raceGoesOn
	case bytes.HasPrefix(l, []byte("======")):
		return raceEnds
	case l[0] == ' ' && x.half:
		x.half = false
		if x.frame(x.line, l) {
			return raceGoesOn
		}
		odd(x.f, x.line, x.at)
		fallthrough
	case l[0] == ' ' && r.any:
		if text := bytes.TrimLeft(l, " "); len(text) > 0 && text[0] != '[' { // [failed to restore the stack]
			x.hold(text, at)
		}
		return raceGoesOn
	}
	r.endStack(x)
	if len(r.r.Accesses)+len(r.r.Goroutines) >= maxAccesses && (bytes.Contains(l, []byte(" at 0x")) || bytes.HasPrefix(l, []byte("Goroutine "))) {
		x.f.Folded.Races++
		return raceGoesOn
	}
	if a, ok := cutAccess(l); ok {
		r.r.Accesses = append(r.r.Accesses, a)
		r.access, r.any = true, true
		return raceGoesOn
	}
	if g, ok := cutRaceGoroutine(l); ok {
		r.r.Goroutines = append(r.r.Goroutines, g)
		r.access, r.any = false, true
		return raceGoesOn
	}
	if _, _, ok := cutHeader(l); ok || messageBegins(l) {
		return raceLeft
	}
	odd(x.f, l, at)
	return raceGoesOn
}

// cutAccess reads "Previous write at 0x00c000094028 by goroutine 6:".
func cutAccess(l []byte) (a Access, ok bool) {
	what, rest, ok := bytes.Cut(l, []byte(" at 0x"))
	if !ok {
		return a, false
	}
	address, by, ok := bytes.Cut(rest, []byte(" by "))
	if !ok || !bytes.HasSuffix(by, []byte(":")) {
		return a, false
	}
	var err error
	if a.Address, err = strconv.ParseUint(string(address), 16, 64); err != nil {
		return a, false
	}
	a.What, a.By = string(what), string(by[:len(by)-1])
	if n, ok := bytes.CutPrefix(by[:len(by)-1], []byte("goroutine ")); ok {
		a.Goroutine, _ = strconv.ParseUint(string(n), 10, 64)
	}
	return a, true
}

// cutRaceGoroutine reads "Goroutine 7 (running) created at:".
func cutRaceGoroutine(l []byte) (g RaceGoroutine, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("Goroutine "))
	if !ok {
		return g, false
	}
	rest, ok = bytes.CutSuffix(rest, []byte(" created at:"))
	if !ok {
		return g, false
	}
	id, state, _ := bytes.Cut(rest, []byte(" "))
	var err error
	if g.ID, err = strconv.ParseUint(string(id), 10, 64); err != nil {
		return g, false
	}
	g.State = string(bytes.Trim(state, "()"))
	return g, true
}

// endStack gives the frames to what they are of.
func (r *raceReader) endStack(x *frames) {
	x.giveUp()
	if len(x.stack) == 0 {
		return
	}
	id := x.f.Stacks.Intern(x.stack)
	if n := len(r.r.Accesses); r.access && n > 0 {
		r.r.Accesses[n-1].Stack = id
	} else if n := len(r.r.Goroutines); !r.access && n > 0 {
		r.r.Goroutines[n-1].Created = id
	}
	x.stack, x.last = x.stack[:0], 0
}

// end adds the report to the file.
func (r *raceReader) end(x *frames) {
	r.endStack(x)
	switch {
	case !r.any:
	case len(x.f.Races) >= maxRaces:
		x.f.Folded.Races++
	default:
		x.f.Races = append(x.f.Races, r.r)
	}
}
