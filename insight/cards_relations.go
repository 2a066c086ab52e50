package insight

import (
	"slices"
	"strings"
)

// two are a finding and another one whose card it may stand on, as [relations] see them.
type two struct {
	c    *causal
	i, j int
	// a is the finding, and b the other one.
	a, b *Finding
}

// grave tells whether both may be serious: the other one is no less so, and a warning.
func (t two) grave() bool { return t.notLess() && t.warned() }

// warned tells whether the other finding is a warning.
func (t two) warned() bool { return t.b.Severity.AtLeast(Warning) }

// onlyNoted tells whether the finding is a warning and the other one is a remark.
func (t two) onlyNoted() bool { return t.a.Severity.AtLeast(Warning) && !t.warned() }

// notLess tells whether the other finding is no less serious.
func (t two) notLess() bool { return t.b.Severity.AtLeast(t.a.Severity) }

// notMore tells whether the other finding is no more serious.
func (t two) notMore() bool { return t.a.Severity.AtLeast(t.b.Severity) }

// rules tells whether the finding is of one rule and the other one of another.
func (t two) rules(a, b string) bool { return t.a.Rule == a && t.b.Rule == b }

// atLine tells whether both are seen first at one line.
func (t two) atLine() bool { return firstLine(t.a) != "" && firstLine(t.a) == firstLine(t.b) }

// mostlyBelow tells whether most of the CPU samples of the finding are among those of the other one.
func (t two) mostlyBelow() bool {
	ma, mb := t.c.marks[t.i], t.c.marks[t.j]
	return ma != nil && mb != nil && t.c.spent.within(ma, mb) >= halfOfAll
}

// A verdict is what a relation says of two findings.
type verdict int

const (
	// saysNothing: they are not what it is about.
	saysNothing verdict = iota
	// saysApart: the one does not stand on the card of the other.
	saysApart
	// saysUnder: it does.
	saysUnder
)

// decided is saysUnder if that is so, and else saysApart: nothing else is asked about the two.
func decided(so bool) verdict {
	if so {
		return saysUnder
	}
	return saysApart
}

// given is the verdict where that is so, and else saysNothing.
func (v verdict) given(so bool) verdict {
	if so {
		return v
	}
	return saysNothing
}

// A relation is a reason for which one finding stands on the card of another, or does not.
type relation func(t two) verdict

// relations are asked in turn; the first that says something decides. Those that keep findings apart whatever else is
// seen come first, then those of single rules, and then those of whole families.
var relations = [][]relation{relationsApart, relationsTabled, relationsOfLocks, relationsOfConnections, relationsOfSpins, relationsOfLives, relationsOfMemory, relationsOfCalls, relationsOfRuntime}

// relationsApart are about what is told by itself.
var relationsApart = []relation{
	// What says that something grows without end is not told under a remark.
	func(t two) verdict { return saysApart.given(t.onlyNoted() && growsWithoutEnd[t.a.Rule]) },
	// The program's profilers cost where it works, whatever is wrong there.
	func(t two) verdict { return saysApart.given(t.a.Rule == be05.ID || t.a.Rule == be11.ID) },
	// Settings that are looked up say why each of the calls that repeat is costly.
	func(t two) verdict { return saysApart.given(t.a.Title == settingsTitle && t.b.Rule == cp26.ID) },
	func(t two) verdict { return saysUnder.given(ofPreparing(t.a, t.b) || ofUnlimited(t.a, t.b)) },
	// Why making the answer takes long, where that is most of it, before the advice to keep what is made.
	func(t two) verdict { return saysUnder.given(ofAnswer(t)) },
	func(t two) verdict { return saysApart.given(ofAnswer(two{t.c, t.j, t.i, t.b, t.a})) },
	// What is costly in making the answer, before it is known that it need not be made.
	func(t two) verdict { return saysUnder.given(withinAnswer(t)) },
	func(t two) verdict { return saysApart.given(withinAnswer(two{t.c, t.j, t.i, t.b, t.a})) },
	// What makes each of the calls take long.
	func(t two) verdict { return saysUnder.given(ofLayers(t)) },
	func(t two) verdict { return saysApart.given(ofLayers(two{t.c, t.j, t.i, t.b, t.a})) },
}

// namesNeedless are rules that say of work what of it need not be done: it is done again, for nothing, or could be done at once.
var namesNeedless = []string{"AL12", "AL14", "AL22", "CP18", "CP19", "CP20", "CP21", "CP24", "CP25", "CP26", "CP27", "CP28", "CP29"}

