// Package door turns what a user names into files on this machine, with the flags and the
// messages of the command line. Package source does the work.
package door

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/capture/remote"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/secret"
)

// Help says what a FILE may be, for the help of the commands that take any.
const Help = `
Besides a file, FILE may be - for standard input, a URL to fetch (http://host/log.gz), a
merged profile from loupe serve or Pyroscope (pyroscope://host:4040/shop?type=cpu&last=1d), a
service (:6060, http://host:6060) or a process ID, which is recorded for a few seconds,
RECORDING/ENTRY, 'a pattern*', and any of these compressed with gzip, zstd, zip or tar.`

// Asker says how the service at an address is to be asked.
type Asker interface {
	Access(address string) (collect.Access, error)
}

// plainly asks without anything special.
type plainly struct{}

func (plainly) Access(string) (collect.Access, error) {
	return collect.Access{Header: http.Header{}}, nil
}

// New makes the door through which a command takes what the user has named. Of
// what runs the phases are recorded; asking says how a service is asked, nil where the
// command has no flags for that.
func New(e *command.Env, phases string, asking Asker) *source.Door {
	d := &source.Door{Stdin: e.Stdin}
	if asking == nil {
		asking = plainly{}
	}
	d.Fetch = func(ctx context.Context, address string) (io.ReadCloser, error) { return Fetch(ctx, asking, address) }
	if phases != "" {
		d.Capture = func(ctx context.Context, target, dir string) error {
			return captureInto(e, phases, asking, target, dir)
		}
	}
	e.Doors.Add(d)
	e.AtAbort(func() { d.Close() })
	return d
}

// Take opens what was named.
func Take(e *command.Env, d *source.Door, names ...string) ([]*source.Input, error) {
	all, err := d.Open(e.Ctx, names...)
	if err != nil {
		return nil, err
	}
	for _, in := range all {
		in.Name = e.Doors.Rename(in.Name) // a copy that a command hands to another
		if info, err := os.Stat(in.Path); err == nil && info.Mode().IsRegular() {
			e.Reads(in.Name, in.Path, info)
		}
		if in.Cut != nil {
			fmt.Fprintf(e.Stderr, "WARNING: %s cannot be unpacked to its end: %v; only what came before is read\n", in.Name, in.Cut)
		}
	}
	return all, nil
}

// TakeOne opens what was named, which is to be one file or recording.
func TakeOne(e *command.Env, d *source.Door, name string) (*source.Input, error) {
	all, err := Take(e, d, name)
	if err != nil {
		return nil, err
	}
	if len(all) > 1 {
		return nil, fmt.Errorf("%s matches %d files, but only one can be used: name it, as in %s", name, len(all), all[0].Name)
	}
	if in := all[0]; in.Folder {
		return nil, fmt.Errorf("%s is a folder but not a recording (it has no manifest.json or journal.ndjson): name a file in it, or show all of it: loupe open %s", in.Name, command.ShellWord(in.Name))
	}
	return all[0], nil
}

