package report

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"loupe/analysis/explain"
	"loupe/format/dump"
	"loupe/value/stack"
	"loupe/value/unit"
)

// StacksSchema names the form of the JSON of loupe stacks.
const StacksSchema = "loupe.stacks/1"

// Stacks is a look at the goroutines of a file.
type Stacks struct {
	Name string
	File *dump.File
	// Dump is the number of the dump that is looked at, counted from 0; -1 is all.
	Dump int
	// Keep chooses goroutines; nil is all of the dump.
	Keep func(g int) bool
	// Filter is what Keep was made of, "" for none.
	Filter string
	// Top is how many groups text shows; 0 is all of them.
	Top int
	// Full lists every goroutine with its arguments.
	Full bool
	// Explained says what the arguments are; nil is nothing.
	Explained *Explained
}

// Chosen chooses the goroutines that are looked at.
func (v *Stacks) Chosen() func(g int) bool {
	inDump := func(int) bool { return true }
	if v.Dump >= 0 && v.Dump < len(v.File.Dumps) {
		inDump = v.File.InDump(v.Dump)
	}
	return func(g int) bool { return inDump(g) && (v.Keep == nil || v.Keep(g)) }
}

// shown are the positions of the dumps that are looked at.
func (v *Stacks) shown() (from, to int) {
	if v.Dump >= 0 && v.Dump < len(v.File.Dumps) {
		return v.Dump, v.Dump + 1
	}
	return 0, len(v.File.Dumps)
}

// WriteStacks prints a dump: what is suspicious first, then states, ages and
// groups.
func WriteStacks(out io.Writer, v *Stacks, s Style) error {
	w := &lines{w: out}
	f := v.File
	writeDumps(w, v, s)
	keep := v.Chosen()
	groups := f.Groups(keep)
	if len(groups) > 0 {
		writeSuspects(w, v, dump.Suspects(f, keep), s)
		if v.failed() {
			writeExplained(w, v, keep, s)
		}
		writeStates(w, v, keep, s)
		writeGroups(w, v, groups, s)
		if !v.failed() {
			writeExplained(w, v, keep, s) // of those that are to be looked at first
		}
	} else if v.Filter != "" {
		w.printf("\n%s\n", s.paint(dim, "no goroutine matches the filter "+clean(v.Filter)))
	}
	if v.Full {
		writeGoroutines(w, v, keep, s)
	}
	writeRaces(w, v, s)
	writeDoubts(w, v, s)
	return w.err
}

// failed tells that a program has failed, or was made to: then what it was doing
// with which arguments is the first question. One that just runs is looked at as
// a whole first.
func (v *Stacks) failed() bool {
	from, to := v.shown()
	return slices.ContainsFunc(v.File.Dumps[from:to], func(d dump.Dump) bool { return d.Kind != dump.Profile })
}

// WriteStacksMarkdown prints the same for an issue or a pull request.
func WriteStacksMarkdown(out io.Writer, v *Stacks) error {
	var text strings.Builder
	err := WriteStacks(&text, v, Style{})
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	w := &lines{w: out}
	w.printf("%stext\n%s%s\n", fence, text.String(), fence)
	return errors.Join(err, w.err)
}

// writeDumps says what there is: one line for each dump, and the message of
// those that are shown.
func writeDumps(w *lines, v *Stacks, s Style) {
	f := v.File
	from, to := v.shown()
	w.printf("%s\n", s.paint(bold, clean(v.Name)+": "+stacksTitle(v)))
	if len(f.Dumps) > 1 {
		for i := range f.Dumps {
			if i == 12 && len(f.Dumps) > 14 {
				w.printf("  %s\n", s.paint(dim, fmt.Sprintf("and %s more", unit.Count(int64(len(f.Dumps)-i)))))
				break
			}
			mark := " "
			if from <= i && i < to && to-from < len(f.Dumps) {
				mark = "*"
			}
			w.printf(" %s%2d  %s, %s%s\n", mark, i+1, f.Dumps[i].Kind, unit.Plural(int(dumpCount(f, i)), "goroutine"), firstLine(&f.Dumps[i]))
		}
		if to-from == 1 {
			w.printf("  %s\n", s.paint(dim, "dump "+fmt.Sprint(from+1)+" is shown; -dump N shows another, -dump all adds them up"))
		}
	}
	if to-from > 4 {
		return
	}
	for _, d := range f.Dumps[from:to] {
		if d.Message == "" || d.Kind == dump.Profile {
			continue
		}
		w.printf("\n")
		all := strings.Split(d.Message, "\n")
		for _, line := range all[:min(len(all), 20)] {
			w.printf("  %s\n", s.paint(red, clip(cleanLine(line), 4*s.width())))
		}
		if len(all) > 20 {
			w.printf("  %s\n", s.paint(dim, fmt.Sprintf("and %s of the message", unit.Plural(len(all)-20, "more line"))))
		}
	}
}

