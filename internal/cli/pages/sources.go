// Package pages makes sources for the pages of package web out of what the user has named.
package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/dump"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/kept"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/source"
	"loupe/web"
)

// FS are other pages than those in the program, for those who work on them.
func FS() fs.FS {
	if dir := os.Getenv("LOUPE_PAGES"); dir != "" {
		return os.DirFS(dir)
	}
	return nil
}

// IsFolder tells whether a name is that of a folder that is no recording itself.
func IsFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() && !source.IsRecording(name) && !source.IsCompilerFolder(name)
}

// Sources are what can be looked at behind the names: each recording, all files
// that stand alone together, and every recording in a folder. Of several one that
// cannot be opened is listed with the reason, and the others are there. Files are
// those that stand alone.
func Sources(e *command.Env, d *source.Door, names []string) (all []web.Source, files []*source.Input, err error) {
	var inputs []*source.Input
	for _, name := range names {
		if IsFolder(name) {
			inside, err := recordingsIn(name)
			if err != nil {
				return nil, nil, err
			}
			inputs = append(inputs, inside...)
			continue
		}
		some, err := door.Take(e, d, name)
		switch {
		case err != nil && len(names) == 1:
			return nil, nil, err
		case err != nil:
			all = append(all, brokenSource(name, err))
		}
		inputs = append(inputs, some...)
	}
	inputs, programs, err := SplitPrograms(inputs)
	if err != nil {
		return nil, nil, err
	}
	at := -1
	for _, in := range inputs {
		err := door.Readable([]*source.Input{in})
		switch {
		case err != nil && len(names) == 1:
			return nil, nil, err
		case err != nil:
			all = append(all, brokenSource(in.Name, err))
		case in.Recording:
			all = append(all, recordingSource(in))
		default:
			if at < 0 {
				at = len(all)
				all = append(all, web.Source{})
			}
			files = append(files, in)
		}
	}
	if at >= 0 {
		all[at] = looseSource(e, files, programs)
	}
	return all, files, nil
}

// brokenSource is something that cannot be looked at, and why.
func brokenSource(name string, err error) web.Source {
	return web.Source{Name: name, Files: []string{name}, Kind: "files", Open: func(context.Context) (*web.Opened, error) { return nil, err }}
}

// recordingsIn lists the recordings in a folder, the newest first.
func recordingsIn(dir string) ([]*source.Input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type found struct {
		name string
		at   time.Time
	}
	var all []found
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		info, err := entry.Info()
		if err != nil {
			continue // gone meanwhile
		}
		if source.IsRecording(name) {
			all = append(all, found{name, info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.name, b.name)) })
	inputs := make([]*source.Input, len(all))
	for i, f := range all {
		inputs[i] = &source.Input{Name: f.name, Path: f.name, Recording: true}
	}
	return inputs, nil
}

// Recording is a source of the recording in a folder.
func Recording(dir string) web.Source {
	return recordingSource(&source.Input{Name: filepath.Base(dir), Path: dir, Recording: true})
}

// recordingSource is a recording; one without a manifest is being written.
func recordingSource(in *source.Input) web.Source {
	name := in.Path
	src := web.Source{Name: in.Name, Files: []string{in.Name}, Kind: "recording", Open: func(context.Context) (*web.Opened, error) {
		rec, err := recording.OpenFile(name)
		if err != nil {
			return nil, err
		}
		x := &kept.Indexes{Name: func(entry string) string { return filepath.Join(name, filepath.FromSlash(entry)) }}
		return &web.Opened{Session: session.New(rec), Index: x, Close: func() error { return errors.Join(rec.Close(), x.Close()) }}, nil
	}}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		src.Changed = func() (string, bool) { return treeState(name) }
		_, src.Live = treeState(name)
	}
	return src
}

// quiet is how long nothing has come to a recording without an end that nobody
// writes any more: whoever writes one looks at the machine every second.
const quiet = 10 * time.Second

// treeState tells one state of a recording from another, by how many files and
// bytes it has, and whether it is being written. One that has come to its end
// does not change.
func treeState(dir string) (state string, live bool) {
	if _, err := os.Stat(filepath.Join(dir, recording.ManifestName)); err == nil {
		return "complete", false
	}
	files, bytes := 0, int64(0)
	var last time.Time
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			files, bytes = files+1, bytes+info.Size()
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
		return nil
	})
	return fmt.Sprint(files, " ", bytes), time.Since(last) < quiet
}