// ofAnswer tells of an answer that is made again for each request that the other finding says what is needless in most of its making.
func ofAnswer(t two) bool {
	return t.a.Rule == cp30.ID && t.warned() && isNeedless(t.b) && t.mostlyBelow()
}

// isNeedless tells of a finding about work that it says what of it need not be done, and not only that a kind of call is costly.
func isNeedless(f *Finding) bool {
	return slices.Contains(namesNeedless, f.Rule) || f.saves && (f.Rule == cp01.ID || f.Rule == cp03.ID && f.Title != cp03.Title)
}

// withinAnswer tells of a finding that it is about how an answer is made which the other finding says to keep.
func withinAnswer(t two) bool {
	return t.b.Rule == cp30.ID && t.warned() && t.notLess() && family(t.a.Rule) == "work" && !isNeedless(t.a) && t.mostlyBelow()
}

// relationsTabled are those of the tables [follows] and [explains], with their exceptions.
var relationsTabled = []relation{
	// What the holder of a lock waits for explains little of the waits for it, where it is a remark.
	func(t two) verdict { return saysApart.given(t.rules(lk01.ID, lk02.ID) && t.onlyNoted()) },
	func(t two) verdict {
		return decided(costLine(t.a) == costLine(t.b)).given(t.rules(lk02.ID, lk01.ID) && t.warned() && !t.a.Severity.AtLeast(Warning))
	},
	func(t two) verdict {
		return saysApart.given(t.a.Rule == wt11.ID && slices.Contains(beforePreparing, t.b.Rule) || t.rules(wt02.ID, wt11.ID))
	},
	func(t two) verdict {
		return saysUnder.given(slices.Contains(follows[t.a.Rule], t.b.Rule) || t.warned() && explains(t.b.Rule, t.a.Rule))
	},
	// Most of the calls ask what was asked before: without them, fewer are left to make at once.
	func(t two) verdict {
		return saysUnder.given(t.a.Rule == wt02.ID && t.b.again && t.grave() && t.mostly() && sharedWaits(t.a, t.b) >= halfOfAll)
	},
	func(t two) verdict {
		return saysApart.given(t.a.again && t.b.Rule == wt02.ID && t.a.partOf(1) >= halfOfAll && t.a.Severity.AtLeast(Warning) && t.notMore() && sharedWaits(t.b, t.a) >= halfOfAll)
	},
}

// relationsOfLocks are about what is done while a lock is held, and about who queues.
var relationsOfLocks = []relation{
	// Who holds the lock has the code to change, not who waits for it.
	func(t two) verdict { return saysUnder.given(waitsForHolder(t)) },
	func(t two) verdict { return saysApart.given(waitsForHolder(two{t.c, t.j, t.i, t.b, t.a})) },
	// They wait for what is done under the lock.
	func(t two) verdict { return saysUnder.given(t.c.held[t.i] != nil && worksUnder(t.c, t.i, t.j)) },
	func(t two) verdict { return saysApart.given(t.c.held[t.j] != nil && worksUnder(t.c, t.j, t.i)) },
	// What is done under a lock that others wait for, and that nothing shows to be needless.
	func(t two) verdict {
		m, held := t.c.marks[t.i], t.c.held[t.j]
		return saysUnder.given(t.a.unexplained && held != nil && t.warned() && m != nil && t.c.spent.within(m, held) >= halfOfAll)
	},
	// Who queues for what bursts fill.
	func(t two) verdict {
		return decided(t.grave() && sharedWaits(t.a, t.b) >= halfOfAll).given(t.b.fills && (t.a.Rule == wt04.ID || t.a.Rule == lk06.ID))
	},
	// Who serves them waits for that lock.
	func(t two) verdict {
		return decided(t.notLess()).given(t.a.lockAt != "" && t.b.Rule == lk02.ID && shows(t.b, t.a.lockAt))
	},
	func(t two) verdict {
		return saysApart.given(t.b.lockAt != "" && t.a.Rule == lk02.ID && shows(t.a, t.b.lockAt) && t.notMore())
	},
}

