package core

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"loupe/capture/live"
	"loupe/internal/cli/command"
	"loupe/report"
	"loupe/value/unit"
)

// coreCapture writes the core of a running process.
func coreCapture(e *command.Env, f *coreFlags, args []string) error {
	arg, err := command.OneArg(args, "the process ID")
	if err != nil {
		return err
	}
	pid, err := strconv.ParseUint(arg, 10, 31)
	if err != nil || pid == 0 {
		return command.Usagef("%q is not a process ID", arg)
	}
	name := f.out
	if name == "" {
		name = arg + ".core"
	}
	// Nobody else may read what a process knew, and nothing is overwritten.
	out, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return command.Usagef("%s already exists: name another file with -o", name)
	}
	if err != nil {
		return err
	}
	defer e.Keeps()() // the process goes on before anything else
	c, err := live.Capture(e.Ctx, int(pid), out)
	if err != nil {
		os.Remove(name) // nothing of the process is in it
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, live.ErrNotPermitted) || errors.Is(err, live.ErrNotSupported) {
			err = command.Nothing(err)
		}
		return errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	if err := captured(e, f, name, c); err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "loupe core: it contains everything in the process's memory, including passwords and keys\n")
	if c.Unreadable > 0 {
		fmt.Fprintf(e.Stderr, "loupe core: the kernel refused to read %s of its memory\n", unit.BytesOf(float64(c.Unreadable)))
	}
	if c.Cut != nil {
		return fmt.Errorf("%s is truncated after %s: %w (what is in it can be read)", name, unit.Bytes(c.Size), c.Cut)
	}
	fmt.Fprintf(e.Stderr, "to examine it: loupe core %s\n", command.ShellWord(name))
	return nil
}

// captured tells what was written, and for how long the process stood still.
func captured(e *command.Env, f *coreFlags, name string, c live.Captured) error {
	if f.json {
		return report.WriteJSON(e.Stdout, struct {
			Schema     string        `json:"schema"`
			File       string        `json:"file"`
			Bytes      int64         `json:"bytes"`
			Memory     uint64        `json:"memory_in_file"`
			Disk       int64         `json:"bytes_on_disk"`
			Unreadable uint64        `json:"bytes_refused"`
			Cut        bool          `json:"cut"`
			Threads    int           `json:"threads"`
			Stopped    time.Duration `json:"stopped_ns"`
		}{report.CoreSchema, name, c.Size, c.Written, c.Disk, c.Unreadable, c.Cut != nil, c.Threads, c.Stopped})
	}
	_, err := fmt.Fprintf(e.Stdout, "%s: %s of memory, %s on the disk, %s; the process was stopped for %s\n",
		name, unit.BytesOf(float64(c.Written)), unit.Bytes(c.Disk), unit.Plural(c.Threads, "thread"), unit.Duration(c.Stopped))
	return err
}
