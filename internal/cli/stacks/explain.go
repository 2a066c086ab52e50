package stacks

import (
	"fmt"

	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/report"
)

// explainStacks prepares to say what the words of arguments are: by the binary
// that was named, and else by the sources that the dump names, where they are on
// this machine. A binary that does not fit is said aloud.
func explainStacks(e *command.Env, f *stacksFlags, v *report.Stacks) (done func() error, err error) {
	if v.Explained != nil {
		return noClose, nil // a core comes with its binary
	}
	var files programs.Files
	var bin *programs.Program
	if f.binary != "" {
		if bin, err = files.OpenProgram(f.binary, "-binary"); err != nil {
			files.Close()
			return nil, err
		}
	}
	v.Explained = programs.ExplainDump(e.Ctx, v.File, bin)
	if text := report.FitText(v.Explained); text != "" {
		fmt.Fprintf(e.Stderr, "loupe stacks: WARNING: %s\n", text)
	}
	return func() error { files.Close(); return nil }, nil
}
