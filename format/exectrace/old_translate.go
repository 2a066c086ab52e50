package exectrace

import "slices"

// oldMeaning is what a type of event becomes.
type oldMeaning struct {
	kind     Kind
	op       byte // the event type since Go 1.22 that comes closest
	from, to State
	name     string // the reason of a transition; or what a metric or range is called
}

// oldMeanings has one row for each type that is shown. Of FutileWakeup nothing
// is: it says of a goroutine that it was woken for nothing, which the events
// around it show.
var oldMeanings = [oldKinds]oldMeaning{
	oldGomaxprocs:     {kind: KindMetric, op: evProcsChange, name: wellKnown[NameGOMAXPROCS]},
	oldHeapAlloc:      {kind: KindMetric, op: evHeapAlloc, name: wellKnown[NameHeapObjects]},
	oldHeapGoal:       {kind: KindMetric, op: evHeapGoal, name: wellKnown[NameHeapGoal]},
	oldCPUSample:      {kind: KindStackSample, op: evCPUSample},
	oldGCStart:        {kind: KindRangeBegin, op: evGCBegin, name: wellKnown[NameMarkPhase]},
	oldGCDone:         {kind: KindRangeEnd, op: evGCEnd, name: wellKnown[NameMarkPhase]},
	oldSTWStart:       {kind: KindRangeBegin, op: evSTWBegin},
	oldSTWDone:        {kind: KindRangeEnd, op: evSTWEnd},
	oldSweepStart:     {kind: KindRangeBegin, op: evGCSweepBegin, name: wellKnown[NameSweep]},
	oldSweepDone:      {kind: KindRangeEnd, op: evGCSweepEnd, name: wellKnown[NameSweep]},
	oldAssistStart:    {kind: KindRangeBegin, op: evGCMarkAssistBegin, name: wellKnown[NameMarkAssist]},
	oldAssistDone:     {kind: KindRangeEnd, op: evGCMarkAssistEnd, name: wellKnown[NameMarkAssist]},
	oldTaskCreate:     {kind: KindTaskBegin, op: evUserTaskBegin},
	oldTaskEnd:        {kind: KindTaskEnd, op: evUserTaskEnd},
	oldRegion:         {kind: KindRegionBegin, op: evUserRegionBegin},
	oldUserLog:        {kind: KindLog, op: evUserLog},
	oldProcStart:      {kind: KindProcTransition, op: evProcStart, from: Idle, to: Running},
	oldProcStop:       {kind: KindProcTransition, op: evProcStop, from: Running, to: Idle},
	oldGoCreate:       {kind: KindGoTransition, op: evGoCreate, from: NotExist, to: Runnable},
	oldGoStart:        {kind: KindGoTransition, op: evGoStart, from: Runnable, to: Running},
	oldGoStartLocal:   {kind: KindGoTransition, op: evGoStart, from: Runnable, to: Running},
	oldGoStartLabel:   {kind: KindGoTransition, op: evGoStart, from: Runnable, to: Running},
	oldGoEnd:          {kind: KindGoTransition, op: evGoDestroy, from: Running, to: NotExist},
	oldGoStop:         {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "forever"},
	oldGoSched:        {kind: KindGoTransition, op: evGoStop, from: Running, to: Runnable, name: "runtime.Gosched"},
	oldGoPreempt:      {kind: KindGoTransition, op: evGoStop, from: Running, to: Runnable, name: "preempted"},
	oldGoSleep:        {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "sleep"},
	oldGoBlock:        {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting},
	oldGoBlockSend:    {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "chan send"},
	oldGoBlockRecv:    {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "chan receive"},
	oldGoBlockSelect:  {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "select"},
	oldGoBlockSync:    {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "sync"},
	oldGoBlockCond:    {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "sync.(*Cond).Wait"},
	oldGoBlockNet:     {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "network"},
	oldGoBlockGC:      {kind: KindGoTransition, op: evGoBlock, from: Running, to: Waiting, name: "GC mark assist wait for work"},
	oldGoUnblock:      {kind: KindGoTransition, op: evGoUnblock, from: Waiting, to: Runnable},
	oldGoUnblockLocal: {kind: KindGoTransition, op: evGoUnblock, from: Waiting, to: Runnable},
	oldGoSysCall:      {kind: KindGoTransition, op: evGoSyscallBegin, from: Running, to: Syscall},
	oldGoWaiting:      {kind: KindGoTransition, op: evGoStatus, from: Undetermined, to: Waiting},
	oldGoInSyscall:    {kind: KindGoTransition, op: evGoStatus, from: Undetermined, to: Syscall},
}

