package godebug

// grammar is the form of one runtime line, as the pieces that the runtime
// writes. The text is literal except for
//
//	$d  an integer                $m  milliseconds as fmtNSAsMS prints them
//	$s  seconds, three decimals   $f  a float, either spelling
//	$b  true, false, 0 or 1       $i  an integer or nil
//	$w  an import path            $r  a wait reason, or nothing
//	{a|b|}   one of the branches; they differ in their first byte
//	{*a}     any number of a
//	~        the end of a print statement
//
// A slot is filled by exactly one write, because the runtime formats a value
// into a buffer and writes that. Literals may come in any cuts: the compiler
// of Go 1.12 and later joins neighbouring constants of a print statement.
//
// The runtime holds its print lock during a print statement, and during the
// whole line unless the line has a "~". Only there can pieces of another
// runtime line come in between.
type grammar struct {
	text   string
	locked bool // during the whole line
	sched  bool // printed by schedtrace
	// detail marks lines that are only due after a SCHED line with detail.
	detail bool
	// go14 marks the line of Go 1.4, whose beginning, "gc", is too weak to
	// look out for in a program of a later version.
	go14 bool
}

// grammars lists the runtime's lines, by the source of Go 1.4 to 1.26.
var grammars = [...]grammar{
	{locked: true, text: "gc $d @$ss $d%{ (checking for goroutine leaks)|}: " +
		"$m+$m+$m{+$m+$m|} ms clock, $m+$m{/$m/$m|+$m+$m/$m/$m}+$m ms cpu, " +
		"$d->$d->$d MB, $d MB goal, $d {MB stacks, $d MB globals, $d P|P}{ (forced)|}\n"},
	{locked: true, go14: true, text: "gc$d($d): $d+$d+$d+$d us, $d -> $d MB, $d ($d-$d) objects, $d goroutines, " +
		"$d/$d/$d sweeps, $d($d) handoff, $d($d) steal, $d/$d/$d yields\n"},
	{sched: true, text: "SCHED $dms: gomaxprocs=$d idleprocs=$d threads=$d spinningthreads=$d {needspinning=$d |}idlethreads=$d runqueue=$d~ ~" +
		"{gcwaiting=$b nmidlelocked=$d stopwait=$d sysmonwait=$b|[~{ ~{*$d~ ~}]~ schedticks=[ ~{*$d~ ~}]|$d~{* ~$d~}]~}}\n"},
	{sched: true, detail: true, text: "  P$d: status=$d schedtick=$d syscalltick=$d m=~$i~ runqsize=$d gfreecnt=$d{ timerslen=$d|}\n"},
	{sched: true, detail: true, text: "  M$d: p=~$i~ curg=~$i~ mallocing=$d throwing=$d {preemptoff=$r|gcing=$d} locks=$d dying=$d " +
		"{helpgc=$d |}spinning=$b blocked=$b lockedg=~$i~\n"},
	{sched: true, detail: true, text: "  G$d: status=$d($r) m=~$i~ lockedm=~$i~\n"},
	{text: "init $w @~$m ms, ~$m ms clock, ~$d bytes, ~$d allocs~\n"},
	{locked: true, text: "scav $d {KiB work{ (bg), $d KiB work (eager), $d KiB now|, $d KiB total}|$d KiB work, $d KiB total}, " +
		"$d% util{ {(forced)|[controller reset]}|}\n"},
	{locked: true, text: "scvg{$d|}: {inuse: $d, idle: $d, sys: $d, released: $d, consumed: $d (MB)|$d MB released}\n"},
	{locked: true, text: "forced scvg: {inuse: $d, idle: $d, sys: $d, released: $d, consumed: $d (MB)|$d MB released}\n"},
	{locked: true, text: "pacer: {assist ratio=$f (scan $d MB in $d->$d MB) workers=$d+$f|" +
		"sweep done at heap size $dMB; allocated $dMB {of spans|during sweep}; swept $d pages{ at $f pages/byte|}|" +
		"H_m_prev=$d h_t=$f H_T=$d h_a=$f H_a=$d h_g=$f H_g=$d u_a=$f u_g=$f W_a=$d goalΔ=$f actualΔ=$f u_a/u_g=$f|" +
		"$d% CPU ($d exp.) for $d+$d+$d B work ($d B exp.) in $d B -> $d B (∆goal $d, cons/mark $f)}\n"},
	{locked: true, text: "scan: {total |class {L |$dB }}$d{+$d+$d=$d objs, $d+$d=$d spans| objs}\n"},
	{locked: true, text: "GC forced{|}\n"},
	{locked: true, text: "checkfinalizers: queue: $d finalizers + $d cleanups\n"},
}

// head returns the length of the literal that the line begins with.
func (g *grammar) head() int {
	for i := 0; i < len(g.text); i++ {
		if c := g.text[i]; c == '$' || c == '{' {
			return i
		}
	}
	return len(g.text)
}

// holdsLock tells whether the runtime, being at a place of the line, holds
// its print lock.
func (g *grammar) holdsLock(at place) bool {
	return g.locked || at.pos < len(g.text) && g.text[at.pos] != '~'
}

// place is how far a line has got in its grammar.
type place struct {
	pos    int
	signed bool // the slot's minus sign came as a write of its own (until Go 1.25)
}