func dumpCount(f *dump.File, i int) (n int64) {
	for g := f.Dumps[i].First; g < f.Dumps[i].End; g++ {
		n += f.Count(g)
	}
	return n
}

func firstLine(d *dump.Dump) string {
	line, _, _ := strings.Cut(d.Message, "\n")
	if line == "" {
		return ""
	}
	return ": " + clip(cleanLine(line), 80)
}

// stacksTitle counts what is shown.
func stacksTitle(v *Stacks) string {
	f := v.File
	var n int64
	keep := v.Chosen()
	for g := range f.IDs {
		if keep(g) {
			n += f.Count(g)
		}
	}
	text := unit.Plural(int(n), "goroutine")
	if groups := len(f.Groups(keep)); n > 0 {
		text += " in " + unit.Plural(groups, "group")
	}
	if from, to := v.shown(); to-from == 1 {
		text = f.Dumps[from].Kind.String() + ", " + text
	}
	switch races := unit.Plural(len(f.Races), "data race"); {
	case len(f.Races) == 0:
	case len(f.Dumps) == 0:
		return races
	default:
		text += ", " + races
	}
	return text
}

// writeSuspects prints what is worth a look first.
func writeSuspects(w *lines, v *Stacks, all []dump.Suspect, s Style) {
	if len(all) == 0 {
		return
	}
	w.printf("\n%s\n", s.paint(bold, "Look at first"))
	for _, x := range all {
		w.printf("  %s\n", wrap(suspectText(v.File, &x), s.width()-2, "    "))
	}
}

// suspectText says in a sentence what is suspicious.
func suspectText(f *dump.File, x *dump.Suspect) string {
	n := unit.Count(x.Count)
	switch x.Concern {
	case dump.ConcernCycle:
		return cycleText(f, x.Cycle)
	case dump.ConcernLeaked:
		return n + " leaked: Go's leak search found nothing that could wake them up, at " + groupPlace(f, x.Group)
	case dump.ConcernRunnable:
		return n + " are runnable: they have work but no P; look at the CPU profile and GOMAXPROCS"
	case dump.ConcernMany:
		return n + " are at one place (" + clean(x.Group.State) + "): " + groupPlace(f, x.Group)
	case dump.ConcernWait:
		return n + " have waited up to " + waitText(x.MaxWait) + " (" + clean(x.Group.State) + ") at " + groupPlace(f, x.Group)
	}
	l := x.Lock
	text := n + " wait for "
	if l.Address != 0 {
		text += fmt.Sprintf("the lock %#x", l.Address)
	} else {
		text += "a lock"
	}
	text += " in " + place(l.Caller, l.File, l.Line)
	if l.MaxWait > 0 {
		text += ", up to " + waitText(l.MaxWait)
	}
	if len(l.Holders) == 0 {
		return text + "; no other goroutine shows its address: its holder may have returned without unlocking it, or be in a function whose arguments are not printed"
	}
	g := l.Holders[0]
	who := "one goroutine" // a profile has no numbers
	if f.IDs[g] != 0 {
		who = fmt.Sprintf("goroutine %d", f.IDs[g])
	}
	if l.Seen > 0 {
		who += ", whose stack has its address,"
	}
	text += fmt.Sprintf("; %s may hold it: %s", who, clean(f.State(g).Name))
	if f.Waits[g] > 0 {
		text += " for " + waitText(f.Waits[g])
	}
	return text + " at " + stackPlace(f, f.StackIDs[g])
}

// waitText prints minutes; Go prints no seconds.
func waitText(minutes int32) string {
	switch {
	case minutes < 120:
		return fmt.Sprintf("%d min", minutes)
	case minutes < 48*60:
		return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
	}
	return fmt.Sprintf("%d days", minutes/(24*60))
}

func waits(x *dump.Group) string {
	switch {
	case x.MaxWait == 0:
		return ""
	case x.MinWait == x.MaxWait:
		return waitText(x.MaxWait)
	case x.MinWait == 0:
		return "up to " + waitText(x.MaxWait)
	}
	return waitText(x.MinWait) + " to " + waitText(x.MaxWait)
}

