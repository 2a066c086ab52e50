package exectrace

import (
	"fmt"
	"strconv"
	"time"

	"loupe/value/stack"
)

// AppendText appends the current event in words, as the standard library's
// reader prints it (go tool trace -d=parsed): one line, and more for stacks.
func (r *Reader) AppendText(b []byte) []byte {
	e, out := r.Event(), &r.merge.out
	b = fmt.Appendf(b, "M=%d P=%d G=%d %v Time=%d", e.M, e.P, e.G, e.Kind, e.Time)
	switch e.Kind {
	case KindSync:
		b = fmt.Appendf(b, " N=%d", e.Value())
		if c := r.Clock(); c != nil {
			b = fmt.Appendf(b, " Trace=%d Mono=%d Wall=%s", c.Trace, c.Mono, c.Wall.Format(time.RFC3339Nano))
		}
	case KindMetric:
		b = fmt.Appendf(b, " Name=%q Value=Value{Uint64(%d)}", r.Name(e.Name), e.Value())
	case KindLabel:
		b = fmt.Appendf(b, " Label=%q Resource=Goroutine(%d)", r.Name(e.Name), e.G)
	case KindRangeBegin, KindRangeActive, KindRangeEnd:
		b = fmt.Appendf(b, " Name=%q Scope=%s", r.Name(e.Name), e.scopeText())
		if e.Kind == KindRangeEnd {
			b = append(b, " Attributes=["...)
			if e.Name == NameSweep {
				b = fmt.Appendf(b, "\"bytes swept\"=Value{Uint64(%d)} \"bytes reclaimed\"=Value{Uint64(%d)}", e.Swept(), e.Reclaimed())
			}
			b = append(b, ']')
		}
	case KindTaskBegin, KindTaskEnd:
		b = fmt.Appendf(b, " ID=%d Parent=%d Type=%q", e.Task(), e.Parent(), r.Name(e.Name))
	case KindRegionBegin, KindRegionEnd:
		b = fmt.Appendf(b, " Task=%d Type=%q", e.Task(), r.Name(e.Name))
	case KindLog:
		b = fmt.Appendf(b, " Task=%d Category=%q Message=%q", e.Task(), r.Name(e.Name), r.Message())
	case KindGoTransition, KindProcTransition:
		what := "GoID"
		if e.Kind == KindProcTransition {
			what = "ProcID"
		}
		b = fmt.Appendf(b, " %s=%d %v->%v Reason=%q", what, e.Subject, e.From, e.To, r.Name(e.Name))
		if out.subjectRef != 0 || e.op == evGoCreate || e.op == evGoCreateBlocked {
			b = appendFrames(append(b, "\nTransitionStack=\n"...), r.stacks, e.SubjectStack, r.SubjectPCs(nil))
		}
	case KindExperimental:
		b = fmt.Appendf(b, " Name=%s Args=[", r.Name(e.Name))
		for i, name := range specs[e.op].args[1:] {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = fmt.Appendf(b, "%s=Value{Uint64(%d)}", name, e.Args[i])
		}
		b = append(b, ']')
	}
	if out.stackRef != 0 {
		b = appendFrames(append(b, "\nStack=\n"...), r.stacks, e.Stack, r.PCs(nil))
	}
	return b
}

// scopeText is the scope of a range in words.
func (e *Event) scopeText() string {
	switch e.Scope() {
	case ScopeGoroutine:
		return "Goroutine(" + strconv.FormatInt(e.Subject, 10) + ")"
	case ScopeProc:
		return "Proc(" + strconv.FormatInt(e.Subject, 10) + ")"
	}
	return "None"
}

// appendFrames appends a stack, two lines for each frame.
func appendFrames(b []byte, stacks *stack.Table, id stack.ID, pcs []uint64) []byte {
	for i, f := range stacks.Frames(id) {
		var pc uint64
		if i < len(pcs) {
			pc = pcs[i]
		}
		frame := stacks.Frame(f)
		b = fmt.Appendf(b, "\t%s @ 0x%x\n\t\t%s:%d\n", frame.Func, pc, frame.File, frame.Line)
	}
	return b
}
