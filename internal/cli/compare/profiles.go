package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loupe/compare"
	"loupe/pprof"
	"loupe/profile"
	"loupe/report"
	"loupe/source"
)

// profileCompare is what the flags of a comparison of profiles say.
type profileCompare struct {
	by, index, per, divide, fail string
	fold, cum, normalize, share  bool
	top, paths                   int

	opt   compare.ProfileOptions
	limit float64 // of -fail; below 0 is none
}

// profileFlags are the flags that only profiles have.
var profileFlags = []string{"by", "sample_index", "cum", "per", "normalize", "share", "divide", "top", "paths", "fold-generics", "fail"}

func (f *profileCompare) declare(fs *flagSet) {
	fs.StringVar(&f.by, "by", "function", "of profiles: `what` a row is: function, package, file, line or label:KEY")
	fs.StringVar(&f.index, "sample_index", "", "of profiles: sample `type` to compare, by name or position")
	fs.BoolVar(&f.cum, "cum", false, "of profiles: judge and rank by cumulative values")
	fs.StringVar(&f.per, "per", "none", "of profiles: values per `what`: second, sample, another sample type, none")
	fs.BoolVar(&f.normalize, "normalize", false, "of profiles: scale every profile to the total of BEFORE")
	fs.BoolVar(&f.share, "share", false, "of profiles: compare shares of the total")
	fs.StringVar(&f.divide, "divide", "", "of profiles: divide by `A,B`, such as the requests of each side; one number\nfor each profile is written 900:1100,950:1200")
	fs.IntVar(&f.top, "top", 30, "of profiles: show at most `n` rows; 0 is all")
	fs.IntVar(&f.paths, "paths", 10, "of profiles: show at most `n` call paths")
	fs.BoolVar(&f.fold, "fold-generics", false, "of profiles: one row for all instances of a generic function")
	fs.StringVar(&f.fail, "fail", "", "of profiles: exit with 3 when something grew beyond chance by more than `percent`\nof the total of BEFORE, such as 5%")
}

// parse checks the flags.
func (f *profileCompare) parse(format string) error {
	if known := []string{"text", "md", "csv", "json"}; !slices.Contains(known, format) {
		return usagef("-format: unknown form %q of a comparison of profiles: there are %s", format, strings.Join(known, ", "))
	}
	by, err := compare.ParseGrouping(f.by)
	if err != nil {
		return usagef("-by: %w", err)
	}
	if f.top < 0 || f.paths < 1 {
		return usagef("-top and -paths must not be negative, and -paths not zero")
	}
	f.opt = compare.ProfileOptions{
		SampleIndex: f.index, By: by, FoldGenerics: f.fold, Cum: f.cum, Per: f.per,
		Normalize: f.normalize, Share: f.share, Paths: f.paths,
	}
	if f.divide != "" {
		if f.opt.Divide, err = divisors(f.divide); err != nil {
			return err
		}
	}
	f.limit = -1
	if f.fail != "" {
		v, err := strconv.ParseFloat(strings.TrimSuffix(f.fail, "%"), 64)
		if err != nil || !(v >= 0) {
			return usagef("-fail: %q is no percentage such as 5%%", f.fail)
		}
		f.limit = v / 100
	}
	return nil
}

// divisors reads "A,B", where each may be several numbers divided by colons.
func divisors(text string) (out [2][]float64, err error) {
	a, b, ok := strings.Cut(text, ",")
	for side, list := range []string{a, b} {
		for _, s := range strings.Split(list, ":") {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !ok || !(v > 0) {
				return out, usagef("-divide: %q is not two numbers above zero, such as 10000,12000", text)
			}
			out[side] = append(out[side], v)
		}
	}
	return out, nil
}

// areProfiles tells whether the arguments of compare are profiles: none of them
// is a recording or an execution trace, and one of them is there or names
// several files.
func areProfiles(args []string) bool {
	there := false
	for _, name := range args {
		info, err := os.Stat(name)
		switch {
		case name == "-" || err != nil && several(name):
			there = true
			continue
		case err != nil:
			continue
		case info.IsDir():
			if _, err := os.Stat(filepath.Join(name, "manifest.json")); err == nil {
				return false
			}
		default:
			command, _, err := sniff(name)
			if err == nil && (command[0] == "trace" || command[0] == "report") {
				return false
			}
		}
		there = true
	}
	return there
}

