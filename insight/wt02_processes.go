package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Processes that a loop starts one after another: what each is given by the source, and whether they need, or may disturb, each other.

// turnShare tells how something is in the turns of a loop.
type turnShare int

const (
	turnsUnknown turnShare = iota
	turnsSame              // the same in each
	turnsItem              // by the item of each turn, or what a function makes of it
)

// processStart is how a loop starts processes, by the source.
type processStart struct {
	at         codeLine
	executable turnShare
	differs    bool     // anything that a process is given is by its item
	same       bool     // all that it is given is the same in each turn
	tells      bool     // by its name or a word of its command line it only tells something
	open       []string // why they may need, or disturb, each other
}

// processWay is a way from the line that waits for a process outward to the loop.
type processWay struct {
	d    *derivations
	way  []stack.Frame // the last one is in the loop
	loop ast.Stmt
	seen map[types.Object]bool
}

var (
	// processReads are words of command lines by which a program only tells something.
	processReads = lazily(`^(?i:log|show|list|ls|ls-.*|status|rev-.*|cat-file|diff|blame|describe|inspect|info|version|help|-v|-h|--version|--help|get|query|search|stat|.*metadata|capabilities|check|verify|vet|lint)$`)
	// processDoes are those by which it changes something that others may have as well.
	processDoes = lazily(`^(?i:add|apply|build|commit|checkout|clone|create|delete|fetch|generate|init|install|merge|migrate|mv|pull|push|rebase|remove|reset|restart|restore|rm|save|set|start|stop|stash|sync|tag|tidy|up|update|upload|upgrade|write)$`)
	// processTells are programs that only tell something, and processShells those whose command line says nothing by its words.
	processTells  = lazily(`^(sha\d+sum|md5sum|b2sum|cksum|file|stat|cat|wc|head|tail|grep|rg|readelf|nm|objdump|ldd|ffprobe|identify|dig|nslookup|host|ping|uname|df|du|ps|which|whoami|id|date|lsb_release|pdfinfo|mediainfo)$`)
	processShells = lazily(`^(sh|bash|zsh|dash|ksh|cmd|cmd\.exe|powershell|pwsh|env|sudo|ssh|xargs|find)$`)
	// processFile is a constant that may name a file, and processOut what stands before the name of one that is written.
	processFile = lazily(`^(-[\w-]+=)?[\w.~-]*[/\\][\w./\\~-]*$|^[\w-]+\.\w{1,5}$`)
	processOut  = lazily(`^--?(o|out|output|outfile|out-file|log|log-file)$`)
	// packagesOfText make the same of the same.
	packagesOfText = []string{"path", "path/filepath", "fmt", "strings", "strconv", "slices", "os/exec"}
)

// startAlong is how processes are started on a way through the code, the line nearest to the wait first; false where the source does not show
// the loop, or the command line.
func startAlong(c *code, frames []stack.Frame) (s processStart, ok bool) {
	p := &processWay{d: derivationsOf(c), seen: map[types.Object]bool{}}
	for i, f := range frames {
		in, known := p.d.at(f)
		if !known {
			return s, false
		}
		if p.loop = loopAroundLine(p.d, in.decl.Body, f.Line); p.loop != nil {
			p.way = frames[:i+1]
			break
		}
	}
	if p.loop == nil {
		return s, false
	}
	frame, call := p.commandLine()
	if call == nil {
		return s, false
	}
	args := call.Args
	if calledName(call) == "CommandContext" && len(args) > 0 {
		args = args[1:]
	}
	if len(args) == 0 {
		return s, false
	}
	s.at, s.executable = p.d.placeOf(call), p.turns(frame, args[0], 0)
	s.differs, s.same = s.executable == turnsItem, s.executable == turnsSame
	p.lookAtArguments(&s, frame, call, args[1:])
	if text, ok := p.constant(args[0]); ok {
		switch name := path.Base(text); {
		case processShells.MatchString(name):
			s.tells = false
		case processTells.MatchString(name):
			s.tells = true
		}
	}
	p.lookAtSettings(&s)
	for _, point := range p.turnOpens() {
		s.open = append(s.open, point.text())
	}
	return s, true
}

