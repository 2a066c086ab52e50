package dump

import (
	"bytes"
	"strconv"

	"loupe/stack"
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

func (p *parser) startRace() {
	p.mode = inRace
	p.race = raceReader{r: Race{Offset: p.at()}}
	p.stack, p.ancestor, p.hasFn, p.last = p.stack[:0], false, false, 0
}

// raceLine reads a line of a report:
//
//	Read at 0x00c000094028 by goroutine 7:
//	  main.(*S).inc()
//	      /home/user/app/main.go:7 +0x30
//
//	Goroutine 7 (running) created at:
func (p *parser) raceLine(l []byte) {
	r := &p.race
	switch {
	case len(l) == 0:
		p.endRaceStack()
		return
	case bytes.HasPrefix(l, []byte("======")):
		p.endRace()
		return
	case l[0] == ' ' && p.hasFn:
		p.hasFn = false
		if p.frame(p.fn, l) {
			return
		}
		p.oddAt(p.fn, p.fnAt)
		fallthrough
	case l[0] == ' ' && r.any:
		if text := bytes.TrimLeft(l, " "); len(text) > 0 && text[0] != '[' { // [failed to restore the stack]
			p.fn = append(p.fn[:0], text...)
			p.fnAt, p.hasFn = p.at(), true
		}
		return
	}
	p.endRaceStack()
	if len(r.r.Accesses)+len(r.r.Goroutines) >= maxAccesses && (bytes.Contains(l, []byte(" at 0x")) || bytes.HasPrefix(l, []byte("Goroutine "))) {
		p.f.Folded.Races++
		return
	}
	if a, ok := cutAccess(l); ok {
		r.r.Accesses = append(r.r.Accesses, a)
		r.access, r.any = true, true
		return
	}
	if g, ok := cutRaceGoroutine(l); ok {
		r.r.Goroutines = append(r.r.Goroutines, g)
		r.access, r.any = false, true
		return
	}
	if _, _, ok := cutHeader(l); ok || messageBegins(l) {
		p.endRace()
		p.idle(l)
		return
	}
	p.odd(l)
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

// endRaceStack gives the frames to what they are of.
func (p *parser) endRaceStack() {
	r := &p.race
	if p.hasFn {
		p.oddAt(p.fn, p.fnAt)
		p.hasFn = false
	}
	if len(p.stack) == 0 {
		return
	}
	id := p.f.Stacks.Intern(p.stack)
	if n := len(r.r.Accesses); r.access && n > 0 {
		r.r.Accesses[n-1].Stack = id
	} else if n := len(r.r.Goroutines); !r.access && n > 0 {
		r.r.Goroutines[n-1].Created = id
	}
	p.stack, p.last = p.stack[:0], 0
}

func (p *parser) endRace() {
	p.endRaceStack()
	if p.race.any && len(p.f.Races) >= maxRaces {
		p.f.Folded.Races++
	} else if p.race.any {
		p.f.Races = append(p.f.Races, p.race.r)
	}
	p.mode = idle
}