// Fetch gets what is behind an address. It asks the host that was named and nobody
// else: no proxy, and no other host that it is sent on to.
func Fetch(ctx context.Context, asking Asker, address string) (io.ReadCloser, error) {
	if source.IsKept(address) {
		return merged(ctx, asking, address)
	}
	access, err := asking.Access(address)
	if err != nil {
		return nil, command.Usage(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, command.Usage(err)
	}
	access.Show(req)
	shown := secret.URL(address)
	resp, err := access.Client().Do(req)
	if err != nil {
		return nil, command.Nothingf("cannot get %s: %w", shown, err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, command.Nothingf("cannot get %s: the server says %s (is the path right, is net/http/pprof imported?)", shown, resp.Status)
	}
	return resp.Body, nil
}

// merged gets the sum of profiles that a server keeps, of an address such as
// pyroscope://host:4040/shop?type=cpu&last=1h.
func merged(ctx context.Context, asking Asker, address string) (io.ReadCloser, error) {
	base, question, err := remote.ParseAddress(address)
	if err != nil {
		return nil, command.Usage(err)
	}
	access, err := asking.Access(base)
	if err != nil {
		return nil, command.Usage(err)
	}
	server, err := remote.New(base, access)
	if err != nil {
		return nil, command.Usage(err)
	}
	sel, err := server.Resolve(ctx, question, time.Now())
	var body []byte
	if err == nil {
		body, err = server.Profile(ctx, sel)
	}
	if err != nil {
		return nil, Remote(err)
	}
	return io.NopCloser(bytes.NewReader(body)), nil
}

// Remote gives an error of a server of profiles its exit code.
func Remote(err error) error {
	if errors.Is(err, remote.ErrNothing) {
		return command.Nothing(err)
	}
	return err
}

// LookPhases is what is recorded of what runs for a report or the pages.
const LookPhases = "bare:3s,heap,goroutine,cpu:3s,block:2s,mutex:2s"

// captureInto records phases of what runs into a folder, as loupe attach does.
func captureInto(e *command.Env, phases string, asking Asker, target, dir string) error {
	plan := collect.Plan{}
	var err error
	if plan.Phases, err = collect.ParsePhases(phases, captureInterval); err != nil {
		return err
	}
	access, err := asking.Access(target)
	if err != nil {
		return command.Usage(err)
	}
	service, err := collect.Find(e.Ctx, target, access)
	if err != nil {
		return command.Unreachable(err)
	}
	shown := secret.URL(target)
	if !e.Quiet {
		fmt.Fprintf(e.Stderr, "recording %s of %s temporarily (loupe attach %s keeps a recording)\n", strings.ReplaceAll(phases, ",", ", "), shown, shown)
	}
	return e.WithTemp(func(temp string) error {
		w, err := recording.Create(dir, recording.Manifest{Title: shown, Tool: command.Version(), Host: collect.HostFacts()})
		if err != nil {
			return err
		}
		r, err := collect.Attach(e.Ctx, w, service, collect.RecorderOptions{Temp: temp, Interval: captureInterval, Access: access, Progress: e.Progress(false)})
		if err != nil {
			return errors.Join(command.Unreachable(err), w.Close())
		}
		err = r.RecordAttached(e.Ctx, plan)
		return errors.Join(err, r.Close(), FailedPhases(w.Manifest()))
	})
}

// captureInterval is how often what runs is looked at while it is recorded for a look,
// and for how long before a phase that is not about its figures.
const captureInterval = 250 * time.Millisecond

// Side opens one side of a comparison: what a name stands for, several of them with
// commas between, and of a folder that is no recording the files in it.
func Side(e *command.Env, d *source.Door, name string) (all []*source.Input, err error) {
	parts := []string{name}
	if _, err := os.Stat(name); err != nil && !source.IsAddress(name) {
		parts = strings.Split(name, ",")
	}
	for _, part := range parts {
		some, err := d.Open(e.Ctx, part)
		if err != nil {
			return nil, err
		}
		for _, in := range some {
			in.Name = e.Doors.Rename(in.Name)
			if !in.Folder {
				all = append(all, in)
				continue
			}
			inside, err := FilesIn(e, d, in.Path)
			if err != nil {
				return nil, err
			}
			all = append(all, inside...)
		}
	}
	return all, nil
}

// FilesIn opens the files in a folder, and tells of those that are nothing.
func FilesIn(e *command.Env, d *source.Door, dir string) (all []*source.Input, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, x := range entries {
		name := filepath.Join(dir, x.Name())
		if info, err := bounded.Stat(name); err != nil || !info.Mode().IsRegular() || strings.HasPrefix(x.Name(), ".") {
			continue
		}
		some, err := d.Open(e.Ctx, name)
		if err != nil {
			fmt.Fprintf(e.Stderr, "left out: %v\n", err)
			continue
		}
		for _, in := range some {
			if in.Kind == kind.Unknown || in.Kind == kind.Empty {
				fmt.Fprintf(e.Stderr, "left out: %v\n", cannotTell(in))
				continue
			}
			all = append(all, in)
		}
	}
	if len(all) == 0 {
		return nil, command.Nothingf("there is nothing in %s that loupe can read", dir)
	}
	return all, nil
}

// cannotTell is the error of an input that is nothing of what loupe knows.
func cannotTell(in *source.Input) error {
	switch in.Kind {
	case kind.Empty:
		return command.Nothingf("%s is empty", in.Name)
	case kind.Program:
		return fmt.Errorf("%s is a program: name a file that it wrote, or record it: loupe run %s", in.Name, command.ShellWord(in.Name))
	}
	return fmt.Errorf("cannot tell what %s is: it is none of: %s", in.Name, kind.Known)
}

// Readable refuses inputs that are nothing, and programs and folders where files are
// wanted.
func Readable(all []*source.Input) error {
	for _, in := range all {
		switch {
		case in.Recording:
		case in.Folder:
			return fmt.Errorf("%s is a folder but not a recording (it has no manifest.json or journal.ndjson): name a file in it, or show all of it: loupe open %s", in.Name, command.ShellWord(in.Name))
		case slices.Contains([]kind.Kind{kind.Unknown, kind.Empty, kind.Program}, in.Kind):
			return cannotTell(in)
		}
	}
	return nil
}

// Views are the commands that show inputs of a kind.
var Views = map[kind.Kind]string{
	kind.Trace: "loupe trace summary", kind.Profile: "loupe pprof -top", kind.Dump: "loupe stacks", kind.Core: "loupe core", kind.Load: "loupe open -text", kind.LoadText: "loupe open -text",
	kind.Benchmarks: "loupe compare", kind.GCTrace: "loupe gc", kind.SchedTrace: "loupe sched", kind.RuntimeLog: "loupe gc",
	kind.CompilerLog: "loupe report",
}

// WrongKind is the error of an input of another kind than a command looks at.
func WrongKind(in *source.Input, wanted string) error {
	if in.Recording {
		return fmt.Errorf("%s is a recording, but %s is needed: loupe report %s shows it", in.Name, wanted, command.ShellWord(in.Name))
	}
	if view := Views[in.Kind]; view != "" {
		return fmt.Errorf("%s is not %s but %s: %s %s shows it", in.Name, wanted, in.Kind.One(), view, command.ShellWord(in.Name))
	}
	if in.Kind == kind.Tests {
		return fmt.Errorf("%s is not %s but %s, without a benchmark or a goroutine dump: loupe report %s says whether tests failed", in.Name, wanted, in.Kind.One(), command.ShellWord(in.Name))
	}
	return cannotTell(in)
}

// IsLog tells whether an input has lines of the runtime.
func IsLog(k kind.Kind) bool {
	return k == kind.GCTrace || k == kind.SchedTrace || k == kind.RuntimeLog
}

// FailedPhases says which phases of a recording have failed.
func FailedPhases(m recording.Manifest) error {
	var errs error
	for _, p := range m.Phases {
		if p.Error != "" {
			errs = errors.Join(errs, fmt.Errorf("phase %s failed: %s", p.Name, p.Error))
		}
	}
	return errs
}