// relationsOfConnections are about connections that are made, and about who waits for one.
var relationsOfConnections = []relation{
	func(t two) verdict { return saysUnder.given(t.b.Rule == ld06.ID && waitsForDial(t.c, t.i, t.j)) },
	func(t two) verdict { return saysApart.given(t.a.Rule == ld06.ID && waitsForDial(t.c, t.j, t.i)) },
	func(t two) verdict { return saysUnder.given(handedDial(t.c, t.i, t.j)) },
	func(t two) verdict { return saysApart.given(handedDial(t.c, t.j, t.i)) },
	func(t two) verdict { return saysUnder.given(t.b.Rule == ld06.ID && slotForDial(t.a, t.b)) },
	// Who has the connections runs a query that computes in the process.
	func(t two) verdict { return saysUnder.given(ofPoolWaits(t)) },
	func(t two) verdict { return saysApart.given(ofPoolWaits(two{t.c, t.j, t.i, t.b, t.a})) },
	func(t two) verdict {
		return saysApart.given(t.a.fills && (t.b.Rule == wt04.ID || t.b.Rule == lk06.ID) && t.notMore())
	},
}

// relationsOfSpins are about what runs only because a loop finds nothing and does not wait.
var relationsOfSpins = []relation{
	func(t two) verdict { return saysUnder.given(t.b.Rule == sc13.ID && !t.onlyNoted() && t.runsInSpin()) },
	func(t two) verdict {
		turned := two{c: t.c, i: t.j, j: t.i, a: t.b, b: t.a}
		return saysApart.given(t.a.Rule == sc13.ID && !turned.onlyNoted() && turned.runsInSpin())
	},
}

// runsInSpin tells of a finding that nearly all that it is about is done in a loop that spins, as the other one says; or, of a goroutine that runs for
// long, that this is seen in that loop.
func (t two) runsInSpin() bool {
	if t.a.Rule == sc13.ID {
		return false
	}
	if t.a.Rule == sc14.ID {
		return slices.ContainsFunc(t.b.costs, func(x cost) bool {
			return x.line > 0 && evidenceLine(Evidence{File: x.file, Line: x.line}) == firstLine(t.a)
		})
	}
	ma, mb := t.c.marks[t.i], t.c.marks[t.j]
	return ma != nil && mb != nil && t.c.spent.within(ma, mb) >= nearlyAll
}

// relationsOfLives are about goroutines that queue, wake up and never end.
var relationsOfLives = []relation{
	// What the holder does says more than how many queue.
	func(t two) verdict { return saysApart.given(t.a.holder && t.b.Rule == lk04.ID && t.notMore()) },
	// Each that never ends wakes up again and again.
	func(t two) verdict {
		return decided(t.notLess() && firstLine(t.a) == firstLine(t.b)).given(t.rules(sc18.ID, sc10.ID))
	},
	// They wait to send and never end: the leak is the cause.
	func(t two) verdict {
		return saysUnder.given(t.rules(lk08.ID, sc10.ID) && t.a.staysOpen && t.notLess() && t.atLine())
	},
	// It wakes up by its timer.
	func(t two) verdict {
		return decided(t.notLess() && t.b.Title == wakingTitle).given(t.rules(sc16.ID, sc10.ID))
	},
}

// relationsOfMemory are about what is kept, and about the work of making it.
var relationsOfMemory = []relation{
	// A heap that grows, and the line that has most of it; or the list behind whose end it is kept.
	func(t two) verdict {
		behind := t.b.Title == tailTitle && t.notLess() && shows(t.b, firstLine(t.a))
		line := firstLine(t.b) != "" && (firstLine(t.a) == "" || t.a.atPeak || t.atLine() && t.notLess())
		return decided(behind || line).given(t.rules(gc08.ID, gc16.ID))
	},
	func(t two) verdict {
		return decided(t.notLess() && t.a.Severity != t.b.Severity).given(t.rules(gc16.ID, al21.ID) &&
			t.a.Title == sinksTitle && t.a.Title == t.b.Title && firstLine(t.a) == firstLine(t.b))
	},
	// What is kept are statements that nobody closes.
	func(t two) verdict {
		return saysUnder.given((t.a.Rule == gc08.ID || t.a.Rule == gc16.ID) && t.b.Title == unclosedTitle && t.notLess() && t.atLine())
	},
	// The same advice for what it allocates and for what it holds.
	func(t two) verdict {
		return decided(t.notLess()).given(t.rules(al21.ID, gc16.ID) &&
			(t.b.Title == onceTitle || t.b.Title == sinksTitle) && firstLine(t.a) == firstLine(t.b))
	},
	// The text that grows is what is held at the peak.
	func(t two) verdict {
		return saysUnder.given(t.rules(gc16.ID, al08.ID) && t.grave() && t.a.Severity == Info && t.atLine())
	},
	func(t two) verdict { return saysUnder.given(makesBuffer(t.a, t.b)) },
	// Work that need not be done need not be split either.
	func(t two) verdict {
		if t.a.Rule != sc01.ID || t.a.Severity != Info {
			return saysNothing
		}
		return decided(t.c.needless(t.j) >= halfOfAll)
	},
}

