package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/format/benchmark"
	"loupe/internal/cli/command"
)

// keeper writes what is measured into a folder of files that are a history.
type keeper struct {
	dir  string
	name string // of the file, without its ending
	// config are the lines of the configuration that say what was measured.
	config []string
	began  time.Time
}

// keeper finds out what is going to be measured, before that is built; nil without -keep. It errs
// where the folder can not be made.
func (f *flags) keeper(e *command.Env, temp string, packages bool) (*keeper, error) {
	if f.keep == "" {
		return nil, nil
	}
	if err := os.MkdirAll(f.keep, 0o777); err != nil {
		return nil, fmt.Errorf("cannot keep results: %w (choose another folder with -keep)", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	k := &keeper{dir: f.keep, began: time.Now().UTC()}
	k.name = k.began.Format("20060102T150405Z") + "-" + k.revision(e.Ctx, dir, e.Progress(f.quiet))
	if f.build != "" {
		k.config = append(k.config, benchmark.BuildKey+": "+oneLine(f.build))
	}
	if cpu := oneLine(collect.HostFacts().CPU); !packages && cpu != "" { // test binaries say it themselves
		k.config = append(k.config, "cpu: "+cpu)
	}
	if packages {
		if version, err := collect.GoVersion(e.Ctx, temp, dir); err == nil {
			k.config = append(k.config, benchmark.ToolchainKey+": "+version)
		}
	}
	return k, nil
}

// revision adds the lines of the commit, and returns what it is called in names of files.
func (k *keeper) revision(ctx context.Context, dir string, progress func(string, ...any)) string {
	repo, err := collect.RepositoryOf(ctx, dir)
	if err != nil {
		progress("no commit is known of what is kept: %v", err)
		return "no-revision"
	}
	commit := repo.Commit(ctx, "HEAD")
	if commit == "" {
		progress("no commit is known of what is kept: the repository has none yet")
		return "no-revision"
	}
	name := commit[:min(len(commit), 12)]
	k.config = append(k.config, benchmark.CommitKey+": "+commit)
	if at := repo.CommitTime(ctx, commit); at != "" {
		k.config = append(k.config, benchmark.CommitTimeKey+": "+at)
	}
	if repo.Edited(ctx) {
		k.config = append(k.config, benchmark.EditedKey+": true")
		name += "-edited"
	}
	return name
}

// keep writes the file of what has been measured: of several versions of packages that of this
// tree, of several commands all. An error is one of the measurement's.
func (m *measurement) keep(e *command.Env, k *keeper) {
	if k == nil {
		return
	}
	text, results, err := m.keptText(e, k)
	if err == nil && results == 0 {
		return
	}
	path := ""
	if err == nil {
		path, err = k.write(text)
	}
	if err != nil {
		m.failed = errors.Join(m.failed, fmt.Errorf("cannot keep results in %s: %w", k.dir, err))
		return
	}
	e.Progress(m.flags.quiet)("kept in %s: loupe bench -history %s", path, command.ShellWord(k.dir))
}

// keptText is the text of the file, and how many results it has.
func (m *measurement) keptText(e *command.Env, k *keeper) (text []byte, results int, err error) {
	var b bytes.Buffer
	w := bench.NewWriter(&b, nil)
	err = w.Comment("loupe bench %s, %s", command.Version(), k.began.Format(time.RFC3339))
	if e.Ctx.Err() != nil {
		err = errors.Join(err, w.Comment("interrupted: there are fewer rounds than were asked for"))
	}
	for side, title := range m.titles {
		if m.cases[0].Package != "" && side < len(m.titles)-1 {
			continue
		}
		for _, c := range m.cases {
			if c.Failed != nil {
				err = errors.Join(err, w.Comment("%s failed, and is left out", c.Name))
				continue
			}
			one := &bench.Case{Package: c.Package, Name: c.Name, Config: append(append([]string{}, c.Config...), k.config...)}
			procs := c.Procs()
			if c.Package == "" {
				procs = runtime.GOMAXPROCS(0)
				one.Config = append(one.Config, benchmark.CommandKey+": "+oneLine(title))
			}
			one.Config = append(one.Config, fmt.Sprintf("%s: %d", benchmark.ProcsKey, procs))
			for i := range c.Rounds() {
				one.Sides = []bench.Side{{Results: c.Sides[side].Results[:i+1]}}
				err = errors.Join(err, w.Round(one))
				results++
			}
		}
	}
	return b.Bytes(), results, err
}

// oneLine is a text without ends of lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// tries is how many names are tried: so many could write at once.
const tries = 1000

// write writes a new file, of which nobody sees a part, under a name that nobody has taken.
func (k *keeper) write(text []byte) (path string, err error) {
	temp, err := os.CreateTemp(k.dir, ".loupe-*.part")
	if err != nil {
		return "", err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return "", err
	}
	for n := 1; n <= tries; n++ {
		path = filepath.Join(k.dir, k.name+".txt")
		if n > 1 {
			path = filepath.Join(k.dir, fmt.Sprintf("%s-%d.txt", k.name, n))
		}
		if err = place(temp.Name(), path); !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
	return "", err
}

// place gives a file a name that is free, at once. Where there are no hard links, the name is
// taken first.
func place(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Close(), os.Rename(temp, path)); err != nil {
		os.Remove(path)
		return err
	}
	return nil
}
