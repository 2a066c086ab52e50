package insight

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp11 = &Rule{
	ID: "CP11", Title: "Built for the oldest processors (GOAMD64=v1): hot code could use newer instructions",
	About: "Without GOAMD64 the compiler generates code that runs on every amd64 processor: bit counting, rounding and fused multiply-add check at run time whether the processor supports them, and bits are " +
		"searched with slower instructions. GOAMD64=v3 uses what processors since 2013 have.",
	Asks: []facts.Question{facts.Built, facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, CP11; the lower bound of the interval counts"},
		{"level", 3, "microarchitecture level", "the x86-64 psABI; GOAMD64 in the Go documentation"},
		g0,
	},
	Aside: true,
	Check: checkGOAMD64,
}

// betterWithLevel are the functions of the library that the compiler makes one instruction
// of, and a shorter one with a higher GOAMD64 (cmd/compile/internal/ssagen/intrinsics.go).
var betterWithLevel = map[string][]string{
	"math/bits": {"OnesCount*", "LeadingZeros*", "TrailingZeros*", "Len*", "Mul64"},
	"math":      {"FMA", "Floor", "Ceil", "Trunc", "RoundToEven"},
}

func checkGOAMD64(r *Rule, in *Input) []Finding {
	b, err := facts.BuildOf(in.Facts)
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	host := levelOf(in.Session.Manifest().Host.Level)
	switch {
	case b.Settings["GOARCH"] != "" && b.Settings["GOARCH"] != "amd64":
		return []Finding{r.answer(NotApplicable, "the program was built for %s", b.Settings["GOARCH"])}
	case levelOf(b.Settings["GOAMD64"]) == 0:
		return []Finding{r.answer(TooLittle, "the build does not say which processors it is for")}
	case levelOf(b.Settings["GOAMD64"]) >= int(r.param("level")):
		return []Finding{r.answer(Fine, "built with GOAMD64=%s", b.Settings["GOAMD64"])}
	case host == 0 || !facts.OursToRun(in.Facts):
		return []Finding{r.answer(TooLittle, "the processor's features are not known: loupe run records them on Linux")}
	case host < int(r.param("level")):
		return []Finding{r.answer(Fine, "built with GOAMD64=%s for a processor of level v%d", b.Settings["GOAMD64"], host)}
	}
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	total := cpu.Total()
	if total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", cpu.Entry.Path, total, r.param("samples"))}
	}
	f := r.answer(Found, "")
	var sum int64
	var calls []string
	for _, l := range in.ownLines(cpu.Profile, cpu.Index, []string{interrupted}, lineOf) {
		call := levelCall(in.code, l.at)
		if call == "" {
			continue
		}
		sum += l.samples
		calls = appendNew(calls, call)
		if len(f.Evidence) < evidenceLines && l.samples >= minHits {
			f.Evidence = append(f.Evidence, in.lineAt(cpu.Entry, l.at, "%d of %d samples, %s", l.samples, total, call))
		}
	}
	share := stats.Wilson(float64(sum), float64(total), compare.Confidence)
	if share.Low < r.param("share") || len(f.Evidence) == 0 {
		return []Finding{r.answer(Fine, "built with GOAMD64=%s; %s of the CPU time is in lines that count or search bits, round or multiply and add", b.Settings["GOAMD64"], unit.Percent(share.Estimate))}
	}
	f.Summary = fmt.Sprintf("built with GOAMD64=%s on a processor of level v%d, and %s of the CPU time is in lines with %s", b.Settings["GOAMD64"], host, unit.Percent(share.Estimate), strings.Join(calls[:min(3, len(calls))], ", "))
	f.Severity, f.Score = Info, 15
	f.Impact = &Impact{share.Estimate, "share of CPU time in such lines", share.Low, share.High}
	f.Advice = "Build with GOAMD64=v3 if all machines that run it support it (Haswell and Zen or later), and compare."
	f.Verify = "loupe run -rounds 5 -vs OLD NEW, or the benchmark: the gain is part of the share."
	f.Doubts = append(in.doubts(), "a program built this way exits at startup on a processor that lacks these instructions")
	return []Finding{f}
}

// levelOf is the number of a level: 3 of "v3"; 0 where it is none.
func levelOf(text string) int {
	digits, ok := strings.CutPrefix(text, "v")
	if !ok || digits == "" {
		return 0
	}
	n, err := strconv.Atoi(digits[:1]) // GOAMD64 is v1 to v4
	if err != nil {
		return 0
	}
	return n
}

// levelCall is the function on a line that is better with a higher level; empty where
// there is none, or no source.
func levelCall(c *code, at stack.Frame) (call string) {
	s := c.parse(at.File)
	if s == nil {
		return ""
	}
	s.onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		x, ok := n.(*ast.CallExpr)
		if !ok || call != "" {
			return
		}
		sel, ok := x.Fun.(*ast.SelectorExpr)
		if !ok {
			return
		}
		pkg, ok := sel.X.(*ast.Ident)
		if first, last := s.lines(x); !ok || first > at.Line || last < at.Line {
			return
		}
		for path, names := range betterWithLevel {
			if importedAs(s.file, path) != pkg.Name {
				continue
			}
			set := &nameSet{whole: map[string]bool{}}
			set.add(strings.Join(names, " "))
			if set.has(sel.Sel.Name) {
				call = pkg.Name + "." + sel.Sel.Name
			}
		}
	})
	return call
}