// relationsOfCalls are about the same calls: as waits, as system calls, as work, and as connections that are opened for them.
var relationsOfCalls = []relation{
	// A connection that is kept has goroutines.
	func(t two) verdict {
		return decided(t.warned() && slices.ContainsFunc(t.b.Evidence, func(e Evidence) bool { return e.Line > 0 && shows(t.a, evidenceLine(e)) })).given(t.rules(sc10.ID, ld06.ID))
	},
	// System calls that make the connections.
	func(t two) verdict {
		return decided(t.warned() && shows(t.b, firstLine(t.a))).given(t.rules(cp04.ID, ld06.ID))
	},
	func(t two) verdict {
		return saysUnder.given((t.rules(cp04.ID, wt01.ID) || t.rules(wt01.ID, cp04.ID)) && sameCalls(t.a, t.b))
	},
	// What makes each call take longer than the one before.
	func(t two) verdict { return saysUnder.given(ofSortedAgain(t)) },
	func(t two) verdict { return saysApart.given(ofSortedAgain(two{t.c, t.j, t.i, t.b, t.a})) },
	// The search for which they are made.
	func(t two) verdict { return saysUnder.given(ofSearch(t)) },
	func(t two) verdict { return saysApart.given(ofSearch(two{t.c, t.j, t.i, t.b, t.a})) },
	// Values that are boxed for a text, and all lines that make one.
	func(t two) verdict { return saysUnder.given(ofFormatting(t)) },
	func(t two) verdict { return saysApart.given(ofFormatting(two{t.c, t.j, t.i, t.b, t.a})) },
	// What is read or written in small pieces costs more than how each piece is decoded or encoded.
	func(t two) verdict {
		return decided(t.notLess()).given(t.rules(cp03.ID, cp04.ID) && isSmallPieces(t.b) && t.atLine())
	},
	func(t two) verdict {
		return saysApart.given(t.rules(cp04.ID, cp03.ID) && isSmallPieces(t.a) && t.atLine() && t.notMore())
	},
	// What calls that a loop makes one after another cost the CPU.
	func(t two) verdict { return saysUnder.given(ofManyCalls(t)) },
	func(t two) verdict {
		return saysApart.given(ofManyCalls(two{t.c, t.j, t.i, t.b, t.a}))
	},
	// What several compute at once for the same.
	func(t two) verdict { return saysUnder.given(withinRepeated(t)) },
	func(t two) verdict {
		return saysApart.given(withinRepeated(two{t.c, t.j, t.i, t.b, t.a}))
	},
	// What is costly in calls that need not be made.
	func(t two) verdict { return saysUnder.given(withinNeedless(t)) },
	func(t two) verdict {
		return saysApart.given(withinNeedless(two{t.c, t.j, t.i, t.b, t.a}))
	},
	// The same calls for the units of another kind, which come to them by the loop that the other finding has further out.
	func(t two) verdict {
		return saysUnder.given(t.rules(wt02.ID, wt02.ID) && t.notLess() && t.b.outer && !t.a.outer && costLine(t.a) == costLine(t.b))
	},
	// The system calls that read the table.
	func(t two) verdict {
		return decided(t.mostlyBelow()).given(t.a.Rule == cp04.ID && t.b.Title == tablesTitle && t.b.saves && t.c.marks[t.i] != nil && t.c.marks[t.j] != nil)
	},
	// What is done while connections are opened.
	func(t two) verdict {
		return decided(t.mostlyBelow()).given(family(t.a.Rule) == "work" && t.b.Rule == ld06.ID && t.b.saves && t.c.marks[t.i] != nil && t.c.marks[t.j] != nil)
	},
	// What is allocated at the line that opens them.
	func(t two) verdict {
		return saysUnder.given(family(t.a.Rule) == "work" && t.b.Rule == ld06.ID && t.b.saves && t.c.marks[t.i] == nil && t.warned() && shows(t.b, firstLine(t.a)))
	},
	// Why each connection is made anew: what sets that may come before the line of the calls.
	func(t two) verdict {
		return decided(t.notLess()).given(t.rules(wt06.ID, ld06.ID) && t.a.connects && shows(t.b, firstLine(t.a)))
	},
	// The waits for connections that are made anew, and the CPU time of that.
	func(t two) verdict {
		line := firstLine(t.a)
		elsewhere := t.a.Rule == wt06.ID && line != firstLine(t.b) || t.a.Rule == ld06.ID && line != ""
		return decided(!elsewhere && t.notLess()).given(t.a.connects && t.b.connects && t.a.Rule != t.b.Rule)
	},
	func(t two) verdict {
		return saysApart.given(t.a.Rule == ld06.ID && t.a.saves && family(t.b.Rule) == "work")
	},
}