// looseSource is a set of files that stand alone. One of several that cannot be
// read is left out, and the source says so.
func looseSource(e *command.Env, inputs, programs []*source.Input) web.Source {
	var names, at []string
	for _, in := range inputs {
		names, at = append(names, in.Name), append(at, in.Path)
	}
	for _, p := range programs {
		at = append(at, p.Path)
	}
	return web.Source{Name: strings.Join(names, ", "), Files: names, Kind: "files", Changed: filesState(at), Open: func(context.Context) (*web.Opened, error) {
		o, err := OpenFiles(e, inputs, programs)
		if err == nil || len(inputs) == 1 {
			return o, err
		}
		var good []*source.Input
		var notes []string
		for _, in := range inputs {
			one, err := OpenFiles(e, []*source.Input{in}, programs)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s is left out: %v", in.Name, err))
				continue
			}
			good = append(good, in)
			if err := one.Close(); err != nil {
				return nil, err
			}
		}
		if len(good) == 0 || len(notes) == 0 {
			return nil, err
		}
		if o, err = OpenFiles(e, good, programs); err != nil {
			return nil, err
		}
		m := o.Session.Manifest()
		m.Notes = append(m.Notes, notes...)
		return o, nil
	}}
}

// filesState tells one state of some files from another, by their sizes and
// times. They are being written when that was seen to happen: a file alone does
// not say that it is whole.
func filesState(names []string) func() (state string, live bool) {
	look := func() (state string, last time.Time) {
		for _, name := range names {
			info, err := os.Stat(name)
			if err != nil {
				state += "gone "
				continue
			}
			state += fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ")
			if info.ModTime().After(last) {
				last = info.ModTime()
			}
		}
		return state, last
	}
	first, _ := look()
	return func() (string, bool) {
		state, last := look()
		return state, state != first && time.Since(last) < quiet
	}
}

// OpenFiles opens files that stand alone, and the programs that cores and dumps are of.
func OpenFiles(e *command.Env, inputs, programInputs []*source.Input) (*web.Opened, error) {
	l := examine.NewLoose(inputs)
	var programs []string
	for _, p := range programInputs {
		programs = append(programs, p.Path)
	}
	cores, err := openCores(l, inputs, programs)
	if err != nil {
		return nil, err
	}
	s, known, err := session.Loose(cores, l.Short)
	if err != nil {
		return nil, errors.Join(err, cores.close())
	}
	for i := range known {
		known[i].Name = l.Names[i]
	}
	x := &kept.Indexes{Name: func(entry string) string { return l.Files[entry] }}
	return &web.Opened{
		Session: s, Files: known, Rename: l.Rename, Index: x, Cores: cores.cores,
		Explain: func(entry string, f *dump.File) *report.Explained { return cores.explained(e, entry, f, programs) },
		Close:   func() error { return errors.Join(s.Close(), x.Close(), cores.close()) },
	}, nil
}

// Editor returns what opens a file in the user's editor; nil when there is
// none that has a window of its own.
func Editor() func(file string, line int) error {
	words := strings.Fields(os.Getenv("LOUPE_EDITOR"))
	if len(words) == 0 {
		for _, known := range []string{"code -g {file}:{line}", "zed {file}:{line}", "subl {file}:{line}", "goland --line {line} {file}", "idea --line {line} {file}"} {
			if _, err := exec.LookPath(strings.Fields(known)[0]); err == nil {
				words = strings.Fields(known)
				break
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	return func(file string, line int) error {
		// Names of files come from profiles: only what is there, and is source,
		// is handed on, and no shell reads it.
		info, err := os.Stat(file)
		if err != nil || !info.Mode().IsRegular() || !slices.Contains([]string{".go", ".s", ".c", ".h"}, filepath.Ext(file)) || !filepath.IsAbs(file) {
			return fmt.Errorf("%s is not a source file of this machine", file)
		}
		args := make([]string, len(words))
		for i, w := range words {
			args[i] = strings.NewReplacer("{file}", file, "{line}", strconv.Itoa(line)).Replace(w)
		}
		c := exec.Command(args[0], args[1:]...)
		if err := c.Start(); err != nil {
			return fmt.Errorf("cannot start the editor: %w", err)
		}
		go c.Wait()
		return nil
	}
}

// Browsers lists the commands that may show a web page, the likeliest first.
func Browsers() (list [][]string) {
	if b := strings.Fields(os.Getenv("BROWSER")); len(b) > 0 {
		list = append(list, b)
	}
	switch runtime.GOOS {
	case "darwin":
		return append(list, []string{"/usr/bin/open"})
	case "windows":
		return append(list, []string{"cmd", "/c", "start"})
	}
	for _, name := range []string{"chrome", "google-chrome", "chromium", "firefox", "sensible-browser"} {
		list = append(list, []string{name})
	}
	if os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" {
		list = append(list, []string{"xdg-open"})
	}
	return list
}

// Port is the number of the port that a listener has.
func Port(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