// oldStops are the reasons why the world was stopped, by the number of format
// 21. Formats 10 to 19 have the second and third as 0 and 1, and those before
// have only the second.
var oldStops = [...]string{"", "GC mark termination", "GC sweep termination", "write heap dump", "goroutine profile",
	"goroutine profile cleanup", "all goroutine stack trace", "read mem stats", "AllThreadsSyscall", "GOMAXPROCS",
	"start trace", "stop trace", "CountPagesInUse (test)", "ReadMetricsSlow (test)", "ReadMemStatsSlow (test)",
	"PageCachePagesLeaked (test)", "ResetDebugLog (test)"}

// stopReason returns the name of a stop of the world.
func (o *oldReader) stopReason(kind uint64) NameID {
	if o.t.format.version < 21 {
		if kind++; kind > 2 {
			kind = 0
		}
	}
	if kind >= uint64(len(oldStops)) {
		kind = 0
	}
	return o.symbols.symbols.names.intern(stopName(oldStops[kind]))
}

// translate makes the reader's event what c tells. It returns false when that
// is nothing, and puts what follows at once into the queue.
func (o *oldReader) translate(c *oldCursor) bool {
	m := &oldMeanings[c.kind]
	if m.kind == KindBad {
		return false
	}
	e := o.event(c, m)
	switch m.kind {
	case KindGoTransition:
		return o.goTransition(e, c, m)
	case KindProcTransition:
		o.procTransition(e, c, m)
	case KindMetric:
		e.Args[0] = c.args[0]
		if c.kind == oldGomaxprocs && o.starting {
			return o.started(c)
		}
	case KindStackSample:
		e.M = NoThread
	case KindRangeBegin, KindRangeEnd:
		o.rangeEvent(e, c)
	case KindTaskBegin, KindTaskEnd:
		o.task(e, c)
	case KindRegionBegin:
		e.Args[0], e.Name = c.args[0], o.symbols.name(c.args[2])
		if c.args[1] != 0 {
			e.Kind, e.op = KindRegionEnd, evUserRegionEnd
		}
	case KindLog:
		e.Args[0], e.Name = c.args[0], o.symbols.name(c.args[1])
		o.message = c.message
	}
	return true
}

// event begins the reader's event: what every event has.
func (o *oldReader) event(c *oldCursor, m *oldMeaning) *Event {
	e := o.out.ev
	*e = Event{} // and field by field: a literal is built elsewhere and copied
	e.Time, e.Kind, e.op, e.Name = o.ns(c.time), m.kind, m.op, o.reasons[c.kind]
	e.P, e.M, e.SubjectSlot = c.proc, o.threads[c.index], NoSlot
	e.G, e.GSlot = NoGoroutine, NoSlot
	if c.g != 0 {
		e.G, e.GSlot = GoID(c.g), o.slot(c)
	}
	o.at(e, c.stack)
	return e
}

// slot returns the slot of the goroutine of c.
func (o *oldReader) slot(c *oldCursor) Slot {
	gs := o.program.gs
	if c.slot < gs.used {
		if g := gs.at(c.slot); g.id == GoID(c.g) && g.status != 0 {
			return c.slot
		}
	}
	c.slot = gs.find(GoID(c.g))
	return c.slot
}

