package stacks

import (
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/report"
)

// coreStacks reads the goroutines of a core for loupe stacks.
func coreStacks(e *command.Env, f *stacksFlags, name string, v *report.Stacks) (done func() error, err error) {
	c, err := programs.OpenCoreOf(e, name, f.binary)
	if err != nil {
		return nil, err
	}
	done = func() error { c.Files.Close(); return nil }
	read := c.Stacks
	if f.full {
		read = c.Goroutines
	}
	if v.File, err = read(); err != nil {
		c.Files.Close()
		return nil, command.Nothing(err)
	}
	v.Explained = programs.Explained(e.Ctx, c.Core, v.File)
	return done, nil
}