func place(function, file string, line int) string {
	text := clean(stack.Short(function))
	if file != "" {
		text += " " + clean(path.Base(strings.ReplaceAll(file, `\`, "/")))
	}
	if file != "" && line > 0 {
		text += fmt.Sprint(":", line)
	}
	return text
}

func groupPlace(f *dump.File, x *dump.Group) string { return stackPlace(f, x.Stack) }

// stackPlace is the frame of a stack that says most: the first one of the
// program itself, or else of no runtime.
func stackPlace(f *dump.File, id stack.ID) string {
	var scope stack.Scope
	best := ""
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		if strings.HasPrefix(r.Func, dump.CreatedBy) {
			break
		}
		if scope.IsOutsideStandard(r) {
			return place(r.Func, r.File, r.Line)
		}
		if best == "" || strings.HasPrefix(best, "runtime.") {
			best = place(r.Func, r.File, r.Line)
		}
	}
	if best == "" {
		return "a stack that is not shown"
	}
	return best
}

// writeStates prints the tables of states and ages.
func writeStates(w *lines, v *Stacks, keep func(int) bool, s Style) {
	g := &grid{}
	head := func(text string, left bool) cell { return cell{text: text, paint: dim, left: left} }
	g.add(head("goroutines", false), head("state", true), head("waited a minute", false), head("longest", false))
	for _, x := range v.File.StateCounts(keep) {
		longest := "–"
		if x.MaxWait > 0 {
			longest = waitText(x.MaxWait)
		}
		g.add(cell{text: unit.Count(x.Count)}, cell{text: clip(clean(x.State), 40), left: true}, cell{text: unit.Count(x.Waited)}, cell{text: longest})
	}
	w.printf("\n%s\n", s.paint(bold, "States"))
	g.write(w, s, "  ")
	ages := v.File.AgeCounts(keep)
	old := int64(0)
	for _, a := range ages[1:] {
		old += a.Count
	}
	if old == 0 {
		return
	}
	var parts []string
	for _, a := range ages {
		if a.Count > 0 {
			parts = append(parts, ageText(a)+": "+unit.Count(a.Count))
		}
	}
	w.printf("  %s\n", s.paint(dim, wrap("waited "+strings.Join(parts, ", "), s.width()-2, "  ")))
}

func ageText(a dump.AgeCount) string {
	short := func(m int32) string {
		if m%60 == 0 {
			return fmt.Sprintf("%d h", m/60)
		}
		return fmt.Sprintf("%d min", m)
	}
	switch {
	case a.To == 0:
		return short(a.From) + " and more"
	case a.From == 0:
		return "less than " + short(a.To)
	}
	return short(a.From) + " to " + short(a.To)
}

// groupFrames is how many frames of a group the summary shows.
const groupFrames = 8

// writeGroups prints the groups, the largest first.
func writeGroups(w *lines, v *Stacks, groups []dump.Group, s Style) {
	w.printf("\n%s\n", s.paint(bold, "Groups by stack and state"))
	for i, x := range groups {
		if v.Top > 0 && i >= v.Top {
			w.printf("\n  %s\n", s.paint(dim, unit.Plural(len(groups)-i, "more group")+"; -n 0 shows all of them"))
			return
		}
		w.printf("\n  %s  %s\n", s.paint(bold, unit.Count(x.Count)), groupTitle(v.File, &x))
		writeFrames(w, v.File, x.Stack, s)
	}
}

func groupTitle(f *dump.File, x *dump.Group) string {
	text := clip(clean(x.State), 60)
	if x.Leaked {
		text += ", leaked"
	}
	if t := waits(x); t != "" {
		text += ", " + t
	}
	if x.Locked > 0 {
		text += ", locked to thread"
		if x.Locked < x.Count {
			text += ": " + unit.Count(x.Locked)
		}
	}
	if x.Count == 1 && f.IDs[x.Members[0]] > 0 {
		text += fmt.Sprintf(", goroutine %d", f.IDs[x.Members[0]])
	}
	if labels := f.State(x.Members[0]).Labels; labels != "" {
		text += ", {" + clip(clean(labels), 80) + "}"
	}
	return text
}

// writeFrames prints a stack, without what parks a goroutine.
func writeFrames(w *lines, f *dump.File, id stack.ID, s Style) {
	frames := f.Stacks.Frames(id)
	if len(frames) == 0 {
		w.printf("      %s\n", s.paint(dim, "no frames"))
	}
	first := 0
	for first+1 < len(frames) && strings.HasPrefix(f.Stacks.Frame(frames[first]).Func, "runtime.gopark") {
		first++
	}
	var rows []frameRow
	for i, frame := range frames[first:] {
		r := f.Stacks.Frame(frame)
		last := i == len(frames)-first-1
		if i >= groupFrames && !last && len(frames)-first > groupFrames+2 {
			if i == groupFrames {
				rows = append(rows, frameRow{note: fmt.Sprintf("… %d more frames", len(frames)-first-groupFrames-1)})
			}
			continue
		}
		name, created := strings.CutPrefix(r.Func, dump.CreatedBy)
		x := frameRow{name: clip(clean(stack.FoldGenerics(name)), 100), file: clip(clean(r.File), 120), line: r.Line}
		if created {
			x.before = dump.CreatedBy
		}
		rows = append(rows, x)
	}
	g := frameGrid(rows, s.width()-6)
	s.fit(g, 6)
	g.write(w, s, "      ")
}

// frameRow is one line of a stack: a frame, or a note in place of some.
type frameRow struct {
	before, name, file string
	line               int
	note               string
}

// frameGrid lays out frames in a width. What tells one frame from the other is
// the end of its file and of its function: where there is little room, the
// folders go first, then the path of the package.
func frameGrid(rows []frameRow, width int) *grid {
	var g *grid
	for _, short := range []struct {
		folders int // how many of the file's are left; -1 is all
		name    bool
	}{{-1, false}, {1, false}, {1, true}, {0, true}} {
		g = &grid{}
		for _, r := range rows {
			if r.note != "" {
				g.add(cell{text: r.note, paint: dim, left: true}, cell{left: true})
				continue
			}
			name, where := r.name, lastFolders(r.file, short.folders)
			if short.name {
				name = stack.Short(name)
			}
			if r.line > 0 {
				where += fmt.Sprint(":", r.line)
			}
			g.add(cell{text: r.before + name, left: true}, cell{text: where, paint: dim, left: true})
		}
		if g.width() <= width {
			break
		}
	}
	return g
}

// lastFolders is a file with the last n of its folders; all where n is negative.
// A frame may have no file: "...additional frames elided...", "non-Go function".
func lastFolders(file string, n int) string {
	if n < 0 {
		return file
	}
	at := len(file)
	for ; n >= 0 && at >= 0; n-- {
		at = strings.LastIndexAny(file[:at], `/\\`)
	}
	return file[at+1:]
}

// writeGoroutines prints every goroutine as it stands in the dump.
func writeGoroutines(w *lines, v *Stacks, keep func(int) bool, s Style) {
	f := v.File
	w.printf("\n%s\n", s.paint(bold, "Goroutines"))
	for g := range f.IDs {
		if !keep(g) || f.Flags[g]&dump.Again != 0 {
			continue
		}
		w.printf("\n  %s\n", goroutineTitle(f, g))
		calls, err := f.Calls(g)
		if err != nil || len(calls) == 0 {
			writeFrames(w, f, f.StackIDs[g], s)
			continue
		}
		var frames []explain.Frame
		if v.Explained != nil {
			frames, _ = v.Explained.By.Goroutine(g)
		}
		for i, c := range calls {
			writeCall(w, &c, s)
			if i < len(frames) {
				writeParamTable(w, &frames[i], s, "          ")
			}
		}
	}
}

// writeCall prints a frame as it stands in the dump.
func writeCall(w *lines, c *dump.Call, s Style) {
	w.printf("    %s\n", clip(clean(callText(c)), 400))
	if c.File == "" {
		return
	}
	at := fmt.Sprintf("%s:%d", clean(c.File), c.Line)
	if c.Offset > 0 {
		at += fmt.Sprintf(" +%#x", c.Offset)
	}
	if c.PC > 0 {
		at += fmt.Sprintf(" pc=%#x", c.PC)
	}
	w.printf("        %s\n", s.paint(dim, at))
}

func goroutineTitle(f *dump.File, g int) string {
	state := f.State(g)
	text := fmt.Sprintf("goroutine %d: ", f.IDs[g])
	if f.IDs[g] == 0 {
		text = "thread: "
		if f.Counts != nil {
			text = unit.Count(f.Counts[g]) + ": "
		}
	}
	text += clean(state.Name)
	if state.Leaked {
		text += ", leaked"
	}
	if f.Waits[g] > 0 {
		text += ", " + waitText(f.Waits[g])
	}
	if state.Locked {
		text += ", locked to thread"
	}
	if state.Bubble != "" {
		text += ", synctest bubble " + clean(state.Bubble)
	}
	if state.Labels != "" {
		text += ", {" + clean(state.Labels) + "}"
	}
	if f.Flags[g]&dump.Doubtful != 0 {
		text += " (perhaps part of the message)"
	}
	if f.Flags[g]&dump.Cut != 0 {
		text += " (cut off)"
	}
	return text
}

func callText(c *dump.Call) string {
	switch {
	case c.Created && c.Creator > 0:
		return fmt.Sprintf("%s%s in goroutine %d", dump.CreatedBy, c.Func, c.Creator)
	case c.Created:
		return dump.CreatedBy + c.Func
	case c.Elided > 0:
		return fmt.Sprintf("… %d frames elided", c.Elided)
	case c.Elided < 0:
		return "… frames elided"
	case c.Inlined:
		return c.Func + "(inlined)"
	case c.HasArgs:
		return c.Func + "(" + c.Args + ")"
	}
	return c.Func
}

// writeRaces prints the reports of the race detector.
func writeRaces(w *lines, v *Stacks, s Style) {
	f := v.File
	for i, r := range f.Races {
		if i == 20 {
			w.printf("\n%s\n", s.paint(dim, unit.Plural(len(f.Races)-i, "more data race")))
			return
		}
		w.printf("\n%s\n", s.paint(bold, fmt.Sprintf("Data race %d", i+1)))
		for _, a := range r.Accesses {
			w.printf("  %s of %#x by %s\n", clean(a.What), a.Address, clean(a.By))
			writeFrames(w, f, a.Stack, s)
		}
		for _, g := range r.Goroutines {
			w.printf("  goroutine %d (%s) was created at\n", g.ID, clean(g.State))
			writeFrames(w, f, g.Created, s)
		}
	}
}

// writeDoubts says what the figures hide.
func writeDoubts(w *lines, v *Stacks, s Style) {
	f := v.File
	note := func(text string) { w.printf("\n%s\n", s.paint(yellow, wrap("Note: "+text, s.width(), "  "))) }
	if f.CutByGo() {
		note("the dump ends at exactly 64 MiB, where Go silently truncates debug=2: there are more goroutines. /debug/pprof/goroutine (debug=0) has all of them, and is faster.")
	} else if f.Cut {
		note("the text ends in the middle of a goroutine")
	}
	if f.Full {
		note(fmt.Sprintf("there are more than loupe keeps: %s goroutines", unit.Count(dump.MaxGoroutines)))
	}
	if text := foldedText(f.Folded); text != "" {
		note(text)
	}
	doubtful := 0
	for g := range f.IDs {
		if f.Flags[g]&dump.Doubtful != 0 {
			doubtful++
		}
	}
	if doubtful > 0 {
		note(unit.Plural(doubtful, "goroutine") + " may be part of the panic message and are not counted: before Go 1.23 a message could look like a dump")
	}
	if f.Unrecognised == 0 {
		return
	}
	note(unit.Plural(int(f.Unrecognised), "line") + " inside dumps not understood:")
	for _, l := range f.Odd[:min(len(f.Odd), 5)] {
		w.printf("  %s\n", s.paint(dim, fmt.Sprintf("line %d: %s", l.Number, clip(cleanLine(l.Text), 120))))
	}
}

// foldedText says what was not told apart.
func foldedText(x dump.Folded) string {
	var parts []string
	for _, p := range []struct {
		n         int64
		one, many string
	}{
		{x.Frames, "frame", "frames"}, {x.States, "state of a goroutine", "states of goroutines"},
		{x.Dumps, "dump", "dumps"}, {x.Races, "data race", "data races"}, {x.Threads, "thread", "threads"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, unit.Count(p.n)+" "+p.many)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "there are more distinct ones than loupe keeps: " + strings.Join(parts, ", ") + " were merged with others (no program has that many; is this a dump?)"
}

// cleanLine is clean for a line that begins with a tab.
func cleanLine(text string) string { return clean(strings.ReplaceAll(text, "\t", "    ")) }

// clip shortens a text to n characters.
func clip(text string, n int) string {
	count := 0
	for i := range text {
		if count == n {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
