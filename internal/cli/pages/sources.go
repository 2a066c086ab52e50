package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/dump"
	"loupe/insight"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/web"
)

// openWeb serves the pages of what was named until the user interrupts.
func openWeb(e *env, names []string, port int, browse bool) error {
	list := func() ([]web.Source, error) {
		all, err := webSources(e, names)
		for i := range all {
			all[i].Open = withProgram(e, all[i].Open)
		}
		return all, err
	}
	sources, err := list()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("cannot serve on port %d: %w (without -port any free one is taken)", port, err)
	}
	opts := web.Options{Sources: sources, Version: version(), Edit: editor()}
	opts.Pages = webPages()
	if slices.ContainsFunc(names, isFolder) {
		opts.List = func() []web.Source {
			found, err := list()
			if err != nil {
				return nil
			}
			return append([]web.Source{}, found...)
		}
	}
	s, err := web.New(e.ctx, l.Addr().String(), opts)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer s.Close()
	if os.Getenv("SSH_CONNECTION") != "" {
		port := portOf(l)
		fmt.Fprintf(e.stderr, "from another machine: ssh -L %s:127.0.0.1:%s HOST, then the same address\n", port, port)
	}
	fmt.Fprintln(e.stdout, s.Address())
	if browse {
		for _, b := range browsers() {
			if exec.Command(b[0], append(b[1:], s.Address())...).Start() == nil {
				break
			}
		}
	}
	return s.Serve(e.ctx, l)
}

// reportHTML writes the pages of what was named as one file.
func reportHTML(e *env, names []string, fail string) error {
	if isTerminal(e.stdout) {
		return usagef("a page is no text for a terminal: loupe report -format html %s > report.html", names[0])
	}
	sources, err := webSources(e, names)
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return exitError{exitNothing, fmt.Errorf("there is no recording in %s", strings.Join(names, ", "))}
	}
	opts := web.Options{Sources: sources, Version: version(), Pages: webPages()}
	var found []insight.Finding
	if err := buffered(e.stdout, func(w io.Writer) (err error) {
		found, err = web.Export(e.ctx, w, opts)
		return err
	}); err != nil {
		return err
	}
	for _, f := range found {
		if fail != "never" && f.State == insight.Found && f.Severity.AtLeast(insight.Severity(fail)) {
			return exitError{exitFound, nil}
		}
	}
	return nil
}

// webPages are other pages than those in the program, for those who work on them.
func webPages() fs.FS {
	if dir := os.Getenv("LOUPE_PAGES"); dir != "" {
		return os.DirFS(dir)
	}
	return nil
}

// isFolder tells whether a name is that of a folder that is no recording
// itself.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir() && !isRecording(name)
}

func isRecording(dir string) bool {
	for _, name := range []string{recording.ManifestName, recording.JournalName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// webSources are what can be looked at in the named files: each recording, all
// files that stand alone together, and every recording in a folder. Of several
// one that cannot be opened is listed with the reason, and the others are there.
func webSources(e *env, names []string) (all []web.Source, err error) {
	var plain []string
	for _, name := range names {
		if !isFolder(name) {
			plain = append(plain, name)
			continue
		}
		inside, err := recordingsIn(name)
		if err != nil {
			return nil, err
		}
		plain = append(plain, inside...)
	}
	plain, programs, err := splitPrograms(plain)
	if err != nil {
		return nil, err
	}
	var files []string
	at := -1
	for _, name := range plain {
		what, _, err := sniff(name)
		switch {
		case err != nil && len(names) == 1:
			return nil, err
		case err != nil:
			all = append(all, brokenSource(name, err))
		case what[0] == "report":
			all = append(all, recordingSource(name))
		default:
			if at < 0 {
				at = len(all)
				all = append(all, web.Source{})
			}
			files = append(files, name)
		}
	}
	if at >= 0 {
		all[at] = looseSource(e, files, programs)
	}
	return all, nil
}

// brokenSource is something that cannot be looked at, and why.
func brokenSource(name string, err error) web.Source {
	return web.Source{Name: name, Files: []string{name}, Kind: "files", Open: func(context.Context) (*web.Opened, error) { return nil, err }}
}

// recordingsIn lists the recordings in a folder, the newest first.
func recordingsIn(dir string) ([]string, error) {
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
		if entry.IsDir() && isRecording(name) || strings.HasSuffix(name, ".zip") {
			if what, _, err := sniff(name); err == nil && what[0] == "report" {
				all = append(all, found{name, info.ModTime()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.name, b.name)) })
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.name
	}
	return names, nil
}

// recordingSource is a recording; one without a manifest is being written.
func recordingSource(name string) web.Source {
	src := web.Source{Name: name, Files: []string{name}, Kind: "recording", Open: func(context.Context) (*web.Opened, error) {
		rec, err := recording.OpenFile(name)
		if err != nil {
			return nil, err
		}
		x := &webIndexes{name: func(entry string) string { return filepath.Join(name, filepath.FromSlash(entry)) }}
		return &web.Opened{Session: session.New(rec), Index: x, Close: func() error { return errors.Join(rec.Close(), x.close()) }}, nil
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
func looseSource(e *env, names, programs []string) web.Source {
	return web.Source{Name: strings.Join(names, ", "), Files: names, Kind: "files", Changed: filesState(slices.Concat(names, programs)), Open: func(context.Context) (*web.Opened, error) {
		o, err := openLoose(e, names, programs)
		if err == nil || len(names) == 1 {
			return o, err
		}
		var good, notes []string
		for _, name := range names {
			one, err := openLoose(e, []string{name}, programs)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s is left out: %v", name, err))
				continue
			}
			good = append(good, name)
			if err := one.Close(); err != nil {
				return nil, err
			}
		}
		if len(good) == 0 || len(notes) == 0 {
			return nil, err
		}
		if o, err = openLoose(e, good, programs); err != nil {
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

func openLoose(e *env, names, programs []string) (*web.Opened, error) {
	l := newLoose(names)
	cores, err := openCores(l, programs)
	if err != nil {
		return nil, err
	}
	s, known, err := session.Loose(cores, l.short)
	if err != nil {
		return nil, errors.Join(err, cores.close())
	}
	for i := range known {
		known[i].Name = names[i]
	}
	x := &webIndexes{name: func(entry string) string { return l.files[entry] }}
	return &web.Opened{
		Session: s, Files: known, Rename: l.rename, Index: x, Cores: cores.cores,
		Explain: func(entry string, f *dump.File) *report.Explained { return cores.explained(e, entry, f, programs) },
		Close:   func() error { return errors.Join(s.Close(), x.close(), cores.close()) },
	}, nil
}

// editor returns what opens a file in the user's editor; nil when there is
// none that has a window of its own.
func editor() func(file string, line int) error {
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
			return fmt.Errorf("%s is no source file of this machine", file)
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