// at says where an event happened.
func (o *oldReader) at(e *Event, id uint64) {
	e.Stack, o.out.stackRef, o.out.subjectRef = 0, 0, 0
	if id == 0 {
		return
	}
	if t := &o.symbols.stackIDs; id < uint64(len(t.dense)) && t.known[id] {
		e.Stack = t.dense[id]
	} else {
		e.Stack = o.symbols.stack(id)
	}
	if e.Stack != 0 {
		o.out.stackRef = id
	}
}

// goes makes e a transition of a goroutine. An unknown one begins to live.
func (o *oldReader) goes(e *Event, id GoID, slot Slot, from, to State) {
	gs := o.program.gs
	o.known = from
	switch {
	case slot != NoSlot:
		o.known = State(gs.at(slot).status)
		if from == Undetermined {
			from = o.known // the end of the list of what there was is lost
		}
	case from != NotExist:
		from = Undetermined
		o.known = from
	}
	if slot == NoSlot {
		slot = gs.add(id, uint8(to), sequence{})
		for int(slot) >= len(o.polled) {
			o.polled = append(o.polled, false)
		}
		o.polled[slot] = false
	}
	gs.at(slot).status = uint8(to)
	if to == NotExist {
		gs.remove(slot)
	}
	e.Subject, e.SubjectSlot, e.From, e.To = int64(id), slot, from, to
	if e.G == id {
		e.GSlot = slot
	}
}

// goTransition translates what happens to a goroutine.
func (o *oldReader) goTransition(e *Event, c *oldCursor, m *oldMeaning) bool {
	out := o.out
	id, slot, from, to := e.G, e.GSlot, m.from, m.to
	switch m.op {
	case evGoCreate, evGoUnblock:
		id = GoID(c.args[0])
		slot = o.program.gs.find(id)
	case evGoStart, evGoStatus:
		delete(o.created, id)
	case evGoStop, evGoBlock, evGoSyscallBegin:
		e.SubjectStack, out.subjectRef = e.Stack, out.stackRef
	}
	switch c.kind {
	case oldGoCreate:
		if o.starting {
			o.created[id] = true
			return false
		}
		o.begins(e, c.args[1])
	case oldGoStart, oldGoStartLocal:
		if o.starting {
			from, e.op = Undetermined, evGoStatus
		}
	case oldGoUnblock, oldGoUnblockLocal:
		if o.t.timers[c.g] {
			e.P, e.M = procTimer, NoThread
		}
		if slot != NoSlot && o.polled[slot] {
			e.P, e.M = procNetwork, NoThread
			o.polled[slot] = false
		}
	}
	o.goes(e, id, slot, from, to)
	switch c.kind {
	case oldGoBlockNet:
		o.polled[e.SubjectSlot] = true
	case oldGoStartLabel:
		label := *e
		label.Kind, label.op, label.Name = KindLabel, evGoLabel, o.symbols.name(c.args[2])
		label.Subject, label.SubjectSlot, label.From, label.To = 0, NoSlot, 0, 0
		out.queue = append(out.queue, label)
	case oldGoSysCall:
		if call := o.calls; o.t.blocking[call/64]>>(call%64)&1 == 0 {
			o.returns(e)
		}
		o.calls++
	}
	o.bridge(e)
	return true
}

// begins says where a new goroutine begins. Format 5 tells the address.
func (o *oldReader) begins(e *Event, id uint64) {
	if id == 0 {
		return
	}
	if o.t.format.version < 7 {
		id |= singlePC
	}
	e.SubjectStack, o.out.subjectRef = o.symbols.stack(id), id
}

// returns lets a system call end that has not blocked: the trace tells its
// beginning alone, so that it takes a nanosecond.
func (o *oldReader) returns(e *Event) {
	end := *e
	end.Time++
	end.op, end.From, end.To = evGoSyscallEnd, Syscall, Running
	end.Stack, end.SubjectStack = 0, 0
	if end.SubjectSlot != NoSlot {
		o.program.gs.at(end.SubjectSlot).status = uint8(Running)
	}
	o.out.queue = append(o.out.queue, end)
}

