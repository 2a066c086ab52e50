package insight

import (
	"fmt"

	"loupe/recording"
	"loupe/value/stack"
)

// evidenceStack is a stack for a finding.
func evidenceStack(frames []stack.Frame) []Frame {
	var out []Frame
	for _, f := range frames {
		out = append(out, Frame{Function: f.Func, File: f.File, Line: f.Line})
	}
	return out
}

// lineAt is evidence of a file at a line.
func (in *Input) lineAt(entry recording.Entry, at stack.Frame, format string, args ...any) Evidence {
	source := in.code.text(at.File, at.Line)
	return Evidence{Text: fmt.Sprintf(format, args...), Path: entry.Path, Phase: entry.Phase,
		File: at.File, Line: at.Line, Function: at.Func, Source: source}
}

// fileAt is evidence of a file at a frame of a stack, of the time of its phase.
func (in *Input) fileAt(entry recording.Entry, at stack.Frame, frames []stack.Frame, format string, args ...any) Evidence {
	e := in.lineAt(entry, at, format, args...)
	e.Stack = evidenceStack(frames)
	if p, ok := in.Session.Manifest().PhaseNamed(entry.Phase); ok {
		e.Span = span(p.Span)
	}
	return e
}