// commandLine is the only call on the way that says which program is to be started, and the number of its frame.
func (p *processWay) commandLine() (frame int, call *ast.CallExpr) {
	for i, f := range p.way {
		in, known := p.d.at(f)
		if !known {
			return 0, nil
		}
		var all []*ast.CallExpr
		ast.Inspect(in.decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && p.d.t.fromPackage(call.Fun) == "os/exec" && strings.HasPrefix(calledName(call), "Command") && (i < len(p.way)-1 || within(p.loop, call)) {
				all = append(all, call)
			}
			return true
		})
		switch {
		case len(all) == 1:
			return i, all[0]
		case len(all) > 1:
			return 0, nil
		}
	}
	return 0, nil
}

// lookAtArguments looks at what a command line has behind the name of the program.
func (p *processWay) lookAtArguments(s *processStart, frame int, call *ast.CallExpr, args []ast.Expr) {
	in, _ := p.d.at(p.way[frame])
	if n := len(args); call.Ellipsis.IsValid() && n > 0 { // a list, of which the source may show what is in it
		if list := p.listed(in, args[n-1]); list != nil {
			args = slices.Concat(args[:n-1], list)
		} else {
			s.open = append(s.open, fmt.Sprintf("what is in %s is not seen, %s", types.ExprString(args[n-1]), s.at.text()))
		}
	}
	constants := make([]string, len(args))
	reads, does := false, ""
	for i, x := range args {
		if text, ok := p.constant(x); ok {
			constants[i] = text
			reads = reads || processReads.MatchString(text)
			if processDoes.MatchString(text) {
				does = text
			}
		}
	}
	for i, x := range args {
		turns := p.turns(frame, x, 0)
		s.differs, s.same = s.differs || turns == turnsItem, s.same && turns == turnsSame
		file := processFile.MatchString(constants[i]) || i > 0 && processOut.MatchString(constants[i-1])
		switch {
		case constants[i] != "" && (!file || reads), turns == turnsItem, turns == turnsSame && reads:
		case turns == turnsSame:
			s.open = append(s.open, fmt.Sprintf("all of them are given %s, %s", types.ExprString(x), s.at.text()))
		default:
			s.open = append(s.open, fmt.Sprintf("whether %s depends on the item alone is not seen, %s", types.ExprString(x), s.at.text()))
		}
	}
	if does != "" {
		s.open = append(s.open, fmt.Sprintf("%q may change what others of them use, %s", does, s.at.text()))
	}
	s.tells = reads && does == ""
	if !s.differs && !s.same {
		s.open = append(s.open, "what is different about each is not seen, "+s.at.text())
	}
}

// constant is the text of an expression that is one.
func (p *processWay) constant(x ast.Expr) (text string, ok bool) {
	if tv, known := p.d.t.info.Types[x]; known && tv.Value != nil {
		return strings.Trim(tv.Value.ExactString(), "\"`"), true
	}
	return "", false
}

// listed are the elements of a list that is made in one place, and not changed.
func (p *processWay) listed(in frameCode, x ast.Expr) []ast.Expr {
	if v := p.d.variable(ast.Unparen(x)); v != nil && isLocal(in.decl, v) && !isGiven(in.decl, v) {
		if defs := p.d.definitions(in.decl)[v]; len(defs) == 1 && defs[0].x != nil && !defs[0].ranged {
			x = defs[0].x
		}
	}
	if lit, ok := ast.Unparen(x).(*ast.CompositeLit); ok {
		return lit.Elts
	}
	return nil
}

// lookAtSettings looks at what is set of a command, and at whether its answer is read.
func (p *processWay) lookAtSettings(s *processStart) {
	answers := false
	for i, f := range p.way {
		in, _ := p.d.at(f)
		ast.Inspect(in.decl.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if p.ofCommand(n) && calledName(n) == "StdinPipe" {
					s.same, s.differs = false, true
					s.open = append(s.open, "what is written to their standard input is not seen, "+p.d.placeOf(n).text())
				}
				answers = answers || p.ofCommand(n) && slices.Contains([]string{"Output", "CombinedOutput", "StdoutPipe", "StderrPipe"}, calledName(n))
			case *ast.AssignStmt:
				for j, x := range n.Lhs {
					sel, ok := x.(*ast.SelectorExpr)
					if ok && len(n.Lhs) == len(n.Rhs) && libraryTypeOf(p.d, sel.X, 0).pkg == "os/exec" {
						answers = p.setting(s, i, sel.Sel.Name, n.Rhs[j]) || answers
					}
				}
			}
			return true
		})
	}
	if !answers {
		s.open = append(s.open, "none of their output is read, so that each is run for what it does, "+s.at.text())
	}
}