// isSmallPieces tells of a finding that it is about reads or writes of a few bytes.
func isSmallPieces(f *Finding) bool {
	return strings.HasPrefix(f.Title, "Small reads") || strings.HasPrefix(f.Title, "Small writes")
}

// relationsOfRuntime are about what the runtime does because of the program, and about CPUs that are all in use.
var relationsOfRuntime = []relation{
	func(t two) verdict {
		return decided(t.warned()).given(slices.Contains(forRuntime, t.a.waitsFor) && slices.Contains(runtimeWorks, t.b.Rule))
	},
	func(t two) verdict {
		if !ofGarbage(t.a) {
			return saysNothing
		}
		if t.a.Rule == gc06.ID && !t.warned() {
			return saysApart
		}
		line := t.warned() && classOf(t.b) == specific && family(t.b.Rule) == "work" && t.c.bytes[firstLine(t.b)] >= halfOfAll
		return decided(allocatesMuch(t.b) && t.c.allocated() >= halfOfAll || line)
	},
	func(t two) verdict {
		if !t.c.full || !crowded[t.a.Rule] {
			return saysNothing
		}
		return decided(t.j == t.c.busiest())
	},
}

// follows tells whether finding i shows what finding j is the cause of.
func (c *causal) follows(i, j int) bool {
	t := two{c: c, i: i, j: j, a: &c.all[i], b: &c.all[j]}
	for _, some := range relations {
		for _, says := range some {
			if v := says(t); v != saysNothing {
				return v == saysUnder && (!t.ofWork() || t.pays())
			}
		}
	}
	return c.sameWait(i, j) && t.mostly() || c.sameCost(i, j) && (!t.ofWork() || t.pays())
}

// growsWithoutEnd are rules about what grows until the program fails.
var growsWithoutEnd = map[string]bool{"LD07": true, "GC08": true, "SC11": true}

// fromGarbage are the rules about what the collector costs: it does because of what is
// allocated.
var fromGarbage = map[string]bool{"GC03": true, "GC04": true, "GC05": true, "GC06": true, "AL01": true}

// ofGarbage tells of a finding that it is about what the collector costs. Where a limit of memory is too small for what is kept,
// as a critical one of its limiter says, that costs however little is allocated.
func ofGarbage(f *Finding) bool {
	return fromGarbage[f.Rule] && !(f.Rule == gc06.ID && f.Severity.AtLeast(Critical))
}

// forRuntime are the kinds of waits that the runtime ends, and runtimeWorks the rules that
// say why it makes wait.
var (
	forRuntime   = []string{"collector", "mark_assist", "stop_the_world"}
	runtimeWorks = []string{"GC17", "GC12", "GC07", "GC18", "GC03", "GC05"}
)

// OfTiming tells of a rule, by its id, that what it finds depends on when threads ran: on a
// busy machine every program shows it.
func OfTiming(id string) bool { return crowded[id] }

// crowded are the rules about goroutines that wait for a P, which all do where the CPUs are
// all in use.
var crowded = map[string]bool{"SC06": true, "SC07": true, "SC14": true, "GC01": true, "GC02": true}

// follows lists the rules whose findings one follows from, where both are there.
var follows = map[string][]string{
	"CP05": {"SC19", "SC02", "SC03", "SC13", "SC16", "SC18"}, // scheduling is paid for by who starts, wakes and spins
	"AL01": {"GC03", "GC05"},                                 // where no line of its own says why
	"GC05": {"GC03"},                                         // assists are a part of what the collector takes
	"SC03": {"SC19"},
	"LK08": {"SC19"},
	"SC06": {"SC19"},
	"SC01": {"SC03"},                 // who takes turns uses one P
	"CP14": {"SC02"},                 // every goroutine grows its stack anew
	"SC07": {"SC04", "SC02", "SC08"}, // a burst of goroutines, or Ps that stand still
	"GC01": {"SC04", "SC08"},
	"GC02": {"SC14"},
	"LD02": {"GC03", "GC04", "GC05", "GC01"},
	"LK04": {"LK02", "LK01"},
	"LK01": {"LK02"},
	"GC08": {"SC10"}, // what waits forever keeps what it refers to
	"SC11": {"SC10"},
	"LD07": {"SC10"},
}