// accept returns where the line is after the write p, if p can come next.
// slot is the kind of the slot that p filled, or 0.
func (g *grammar) accept(at place, p []byte) (_ place, slot byte, ok bool) {
	text, pos := g.text, at.pos
	for i := 0; i < len(p); {
		if at.signed && i == 0 && p[0] == '-' {
			return at, 0, false
		}
		pos = g.resolve(pos, p[i:], i == 0)
		if pos == len(text) {
			return at, 0, false
		}
		if text[pos] != '$' {
			if text[pos] != p[i] || at.signed {
				return at, 0, false
			}
			pos++
			i++
			continue
		}
		kind := text[pos+1]
		if kind == 'r' && (p[i] == ' ' || p[i] == ')') {
			pos += 2 // an empty string is not written
			continue
		}
		if i != 0 {
			return at, 0, false
		}
		if (kind == 'd' || kind == 'i') && len(p) == 1 && p[0] == '-' {
			return place{pos, true}, 0, true
		}
		if !fits(kind, p) {
			return at, 0, false
		}
		return place{pos: pos + 2}, kind, true
	}
	return place{pos: pos}, 0, true
}

// resolve walks over the structure at pos to the literal byte or slot that
// rest goes on with. fresh tells that rest is a whole write, which alone can
// fill a slot.
func (g *grammar) resolve(pos int, rest []byte, fresh bool) int {
	for pos < len(g.text) {
		switch g.text[pos] {
		case '~':
			pos++
		case '{':
			pos = g.branch(pos, rest, fresh)
		case '|':
			pos = g.closing(pos)
		case '}':
			open := g.opening(pos)
			if g.text[open+1] != '*' {
				pos++
				continue
			}
			pos = open
		default:
			return pos
		}
	}
	return pos
}

// branch returns where the branch begins that rest goes on with, for the
// brace at open. When none does, it is the empty branch or what follows.
func (g *grammar) branch(open int, rest []byte, fresh bool) int {
	depth := 0
	first := open + 1
	if g.text[first] == '*' {
		first++
	}
	for i := first; ; i++ {
		switch g.text[i] {
		case '{':
			depth++
		case '|':
			if depth == 0 {
				if g.begins(first, rest, fresh) {
					return first
				}
				first = i + 1
			}
		case '}':
			if depth > 0 {
				depth--
				continue
			}
			if g.begins(first, rest, fresh) {
				return first
			}
			return i + 1
		}
	}
}

// begins tells whether the branch at pos can go on with rest.
func (g *grammar) begins(pos int, rest []byte, fresh bool) bool {
	if g.text[pos] == '$' {
		return fresh && (fits(g.text[pos+1], rest) || len(rest) == 1 && rest[0] == '-')
	}
	return g.text[pos] == rest[0]
}

// closing returns the place after the brace that ends the branch at pos.
func (g *grammar) closing(pos int) int {
	for depth := 0; ; pos++ {
		switch g.text[pos] {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return pos + 1
			}
			depth--
		}
	}
}

// opening returns the brace that the one at pos closes.
func (g *grammar) opening(pos int) int {
	for depth := 0; ; {
		pos--
		switch g.text[pos] {
		case '}':
			depth++
		case '{':
			if depth == 0 {
				return pos
			}
			depth--
		}
	}
}

// fits tells whether the write p can fill a slot. It is as strict as the
// runtime's own formatting allows, so that a program's writes are not taken
// for the runtime's.
func fits(kind byte, p []byte) bool {
	switch kind {
	case 'd':
		return isInteger(p)
	case 'i':
		return string(p) == "nil" || isInteger(p)
	case 'b':
		return string(p) == "true" || string(p) == "false" || string(p) == "0" || string(p) == "1"
	case 'm':
		return isMillis(p)
	case 's':
		n := len(p) - 4
		return n >= 1 && p[n] == '.' && allDigits(p[:n]) && allDigits(p[n+1:])
	case 'f':
		c := cursor{b: p}
		c.float()
		return !c.bad && c.i == len(p)
	case 'w':
		return len(p) <= 256 && allBytes(p, wordByte)
	case 'r':
		return len(p) <= 64 && p[0] != ' ' && p[len(p)-1] != ' ' && allBytes(p, reasonByte)
	}
	panic("BUG: unknown slot in grammar")
}

func isInteger(p []byte) bool {
	if len(p) > 1 && p[0] == '-' {
		p = p[1:]
	}
	// The runtime prints no leading zero.
	return len(p) > 0 && len(p) <= 20 && allDigits(p) && (p[0] != '0' || len(p) == 1)
}

// isMillis follows fmtNSAsMS of mgc.go: two digits below 10 ms with at most
// three decimals, whole milliseconds from there on.
func isMillis(p []byte) bool {
	switch n := len(p); {
	case n == 1:
		return p[0] == '0'
	case n > 2 && p[1] == '.':
		if !isDigit(p[0]) || !allDigits(p[2:]) {
			return false
		}
		// 1.0 to 9.9, 0.10 to 0.99, 0.001 to 0.099
		return n == 3 && p[0] != '0' || n == 4 && p[0] == '0' && p[2] != '0' || n == 5 && p[0] == '0' && p[2] == '0'
	default:
		return n > 1 && n <= 20 && p[0] != '0' && allDigits(p)
	}
}

func allDigits(p []byte) bool { return allBytes(p, isDigit) }

func allBytes(p []byte, is func(byte) bool) bool {
	for _, b := range p {
		if !is(b) {
			return false
		}
	}
	return len(p) > 0
}

// wordByte accepts what an import path may hold.
func wordByte(b byte) bool { return b > ' ' && b != 0x7f && b != '"' && b != ':' }

// reasonByte accepts what the wait reasons of all versions hold.
func reasonByte(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || isDigit(b) || b == ' ' || b == '(' || b == ')' || b == '/' || b == '-' || b == '_'
}