// setting looks at one field of a command that is set, and tells whether its output goes to a place of its own.
func (p *processWay) setting(s *processStart, frame int, field string, x ast.Expr) (answers bool) {
	at := p.d.placeOf(x).text()
	turns := p.turns(frame, x, 0)
	if field != "Stdout" && field != "Stderr" {
		s.same, s.differs = s.same && turns == turnsSame, s.differs || turns == turnsItem
	}
	switch field {
	case "Stdout", "Stderr":
		if isNamed(x, "nil") {
			return false
		}
		if v := p.d.t.rootOf(unrefer(ast.Unparen(x))); v != nil && !ofPackage(v) && p.d.t.fromPackage(x) == "" && (frame < len(p.way)-1 && !p.givenFrom(frame, v) || p.loop.Pos() <= v.Pos() && v.Pos() < p.loop.End()) {
			return true
		}
		s.open = append(s.open, fmt.Sprintf("their output goes to %s, where it would mix unless each has a buffer of its own, %s", types.ExprString(x), at))
	case "Stdin", "Dir", "ExtraFiles":
		if turns != turnsItem && !isNamed(x, "nil") {
			s.open = append(s.open, fmt.Sprintf("%s of all of them is %s, %s", field, types.ExprString(x), at))
		}
	}
	return false
}

// givenFrom tells of a variable of a frame that the function is given it.
func (p *processWay) givenFrom(frame int, v types.Object) bool {
	in, ok := p.d.at(p.way[frame])
	return !ok || isGiven(in.decl, v)
}

// ofCommand tells of a call that it is one of package os/exec, or of a method of its types.
func (p *processWay) ofCommand(call *ast.CallExpr) bool {
	if p.d.t.fromPackage(call.Fun) == "os/exec" {
		return true
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return ok && libraryTypeOf(p.d, sel.X, 0).pkg == "os/exec"
}

// turnOpens is what a turn of the loop changes that is not its own, or what the source does not show, beyond the start of the process.
func (p *processWay) turnOpens() (open []openPoint) {
	in, ok := p.d.at(p.way[len(p.way)-1])
	if !ok {
		return nil
	}
	w := &closedWalk{d: p.d, turn: p.loop}
	w.look(&closedFrame{decl: in.decl}, bodyOfLoop(p.loop))
	starts := map[string]bool{}
	for _, decl := range p.decls() {
		ast.Inspect(decl.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && p.ofCommand(call) {
				starts[p.d.placeOf(call).text()+types.ExprString(call.Fun)] = true
			}
			return true
		})
	}
	isStart := func(point openPoint) bool {
		name, _, called := strings.Cut(point.what, " is called")
		return called && starts[point.at.text()+name]
	}
	w.found.open = slices.DeleteFunc(w.found.open, isStart) // of a command that the turn makes
	for _, point := range w.found.open {
		if !slices.ContainsFunc(open, func(o openPoint) bool { return o.at == point.at }) {
			open = append(open, point)
		}
	}
	if change, read, met := meets(w.found, w.found); met {
		open = append(open, change, read)
	}
	return open
}

// decls are the functions of the way.
func (p *processWay) decls() (all []*ast.FuncDecl) {
	for _, f := range p.way {
		if in, ok := p.d.at(f); ok && !slices.Contains(all, in.decl) {
			all = append(all, in.decl)
		}
	}
	return all
}

// turns tells how an expression in a frame of the way is in the turns of the loop.
func (p *processWay) turns(frame int, x ast.Expr, depth int) turnShare {
	in, ok := p.d.at(p.way[frame])
	if !ok || depth > closedDepth {
		return turnsUnknown
	}
	item, unknown := false, false
	note := func(t turnShare) {
		item, unknown = item || t == turnsItem, unknown || t == turnsUnknown
	}
	ast.Inspect(x, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			unknown = true
			return false
		case *ast.UnaryExpr:
			unknown = unknown || n.Op.String() == "<-"
		case *ast.CallExpr:
			unknown = unknown || !p.steadyCall(n)
			if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok {
				note(p.turns(frame, sel.X, depth+1))
			}
			for _, arg := range n.Args {
				note(p.turns(frame, arg, depth+1))
			}
			return false
		case *ast.KeyValueExpr:
			note(p.turns(frame, n.Value, depth+1))
			return false
		case *ast.SelectorExpr:
			if given := p.fieldGiven(in, n); given != nil {
				note(p.turns(frame, given, depth+1))
			} else {
				note(p.turns(frame, n.X, depth+1))
			}
			return false
		case *ast.Ident:
			if v := p.d.variable(n); v != nil {
				note(p.ofVariable(frame, in, v, depth))
			}
		}
		return true
	})
	switch {
	case item:
		return turnsItem
	case unknown:
		return turnsUnknown
	}
	return turnsSame
}