// several tells whether a name stands for several files.
func several(name string) bool { return strings.ContainsAny(name, ",*?[") }

func (f *profileCompare) run(e *env, args []string, format string) error {
	if err := f.parse(format); err != nil {
		return err
	}
	if len(args) != 2 {
		return usagef("two sides of profiles are compared, not %d: write several profiles of one side as old1.pb.gz,old2.pb.gz, as a folder, or as 'old*.pb.gz' in quotes", len(args))
	}
	var sides [2][]*profile.Profile
	for i, name := range args {
		var err error
		if sides[i], err = profilesOf(e, name); err != nil {
			return err
		}
	}
	d, err := compare.Profiles(sides[0], sides[1], f.opt)
	switch {
	case errors.Is(err, compare.ErrIncomparable):
		return exitError{exitNothing, fmt.Errorf("%w (is each side of one kind, such as CPU profiles alone?)", err)}
	case err != nil:
		return usageError{err}
	}
	if err := f.write(e, d, sides[0][0], args, format); err != nil {
		return err
	}
	if f.limit >= 0 && d.GrewBeyond(f.limit) {
		return exitError{exitFound, nil}
	}
	return nil
}

func (f *profileCompare) write(e *env, d *compare.ProfileDiff, p *profile.Profile, args []string, format string) error {
	view := report.ProfileView{A: args[0], B: args[1], Top: f.top}
	if index, err := p.Index(d.Type.Type); err == nil {
		view.Meaning = pprof.Meaning(p, index)
	}
	return buffered(e.stdout, func(w io.Writer) error {
		switch format {
		case "json":
			view.Full = true
			return report.WriteJSON(w, report.ProfileComparison(d, view))
		case "csv":
			view.Full = true
			return report.WriteTraceCSV(w, report.ProfileComparison(d, view))
		case "md":
			return report.WriteTraceMarkdown(w, report.ProfileComparison(d, view))
		}
		style := e.style()
		view.Width = style.Width
		return report.WriteTrace(w, report.ProfileComparison(d, view), style)
	})
}

// profilesOf reads the profiles of one side: a file, a folder, a pattern, or
// several of them with commas between.
func profilesOf(e *env, name string) ([]*profile.Profile, error) {
	parts := []string{name}
	if _, err := os.Stat(name); err != nil {
		parts = strings.Split(name, ",")
	}
	var all []*profile.Profile
	for _, part := range parts {
		files, folder, err := profileFiles(part)
		if err != nil {
			return nil, err
		}
		var left error
		n := len(all)
		for _, file := range files {
			p, err := profileIn(e, file)
			if err != nil && folder {
				left = errors.Join(left, err) // a folder may hold other files too
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		if folder && len(all) == n {
			return nil, exitError{exitNothing, errors.Join(fmt.Errorf("there is no profile in %s", part), left)}
		}
		if left != nil {
			fmt.Fprintf(e.stderr, "left out: %s\n", strings.Join(texts(left), "\nleft out: "))
		}
	}
	return all, nil
}

// profileIn reads the profile in a file, - for standard input.
func profileIn(e *env, name string) (*profile.Profile, error) {
	var data []byte
	var err error
	if name == "-" {
		data, err = readStream(e.stdin, "standard input")
	} else {
		data, err = source.ReadNamed(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exitError{exitNothing, fmt.Errorf("cannot find %s", name)}
	case err != nil:
		return nil, err
	}
	p, err := decodeProfile(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read profile %s: %w", name, err)
	}
	return p, nil
}

// profileFiles lists the files that a part of a side stands for.
func profileFiles(part string) (files []string, folder bool, err error) {
	info, err := os.Stat(part)
	switch {
	case err == nil && info.IsDir():
		entries, err := os.ReadDir(part)
		if err != nil {
			return nil, true, err
		}
		for _, x := range entries {
			file := filepath.Join(part, x.Name())
			if info, err := source.Stat(file); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(x.Name(), ".") {
				files = append(files, file)
			}
		}
		return files, true, nil
	case err == nil || !strings.ContainsAny(part, "*?["):
		return []string{part}, false, nil
	}
	files, err = filepath.Glob(part)
	if err != nil {
		return nil, false, usagef("%s is no pattern of file names: %w", part, err)
	}
	if len(files) == 0 {
		return nil, false, exitError{exitNothing, fmt.Errorf("no file is called like %s", part)}
	}
	return files, false, nil
}