// bridge puts a transition in front of e that takes the goroutine from the
// state that is known to the one that e begins with. Only a trace with problems
// needs it: a valid one is translated as it is.
func (o *oldReader) bridge(e *Event) {
	if !o.damaged || o.known == e.From {
		return
	}
	out := o.out
	out.queue = slices.Insert(out.queue, 0, *e)
	e.G, e.GSlot, e.P, e.M = NoGoroutine, NoSlot, NoProc, NoThread
	e.Name, e.Stack, e.SubjectStack = NameNone, 0, 0
	e.From, e.To = o.known, out.queue[0].From
}

// exit shows the end of a system call.
func (o *oldReader) exit(x oldExit) {
	e := o.out.ev
	*e = Event{Time: o.ns(x.time), Kind: KindGoTransition, op: evGoSyscallEndBlocked, G: x.g, GSlot: o.program.gs.find(x.g), P: procExits, M: NoThread}
	if x.g == 0 {
		e.G = NoGoroutine
	}
	o.at(e, 0)
	o.goes(e, e.G, e.GSlot, Syscall, Runnable)
	o.bridge(e)
}

// started ends the list of what there was before the trace: the goroutines
// that it has only named are about to run.
func (o *oldReader) started(c *oldCursor) bool {
	o.starting = false
	var ids []GoID
	for id := range o.created {
		ids = append(ids, id)
	}
	slices.Sort(ids) // internal/trace has them in the order of a map
	out := o.out
	for _, id := range ids {
		*out.ev = Event{Time: o.ns(c.time), Kind: KindGoTransition, op: evGoStatus, G: NoGoroutine, GSlot: NoSlot, P: NoProc, M: NoThread}
		o.goes(out.ev, id, o.program.gs.find(id), Undetermined, Runnable)
		out.queue = append(out.queue, *out.ev)
	}
	o.at(out.ev, 0)
	clear(o.created)
	if len(ids) == 0 {
		return false
	}
	*out.ev = out.queue[0]
	out.queue = slices.Delete(out.queue, 0, 1)
	return true
}

// procTransition translates the start and the stop of a P.
func (o *oldReader) procTransition(e *Event, c *oldCursor, m *oldMeaning) {
	e.Subject, e.From, e.To = int64(c.proc), m.from, m.to
	if !o.seen[c.index] {
		o.seen[c.index] = true
		e.From, e.op = Undetermined, evProcStatus
	}
	o.threads[c.index] = NoThread
	if c.kind == oldProcStart {
		e.M = ThreadID(c.args[0])
		o.threads[c.index] = e.M
		o.program.machines.of(e.M) // counts as one of the trace's
	}
}

// rangeEvent translates what begins and ends.
func (o *oldReader) rangeEvent(e *Event, c *oldCursor) {
	switch c.kind {
	case oldGCStart:
		e.P, e.M = procCollector, NoThread
	case oldSTWStart:
		o.stw = o.stopReason(c.args[0])
		e.Name = o.stw
	case oldSTWDone:
		e.Name = o.stw
	case oldSweepDone:
		e.Args[0], e.Args[1] = c.args[0], c.args[1]
	}
	switch e.Scope() {
	case ScopeGoroutine:
		e.Subject, e.SubjectSlot = int64(e.G), e.GSlot
	case ScopeProc:
		e.Subject = int64(e.P)
	}
}

// task translates the beginning and the end of a user's task. As in
// internal/trace, a task without a parent has none at its beginning and the
// background task at its end.
func (o *oldReader) task(e *Event, c *oldCursor) {
	tasks, id := &o.program.tasks, TaskID(c.args[0])
	e.Args[0] = c.args[0]
	if c.kind == oldTaskCreate {
		e.Name, e.Args[1] = o.symbols.name(c.args[2]), c.args[1]
		tasks.remove(id) // one that begins again takes its place
		tasks.add(id, task{e.Name, TaskID(c.args[1])})
		if c.args[1] == 0 {
			e.Args[1] = uint64(NoTask)
		}
		return
	}
	e.Args[1] = uint64(NoTask)
	if begun, ok := tasks.remove(id); ok {
		e.Name, e.Args[1] = begun.name, uint64(begun.parent)
	}
}