// steadyCall tells of a call that it gives the same for the same.
func (p *processWay) steadyCall(call *ast.CallExpr) bool {
	if tv, ok := p.d.t.info.Types[call.Fun]; ok && (tv.IsType() || tv.IsBuiltin()) {
		return true
	}
	pkg := p.d.t.fromPackage(call.Fun)
	return slices.Contains(packagesOfText, pkg) || pkg == "os" && slices.Contains([]string{"Getenv", "TempDir", "ExpandEnv"}, calledName(call))
}

// fieldGiven is what a struct that a function makes in one place is given for a field that is not set afterwards.
func (p *processWay) fieldGiven(in frameCode, sel *ast.SelectorExpr) ast.Expr {
	v := p.d.variable(ast.Unparen(sel.X))
	if v == nil || !isLocal(in.decl, v) || isGiven(in.decl, v) {
		return nil
	}
	var made *ast.CompositeLit
	for _, def := range p.d.definitions(in.decl)[v] {
		if def.part || def.unknown {
			continue
		}
		lit, ok := ast.Unparen(unrefer(def.x)).(*ast.CompositeLit)
		if !ok || made != nil {
			return nil
		}
		made = lit
	}
	if made == nil || hasNode(in.decl.Body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && slices.ContainsFunc(a.Lhs, func(x ast.Expr) bool { return types.ExprString(x) == types.ExprString(sel) })
	}) {
		return nil
	}
	for _, x := range made.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok && isNamed(kv.Key, sel.Sel.Name) {
			return kv.Value
		}
	}
	return nil
}

// ofVariable tells how a variable in a frame is in the turns of the loop.
func (p *processWay) ofVariable(frame int, in frameCode, v types.Object, depth int) turnShare {
	if of, ok := v.(*types.Var); ok && of.IsField() {
		return turnsSame
	}
	if ofPackage(v) {
		if len(p.d.changesOfAny(v)) > 0 {
			return turnsUnknown
		}
		return turnsSame
	}
	if !isLocal(in.decl, v) || in.lit != nil && in.lit.Pos() <= v.Pos() && v.Pos() < in.lit.Body.Pos() {
		return turnsUnknown
	}
	defs := p.d.definitions(in.decl)[v]
	if frame == len(p.way)-1 {
		switch body := bodyOfLoop(p.loop); {
		case p.loop.Pos() <= v.Pos() && v.Pos() < body.Pos():
			return turnsItem
		case v.Pos() < p.loop.Pos() || p.loop.End() <= v.Pos(): // outside of the loop, which may set it
			if slices.ContainsFunc(defs, func(def definition) bool { return p.loop.Pos() <= def.at && def.at < p.loop.End() }) {
				return turnsUnknown
			}
			return turnsSame
		}
	} else if isGiven(in.decl, v) {
		if len(defs) > 0 || frame+1 == len(p.way) {
			return turnsUnknown
		}
		return p.ofArgument(frame, in, v, depth)
	}
	if p.seen[v] {
		return turnsSame
	}
	p.seen[v] = true
	defer delete(p.seen, v)
	item, unknown := false, false
	for _, def := range defs {
		if def.x == nil {
			unknown = unknown || def.unknown
			continue
		}
		t := p.turns(frame, def.x, depth+1)
		item, unknown = item || t == turnsItem, unknown || t == turnsUnknown
	}
	switch {
	case item:
		return turnsItem
	case unknown:
		return turnsUnknown
	}
	return turnsSame
}

// ofArgument tells that of a parameter, by what the next frame outward gives for it.
func (p *processWay) ofArgument(frame int, in frameCode, v types.Object, depth int) turnShare {
	next, ok := p.d.at(p.way[frame+1])
	if !ok {
		return turnsUnknown
	}
	calls := p.d.callsOn(next, p.way[frame+1], in.decl.Name.Name)
	if len(calls) != 1 {
		return turnsUnknown
	}
	x := argumentFor(p.d, in.decl, calls[0], v)
	if x == nil {
		return turnsSame // an empty list
	}
	got := p.turns(frame+1, x, depth+1)
	if i := slices.Index(calls[0].Args, x); i >= 0 && i < len(calls[0].Args)-1 && givenLast(p.d, in.decl, v) {
		for _, more := range calls[0].Args[i+1:] { // a list of arguments
			if t := p.turns(frame+1, more, depth+1); t == turnsItem || got == turnsSame {
				got = t
			}
		}
	}
	return got
}

