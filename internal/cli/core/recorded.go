package core

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
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
	core, program, err := recorded(e, name)
	if err != nil {
		return nil, err
	}
	if core == nil {
		return programs.OpenCore(e, args)
	}
	if len(args) == 2 {
		program = &entry{args[0], args[0]}
	}
	c, err := programs.OpenCoreOf(e, core.path, program.path)
	if err == nil {
		c.Name, c.Program = core.name, cmp.Or(program.name, c.Program)
	}
	return c, err
}

// entry is a file of a recording: what the user would call it, and where it lies on this
// machine.
type entry struct{ name, path string }

// recorded returns the core of a recording, and the program that was recorded with it, which
// is empty where there is none. Both are nil where name is no recording.
func recorded(e *command.Env, name string) (core, program *entry, err error) {
	in := packedOrFolder(e, name)
	if in == nil || !in.Recording {
		return nil, nil, nil
	}
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil, nil, err
	}
	defer rec.Close()
	m := &rec.Manifest
	main, ok := m.Main(recording.Core)
	if !ok {
		return nil, nil, command.Nothingf("%s has no core (record one: loupe run -phases core PROGRAM, or loupe attach -phases core PID)", name)
	}
	if all := m.Of(recording.Core); len(all) > 1 {
		var names []string
		for _, c := range all {
			names = append(names, command.ShellWord(name+"/"+c.Path))
		}
		fmt.Fprintf(e.Stderr, "loupe core: %s has %d cores, this is %s; the others can be named: %s\n", name, len(all), main.Path, strings.Join(names, ", "))
	}
	if core, err = entryOf(e, in, main.Path); err != nil {
		return nil, nil, err
	}
	program = &entry{}
	for _, p := range m.Of(recording.Program) {
		if p.Phase == main.Phase && p.Run == main.Run {
			if program, err = entryOf(e, in, p.Path); err != nil {
				return nil, nil, err
			}
		}
	}
	return core, program, nil
}

// packedOrFolder takes a name through the door where it may be a recording; a core is opened
// as it is, however large.
func packedOrFolder(e *command.Env, name string) *source.Input {
	if programs.IsCore(name) {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // reading a pipe waits for whoever writes to it
	}
	in, err := door.New(e, "", nil).Open(e.Ctx, name)
	if err != nil || len(in) != 1 {
		return nil // what is wrong with it, opening it as a core says
	}
	return in[0]
}

// entryOf returns an entry of a recording, in its folder or unpacked.
func entryOf(e *command.Env, in *source.Input, path string) (*entry, error) {
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		return nil, fmt.Errorf("cannot open %s of %s: the name leads out of the recording", path, in.Name)
	}
	got, err := door.TakeOne(e, door.New(e, "", nil), in.Path+"/"+path)
	if err != nil {
		return nil, err
	}
	return &entry{in.Name + "/" + path, got.Path}, nil
}
