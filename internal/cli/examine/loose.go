package examine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/why"
	"loupe/format/kind"
	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/source"
	"loupe/source/bounded"
)

// Files are files of this machine as session.Loose wants them: each by a
// name of its own, and the sources that profiles name.
type Files map[string]string

// Open opens a file that was named on the command line, or a source file.
// Profiles name their sources, and may name anything: nothing but Go is read.
func (l Files) Open(name string) (fs.File, error) {
	if file, ok := l[name]; ok {
		return programs.Open(file)
	}
	rest, ok := strings.CutPrefix(name, "source/abs/")
	if !ok || !strings.HasSuffix(name, ".go") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	file := "/" + rest
	if filepath.Separator == '\\' {
		file = strings.Replace(rest, "_/", ":/", 1)
	}
	return bounded.Places{Roots: []string{"."}}.Open(filepath.FromSlash(file))
}

// Loose is a set of files that stand alone, with their short names.
type Loose struct {
	Names []string
	Files Files
	Short []string // of each of names
}

// NewLoose gives files that stand alone short names.
func NewLoose(inputs []*source.Input) *Loose {
	l := &Loose{Files: Files{}}
	for _, in := range inputs {
		base := filepath.Base(in.Path)
		for n := 2; l.Files[base] != ""; n++ {
			base = fmt.Sprintf("%d-%s", n, filepath.Base(in.Path))
		}
		l.Files[base] = in.Path
		l.Names, l.Short = append(l.Names, in.Name), append(l.Short, base)
	}
	return l
}

// Rename puts the names that the user knows into a text of a finding, or in
// the place of a path.
func (l *Loose) Rename(text string) string {
	if i := slices.Index(l.Short, text); i >= 0 {
		return l.Names[i]
	}
	for n, base := range l.Short {
		text = strings.ReplaceAll(text, "RECORDING/"+base, l.Names[n])
	}
	return text
}

// examineFiles lets the rules look at files that stand alone, all together.
func examineFiles(inputs []*source.Input) (*Examined, error) {
	l := NewLoose(inputs)
	s, known, err := session.Loose(l.Files, l.Short)
	if err != nil {
		return nil, err
	}
	var failed []string
	for i := range known {
		known[i].Name = l.Names[i]
		known[i].Instead = l.Rename(known[i].Instead)
		for n, text := range known[i].Failed {
			known[i].Failed[n] = strings.Replace(text, l.Short[i], l.Names[i], 1)
		}
		failed = append(failed, known[i].Failed...)
	}
	s.Manifest().Notes = slices.Concat(s.Manifest().Notes, failed, report.NotJudged(known))
	in := insight.NewInput(s)
	findings := insight.Run(in)
	var said []*report.RuntimeLines
	for _, f := range s.Manifest().Of(recording.Stderr) {
		if log, err := s.Runtime(f.Run); err == nil {
			if r := report.RuntimeLinesOf(l.Rename(f.Path), log.Log); r != nil {
				said = append(said, r)
			}
		}
	}
	var compiled *report.CompilerLog
	if set, _ := s.Compiler(); set != nil {
		compiled = &report.CompilerLog{Digest: why.DigestOf(set)}
	}
	for i := range findings {
		f := &findings[i]
		f.Advice, f.Verify = l.Rename(f.Advice), l.Rename(f.Verify)
		for n := range f.Evidence {
			f.Evidence[n].Path = l.Rename(f.Evidence[n].Path)
		}
	}
	return &Examined{
		Report: &report.Recording{
			Schema: report.Schema, Path: strings.Join(l.Names, " "), Manifest: s.Manifest(), Files: known,
			RuntimeLines: said, Compiler: compiled,
			Findings: findings, Cards: insight.Cards(in, findings), Incomplete: in.Incomplete(), Time: insight.TimeGapsIn(in), Figures: compare.Compare(in.Facts), Phases: compare.PhaseCosts(s),
		},
		Facts: in.Facts, Session: s, Failed: failed, Close: func() error { return nil },
	}, nil
}

// Subject is what one report is of: a recording, a dump, or files that stand alone.
type Subject []*source.Input

// recording tells whether it is one.
func (s Subject) recording() bool { return s[0].Recording }

// Dump tells whether it is one.
func (s Subject) Dump() bool { return s[0].Kind == kind.Dump }

// Subjects puts the files that stand alone together, in the place of the first of
// them. A recording and a dump are shown by themselves.
func Subjects(inputs []*source.Input) (all []Subject) {
	files := -1
	for _, in := range inputs {
		one := Subject{in}
		switch {
		case one.recording() || one.Dump():
			all = append(all, one)
		case files < 0:
			files = len(all)
			all = append(all, one)
		default:
			all[files] = append(all[files], in)
		}
	}
	return all
}

// Examine opens what the report is of and lets the rules look.
func (s Subject) Examine() (*Examined, error) {
	if s.recording() {
		return Recording(s[0])
	}
	return examineFiles(s)
}

// WriteFound prints what was found in a file, in front of its first page.
func WriteFound(e *command.Env, in *source.Input) error {
	info, err := os.Stat(in.Path)
	if err != nil {
		return err
	}
	if info.Size() > maxFound {
		fmt.Fprintf(e.Stderr, "%s is large; use loupe report %s to look for problems\n", in.Name, command.ShellWord(in.Name))
		return nil
	}
	x, err := examineFiles([]*source.Input{in})
	if err != nil {
		return nil // the page says what is wrong with the file
	}
	return errors.Join(command.Buffered(e.Stdout, func(w io.Writer) error { return report.WriteFound(w, x.Report, e.Style()) }), x.Close())
}

// maxFound is the size up to which open looks for what is wrong before it
// shows the first page, which should be there at once: the rules read a trace
// once more.
const maxFound = 32 << 20
