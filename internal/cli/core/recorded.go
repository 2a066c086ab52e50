package core

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/programs"
	"loupe/recording"
	"loupe/source"
)

// openCore opens the core that was named, or that of the recording that was named, with its
// program, which may be named in front of it.
func openCore(e *command.Env, args []string) (*programs.Core, error) {
	if len(args) == 0 || len(args) > 2 {
		return programs.OpenCore(e, args)
	}
	name := args[len(args)-1]
	program, rec, err := recorded(e, name)
	if err != nil {
		return nil, err
	}
	if rec == "" {
		return programs.OpenCore(e, args)
	}
	if len(args) == 2 {
		program = args[0]
	}
	c, err := programs.OpenCoreOf(e, rec, program)
	if err == nil {
		c.Name, c.Program = e.Doors.Rename(c.Name), e.Doors.Rename(c.Program)
	}
	return c, err
}

// recorded returns where the core of a recording lies on this machine, and the program that
// was recorded with it. core is empty where name is no recording.
func recorded(e *command.Env, name string) (program, core string, err error) {
	in := packedOrFolder(e, name)
	if in == nil || !in.Recording {
		return "", "", nil
	}
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return "", "", err
	}
	defer rec.Close()
	m := &rec.Manifest
	entry, ok := m.Main(recording.Core)
	if !ok {
		return "", "", command.Nothingf("%s has no core (record one: loupe run -phases core PROGRAM, or loupe attach -phases core PID)", name)
	}
	if all := m.Of(recording.Core); len(all) > 1 {
		var names []string
		for _, c := range all {
			names = append(names, command.ShellWord(name+"/"+c.Path))
		}
		fmt.Fprintf(e.Stderr, "loupe core: %s has %d cores, this is %s; the others can be named: %s\n", name, len(all), entry.Path, strings.Join(names, ", "))
	}
	i := slices.IndexFunc(m.Entries, func(p recording.Entry) bool {
		return p.Kind == recording.Program && p.Phase == entry.Phase && p.Run == entry.Run
	})
	paths := []string{entry.Path}
	if i >= 0 {
		paths = append(paths, m.Entries[i].Path)
	}
	for j, path := range paths {
		if paths[j], err = entryOf(e, in, path); err != nil {
			return "", "", err
		}
	}
	if i >= 0 {
		program = paths[1]
	}
	return program, paths[0], nil
}

// packedOrFolder takes a name through the door where it may be a recording; a core is opened
// as it is, however large.
func packedOrFolder(e *command.Env, name string) *source.Input {
	if programs.IsCore(name) {
		return nil
	}
	in, err := door.New(e, "", nil).Open(e.Ctx, name)
	if err != nil || len(in) != 1 {
		return nil // what is wrong with it, opening it as a core says
	}
	return in[0]
}

// entryOf returns where an entry of a recording lies: in its folder, or unpacked.
func entryOf(e *command.Env, in *source.Input, path string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return "", fmt.Errorf("cannot open %s of %s: the name leads out of the recording", path, in.Name)
	}
	got, err := door.TakeOne(e, door.New(e, "", nil), in.Path+"/"+path)
	if err != nil {
		return "", err
	}
	return got.Path, nil
}
