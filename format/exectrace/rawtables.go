package exectrace

import (
	"strconv"
	"strings"
)

// textTables gives numbers to the strings and stacks that stand by name in the
// text of a generation.
type textTables struct {
	strings, stacks       map[string]uint64
	pcs                   map[string]uint64 // by frame
	stringTable           []textEvent
	stackTable            []textEvent
	lastString, lastStack uint64 // the highest numbers so far
}

// addTables adds the batches that the text leaves out: the tables of what
// stands by name, and the clock.
func (g *textGeneration) addTables(v Version) {
	t := textTables{strings: make(map[string]uint64), stacks: make(map[string]uint64), pcs: make(map[string]uint64)}
	time := g.batches[0].header.arg("time")
	for i := range g.batches {
		time = min(time, g.batches[i].header.arg("time"))
		for _, e := range g.batches[i].events {
			switch e.op {
			case evString:
				t.lastString = max(t.lastString, e.args[0])
			case evStack:
				t.lastStack = max(t.lastStack, e.args[0])
			}
		}
	}
	for i := range g.batches {
		for _, e := range g.batches[i].events {
			for k, name := range e.named {
				if e.isString(k) {
					e.args[k] = t.string(name)
				} else {
					e.args[k] = t.stack(name)
				}
			}
		}
	}
	if !g.timed {
		clock := []textEvent{made(evFrequency, 1e9)}
		if v >= 25 {
			clock = []textEvent{made(evSync), clock[0], made(evClockSnapshot, 0, 0, 0, 0)}
		}
		g.addBatch(time, clock...)
	}
	g.addTable(time, evStacks, t.stackTable)
	g.addTable(time, evStrings, t.stringTable)
}

func made(op byte, args ...uint64) textEvent {
	return textEvent{rawEvent: rawEvent{op: op, args: args}}
}

// addBatch adds a batch of no thread.
func (g *textGeneration) addBatch(time uint64, events ...textEvent) {
	none := NoThread
	header := made(evEventBatch, g.batches[0].header.gen(), uint64(none), time, 0)
	g.batches = append(g.batches, textBatch{header: header, events: events})
}

// addTable adds a table, in as many batches as it needs.
func (g *textGeneration) addTable(time uint64, kind byte, entries []textEvent) {
	const entrySize = maxFrames*4*10 + 21 // of the largest
	for len(entries) > 0 {
		n := min(maxBatchSize/entrySize, len(entries))
		g.addBatch(time, append([]textEvent{made(kind)}, entries[:n]...)...)
		entries = entries[n:]
	}
}

// string returns the number of a string.
func (t *textTables) string(s string) uint64 {
	if s == "" {
		return 0
	}
	id, ok := t.strings[s]
	if !ok {
		t.lastString++
		id = t.lastString
		t.strings[s] = id
		e := made(evString, id)
		e.data = []byte(s)
		t.stringTable = append(t.stringTable, e)
	}
	return id
}

// stack returns the number of a stack: frames with semicolons between them,
// leaf first, each a function, or FUNCTION@FILE:LINE.
func (t *textTables) stack(s string) uint64 {
	if s == "" {
		return 0
	}
	id, ok := t.stacks[s]
	if ok {
		return id
	}
	t.lastStack++
	t.stacks[s] = t.lastStack
	frames := strings.Split(s, ";")
	e := made(evStack, t.lastStack, uint64(len(frames)))
	for _, f := range frames {
		pc, ok := t.pcs[f]
		if !ok {
			pc = uint64(0x400000 + 16*len(t.pcs))
			t.pcs[f] = pc
		}
		function, place, _ := strings.Cut(f, "@")
		file, line, _ := strings.Cut(place, ":")
		n, _ := strconv.ParseUint(line, 10, 32)
		e.args = append(e.args, pc, t.string(function), t.string(file), n)
	}
	t.stackTable = append(t.stackTable, e)
	return t.lastStack
}
