package record

import (
	"cmp"
	"os"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/recording"
)

// made is what it takes to make the recording of a version again. root is the folder of the module that
// the program was built of, "" of a ready binary: the commit is that of the repository around it, which
// need not be the one around this folder.
func (f *runFlags) made(e *command.Env, args []string, v version, root string) *recording.Made {
	m := &recording.Made{Flags: f.set.Typed, Target: args[0], Args: args[1:], Input: inputOf(e.Stdin)}
	m.Dir, _ = os.Getwd() // without it nothing was built
	if v.revision != "" { // it lies where no repository is
		if repo, err := collect.RepositoryOf(e.Ctx, m.Dir); err == nil {
			m.Commit = repo.Commit(e.Ctx, v.revision)
		}
		return m
	}
	if repo, err := collect.RepositoryOf(e.Ctx, cmp.Or(root, v.dir)); err == nil {
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
