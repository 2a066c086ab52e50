package record

import (
	"os"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/recording"
)

// made is what it takes to make the recording of a version again.
func (f *runFlags) made(e *command.Env, args []string, v version) *recording.Made {
	m := &recording.Made{Flags: f.set.Typed, Target: args[0], Args: args[1:], Input: inputOf(e.Stdin)}
	m.Dir, _ = os.Getwd() // without it nothing was built
	repo, err := collect.RepositoryOf(e.Ctx, m.Dir)
	switch {
	case v.revision != "" && err == nil:
		m.Commit = repo.Commit(e.Ctx, v.revision)
	case v.dir != m.Dir:
		if repo, err = collect.RepositoryOf(e.Ctx, v.dir); err != nil {
			break
		}
		fallthrough
	case err == nil:
		m.Commit, m.Edited = repo.Commit(e.Ctx, "HEAD"), repo.Edited(e.Ctx)
	}
	return m
}

// inputOf says what a program gets as its standard input.
func inputOf(f *os.File) recording.Input {
	if f == nil || command.IsTerminal(f) {
		return recording.NoInput
	}
	info, err := f.Stat()
	switch {
	case err != nil || info.Mode()&os.ModeCharDevice != 0:
		return recording.NoInput
	case info.Mode().IsRegular():
		return recording.FileInput
	}
	return recording.StreamInput
}