// givenLast tells of a parameter that it takes a list of arguments.
func givenLast(d *derivations, decl *ast.FuncDecl, v types.Object) bool {
	fields := decl.Type.Params.List
	if len(fields) == 0 {
		return false
	}
	last := fields[len(fields)-1]
	_, list := last.Type.(*ast.Ellipsis)
	return list && slices.ContainsFunc(last.Names, func(id *ast.Ident) bool { return d.variable(id) == v })
}

// Advice about processes.
const (
	oneProcessForAll = "Do not start a process for each item: give one process all of them, keep one running and talk to it, or do it in the program (a library)."
	startAtOnce      = "start them at the same time, with a limit such as GOMAXPROCS (errgroup with SetLimit), and give each a place of its own for its answer"
	fewerOfThese     = "start only those whose answers are needed, or keep the answers as long as the executables do not change"
	ownItemAlone     = "By the source, what each process is given and gives depends on its own item alone"
	askProcess       = "By the source, each turn starts the same program with the same arguments: if its answer does not change meanwhile, start it once, before the loop, and keep the answer."
	processTitle     = "Processes are started one after another in a loop"
	sameProcess      = "The same process is started again and again"
	fullByProcess    = "the processes have used %s of the time of the CPUs while the program waited for them: started at the same time, they would hardly end sooner"
)

// tellProcesses makes a finding about processes that are started one after another say what fits these.
func tellProcesses(in *Input, o *outward, looped bool, f *Finding) {
	if o.kind != "process" {
		return
	}
	if f.Title = "Processes are started one after another, many times"; looped {
		f.Title = processTitle
	}
	s, known := startAlong(in.code, o.path)
	full := childrenShare(in, o.share())
	f.Advice = s.advice(known, full >= fullCPUs)
	if known && s.same {
		f.Title = sameProcess
		return
	}
	if full < fullCPUs {
		return
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf(fullByProcess, unit.Percent(full)))
	if s.executable == turnsItem {
		f.Severity = Info
	}
}

// advice is what to do about them.
func (s processStart) advice(known, full bool) string {
	if known && s.same {
		if len(s.open) > 0 {
			return fmt.Sprintf("%s What may change its answer: %s.", askProcess, listed(s.open, 2))
		}
		return askProcess
	}
	once, first := "", oneProcessForAll
	switch {
	case !known:
		once = "If the processes do not need, or disturb, each other (the source does not show what each is given), " + startAtOnce + "."
	case len(s.open) > 0:
		once = fmt.Sprintf("If the processes do not need, or disturb, each other (%s), %s.", listed(s.open, 2), startAtOnce)
	case !s.tells:
		once = ownItemAlone + ". What they change outside of the program, the source does not show: if it is nothing that others of them use (files, the folder that they run in, a repository, a lock), and their order means nothing, " + startAtOnce + "."
	default:
		once = ownItemAlone + ": " + startAtOnce + "."
	}
	if full {
		once = ""
	}
	if s.executable == turnsItem {
		return strings.TrimSpace(once + " Each is another program: " + fewerOfThese + ".")
	}
	if !known {
		first += " If the question is the same each time, ask once and keep the answer."
	}
	return strings.TrimSpace(first + " " + once)
}

// fullCPUs is the share of the CPUs' time from which on what uses it leaves nothing for others. Chosen.
const fullCPUs = 0.8

// childrenShare is the part of the CPUs' time that other processes of the run have used, of the time in which a program waited for them.
func childrenShare(in *Input, waited float64) float64 {
	var cpu, wall time.Duration
	for _, r := range in.Facts.Rounds {
		if r.Duration > 0 {
			cpu += r.Waited + r.Family
			wall += r.Duration
		}
	}
	cpus := in.Session.Manifest().Host.CPUs
	if cpus == 0 || wall == 0 || waited <= 0 {
		return 0
	}
	return cpu.Seconds() / (wall.Seconds() * waited * float64(cpus))
}
