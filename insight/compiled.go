package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
)

// ownLine is a line of the user's with the CPU time that is its own.
type ownLine struct {
	at      stack.Frame
	samples int64
	words   []*compiler.Diagnostic // what the compiler says of it
}

// lineOf is the key of a line.
func lineOf(f stack.Frame) string { return fmt.Sprint(f.File, ":", f.Line) }

// compiledCPU opens what the rules look at that hold the CPU profile against
// what the compiler says. Where that is not possible it
// returns the answer.
func compiledCPU(r *Rule, in *Input) (p *profile.Profile, index int, entry recording.Entry, set *compiler.Set, answer []Finding) {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return nil, 0, entry, nil, []Finding{r.answer(TooLittle, "%v", err)}
	}
	p, index, entry = cpu.Profile, cpu.Index, cpu.Entry
	if total := p.Total(index); total < int64(r.param("samples")) {
		return nil, 0, entry, nil, []Finding{r.short("%s has %d samples; %g are needed: record longer (-phases cpu:30s) or under load", entry.Path, total, r.param("samples"))}
	}
	set, missing := in.compiled()
	if set == nil {
		return nil, 0, entry, nil, []Finding{r.answer(NotApplicable, "%s", missing)}
	}
	return p, index, entry, set, nil
}

// interrupted is what stands above a line when the sample comes as the
// goroutine is asked to stop.
const interrupted = "runtime.asyncPreempt"

// ownLines are the lines of the user that stand at the leaf, by a key, the
// hottest first. Functions of skip in front of them count as the line's own.
func (in *Input) ownLines(p *profile.Profile, index int, skip []string, key func(stack.Frame) string) []*ownLine {
	isUser := in.Session.Scope().IsUser
	lines := map[string]*ownLine{}
	for id, w := range p.Samples(index) {
		frames := p.Stacks.Frames(id)
		for len(frames) > 0 && slices.Contains(skip, p.Stacks.Frame(frames[0]).Func) {
			frames = frames[1:]
		}
		if len(frames) == 0 || w <= 0 || !isUser(p.Stacks.Frame(frames[0])) {
			continue
		}
		f := p.Stacks.Frame(frames[0])
		k := key(f)
		if lines[k] == nil {
			lines[k] = &ownLine{at: f}
		}
		lines[k].samples += w
	}
	var out []*ownLine
	for _, l := range lines {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b *ownLine) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), strings.Compare(a.at.File, b.at.File), a.at.Line-b.at.Line)
	})
	return out
}
