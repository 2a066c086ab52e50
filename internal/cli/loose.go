package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loupe/compare"
	"loupe/insight"
	"loupe/report"
	"loupe/session"
	"loupe/source"
)

// looseFiles are files of this machine as session.Loose wants them: each by a
// name of its own, and the sources that profiles name.
type looseFiles map[string]string

// Open opens a file that was named on the command line, or a source file.
// Profiles name their sources, and may name anything: nothing but Go is read.
func (l looseFiles) Open(name string) (fs.File, error) {
	if file, ok := l[name]; ok {
		return openNamed(file)
	}
	rest, ok := strings.CutPrefix(name, "source/abs/")
	if !ok || !strings.HasSuffix(name, ".go") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file := "/" + rest
	if filepath.Separator == '\\' {
		file = strings.Replace(rest, "_/", ":/", 1)
	}
	return source.Places{Roots: []string{"."}}.Open(filepath.FromSlash(file))
}

// loose tells whether a name is that of a file that can be looked at by
// itself: a profile, a trace or a log of the runtime.
func loose(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	what, _, err := sniff(name)
	return err == nil && what[0] != "report" && what[0] != "stacks" && what[0] != "core"
}

// looseSet is a set of files that stand alone, with their short names.
type looseSet struct {
	names []string
	files looseFiles
	short []string // of each of names
}

func newLoose(names []string) *looseSet {
	l := &looseSet{names: names, files: looseFiles{}}
	for _, name := range names {
		base := filepath.Base(name)
		for n := 2; l.files[base] != ""; n++ {
			base = fmt.Sprintf("%d-%s", n, filepath.Base(name))
		}
		l.files[base] = name
		l.short = append(l.short, base)
	}
	return l
}

// rename puts the names that the user knows into a text of a finding, or in
// the place of a path.
func (l *looseSet) rename(text string) string {
	if file, ok := l.files[text]; ok {
		return file
	}
	for n, base := range l.short {
		text = strings.ReplaceAll(text, "RECORDING/"+base, l.names[n])
	}
	return text
}

// examineFiles lets the rules look at files that stand alone, all together.
func examineFiles(names []string) (*examined, error) {
	l := newLoose(names)
	s, known, err := session.Loose(l.files, l.short)
	if err != nil {
		return nil, err
	}
	for i := range known {
		known[i].Name = names[i]
	}
	in := insight.NewInput(s)
	findings := insight.Run(in)
	for i := range findings {
		f := &findings[i]
		f.Advice, f.Verify = l.rename(f.Advice), l.rename(f.Verify)
		for n := range f.Evidence {
			f.Evidence[n].Path = l.rename(f.Evidence[n].Path)
		}
	}
	return &examined{
		report: &report.Recording{
			Schema: report.Schema, Path: strings.Join(names, " "), Manifest: s.Manifest(), Files: known,
			Findings: findings, Incomplete: in.Incomplete(), Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s),
		},
		facts: in.Facts, session: s, close: func() error { return nil },
	}, nil
}

// subject is what one report is of: a recording, or files that stand alone.
type subject struct {
	names []string
	loose bool
}

// subjects puts the files that stand alone together, in the place of the first
// of them.
func subjects(names []string) (all []subject) {
	files := -1
	for _, name := range names {
		switch {
		case !loose(name):
			all = append(all, subject{names: []string{name}})
		case files < 0:
			files = len(all)
			all = append(all, subject{names: []string{name}, loose: true})
		default:
			all[files].names = append(all[files].names, name)
		}
	}
	return all
}

// examine opens what the report is of and lets the rules look.
func (s subject) examine() (*examined, error) {
	if s.loose {
		return examineFiles(s.names)
	}
	return examine(s.names[0])
}

// writeFound prints what was found in a file, in front of its first page.
func writeFound(e *env, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Size() > maxFound {
		fmt.Fprintf(e.stderr, "%s is large; loupe report %s looks for what is wrong\n", name, shellWord(name))
		return nil
	}
	e.reads(name, info)
	x, err := examineFiles([]string{name})
	if err != nil {
		return nil // the page says what is wrong with the file
	}
	return errors.Join(buffered(e.stdout, func(w io.Writer) error { return report.WriteFound(w, x.report, e.style()) }), x.close())
}

// maxFound is the size up to which open looks for what is wrong before it
// shows the first page, which should be there at once: the rules read a trace
// once more.
const maxFound = 32 << 20
