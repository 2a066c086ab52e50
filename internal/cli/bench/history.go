package bench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/format/benchmark"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/report"
	"loupe/source"
	"loupe/source/bounded"
)

const (
	// maxHistoryFiles bounds the files of a folder that are read, the last by name.
	maxHistoryFiles = 2000
	// maxHistoryEntries bounds what is listed of a folder.
	maxHistoryEntries = 100_000
	// maxHistoryFigures bounds the figures of all files: the newest by name are read first.
	maxHistoryFigures = 2_000_000
	// maxHistoryFile is the size of a file from which on it is left out.
	maxHistoryFile = 64 << 20
)

// measuringFlags are those that do nothing with -history, beside those of commands.
var measuringFlags = []string{"count", "benchtime", "budget", "vs", "floor", "instructions", "o", "profile", "recording", "bisect", "keep", "timeout", "build"}

// runHistory is loupe bench -history.
func (f *flags) runHistory(e *command.Env, args []string) error {
	if f.set.Dashes {
		return command.Usagef("-history measures nothing: name files or folders, and no command")
	}
	for _, name := range slices.Concat(measuringFlags, commandFlagNames) {
		if f.set.Given(name) {
			return command.Usagef("-%s and -history do not go together: -history measures nothing", name)
		}
	}
	if len(args) == 0 {
		return command.Usagef("-history: name the folder that the files are in, or the files")
	}
	opt := compare.HistoryOptions{Match: f.pattern.Match}
	if f.unit != "" {
		opt.Units = strings.Split(f.unit, ",")
	}
	r := historyReader{env: e, door: door.New(e, "", nil)}
	for _, arg := range args {
		if err := r.name(arg); err != nil {
			return err
		}
	}
	if len(r.files) == 0 {
		return command.Nothingf("%s", strings.Join(append([]string{fmt.Sprintf("no results of benchmarks in %s (loupe bench -keep DIR writes such files)", strings.Join(args, ", "))}, r.notes...), "\n"))
	}
	h := compare.HistoryOf(r.files, opt)
	if len(h.Series) == 0 {
		return command.Nothingf("no benchmark in %d files matches -bench %s%s", len(r.files), command.ShellWord(f.bench), ofUnit(f.unit))
	}
	h.Notes = append(h.Notes, r.notes...)
	err := command.Buffered(e.Stdout, func(w io.Writer) error {
		if f.format == "json" {
			return report.WriteJSON(w, report.HistoryJSON{Schema: report.HistorySchema, History: h})
		}
		return report.WriteTraceAs(w, report.HistorySheets(h, f.format == "text"), f.format, e.Style())
	})
	if err == nil && f.set.Given("fail") && len(h.Regressed(f.share)) > 0 {
		return command.ErrFound
	}
	return err
}

func ofUnit(unit string) string {
	if unit == "" {
		return ""
	}
	return " and has -unit " + command.ShellWord(unit)
}

// historyReader reads the files of a history.
type historyReader struct {
	env   *command.Env
	door  *source.Door
	files []compare.HistoryFile
	// figures is how many those have.
	figures int
	notes   []string
}

// name reads a folder or a file. What the user has named has to be readable; of what is in a
// folder the rest goes on.
func (r *historyReader) name(name string) error {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return r.named(name)
	}
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxHistoryEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(entries) == maxHistoryEntries {
		r.notes = append(r.notes, fmt.Sprintf("%s: it has more than %d files: what is beyond is left out.", name, maxHistoryEntries))
	}
	entries = slices.DeleteFunc(entries, func(d fs.DirEntry) bool { return d.IsDir() || strings.HasPrefix(d.Name(), ".") })
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if more := len(entries) - maxHistoryFiles; more > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s: the last %d of %d files are read.", name, maxHistoryFiles, len(entries)))
		entries = entries[more:]
	}
	var none []string
	for i, d := range slices.Backward(entries) {
		if r.figures >= maxHistoryFigures {
			r.notes = append(r.notes, fmt.Sprintf("%s: the first %d files are left out, because the others have %d figures.", name, i+1, r.figures))
			break
		}
		if err := r.env.Ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(name, d.Name())
		data, err := bounded.Read(path, maxHistoryFile)
		if err != nil {
			r.notes = append(r.notes, fmt.Sprintf("%s is left out: %v.", path, plainError(err)))
			continue
		}
		var modified time.Time
		if info, err := d.Info(); err == nil {
			modified = info.ModTime()
		}
		if !r.add(benchmark.File{Name: path, Data: data}, modified) {
			none = append(none, d.Name())
		}
	}
	if slices.Reverse(none); len(none) > 0 {
		r.notes = append(r.notes, fmt.Sprintf("%s: no results of benchmarks are in %s.", name, shortList(none)))
	}
	return nil
}

// named reads a file, packed or not, or standard input.
func (r *historyReader) named(name string) error {
	inputs, err := door.Take(r.env, r.door, name)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		if in.Kind != kind.Benchmarks && in.Kind != kind.Tests {
			return fmt.Errorf("%s is no output of go test -bench", in.Name)
		}
		data, err := bounded.ReadNamed(in.Path)
		if err != nil {
			return err
		}
		var modified time.Time
		if info, err := os.Stat(in.Path); err == nil {
			modified = info.ModTime()
		}
		if !r.add(benchmark.File{Name: in.Name, Data: data}, modified) {
			r.notes = append(r.notes, in.Name+" has no results of benchmarks.")
		}
	}
	return nil
}

// add reads the text of a file, and tells whether it has results.
func (r *historyReader) add(f benchmark.File, modified time.Time) bool {
	figures, problems, failed := benchmark.Figures(f)
	if len(figures) == 0 {
		return false
	}
	for _, p := range problems {
		r.notes = append(r.notes, fmt.Sprintf("%s: %s.", f.Name, p))
	}
	if failed != "" {
		r.notes = append(r.notes, fmt.Sprintf("%s: go test has failed (%s): what was measured may be of a broken program.", f.Name, failed))
	}
	r.figures += len(figures)
	r.files = append(r.files, compare.HistoryFile{Name: f.Name, Modified: modified, Figures: figures})
	return true
}

// plainError is an error without the path, which stands in front of it.
func plainError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// shortList is the begin of a list of names.
func shortList(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
