package compare

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/compare"
	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/programs"
	"loupe/report"
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

func (f *profileCompare) declare(fs *command.FlagSet) {
	fs.StringVar(&f.by, "by", "function", "profiles: `what` a row is: function, package, file, line or label:KEY")
	fs.StringVar(&f.index, "sample_index", "", "profiles: sample `type` to compare, by name or position")
	fs.BoolVar(&f.cum, "cum", false, "profiles: judge and rank by cumulative values")
	fs.StringVar(&f.per, "per", "none", "profiles: values per `what`: second, sample, another sample type, none")
	fs.BoolVar(&f.normalize, "normalize", false, "profiles: scale every profile to the total of BEFORE")
	fs.BoolVar(&f.share, "share", false, "profiles: compare shares of the total")
	fs.StringVar(&f.divide, "divide", "", "profiles: divide by `A,B`, such as the requests of each side; one number for\neach profile is written 900:1100,950:1200")
	fs.IntVar(&f.top, "top", 30, "profiles: show at most `n` rows; 0 is all")
	fs.IntVar(&f.paths, "paths", 10, "profiles: show at most `n` call paths")
	fs.BoolVar(&f.fold, "fold-generics", false, "profiles: one row for all instances of a generic function")
	fs.StringVar(&f.fail, "fail", "", "profiles: exit with 3 if something grew, beyond chance, by more than `percent`\nof the total of BEFORE, such as 5%")
}

// parse checks the flags.
func (f *profileCompare) parse(format string) error {
	if known := []string{"text", "md", "csv", "json"}; !slices.Contains(known, format) {
		return command.Usagef("-format: unknown format %q for a comparison of profiles: there are %s", format, strings.Join(known, ", "))
	}
	by, err := compare.ParseGrouping(f.by)
	if err != nil {
		return command.Usagef("-by: %w", err)
	}
	if f.top < 0 || f.paths < 1 {
		return command.Usagef("-top and -paths must not be negative, and -paths not zero")
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
			return command.Usagef("-fail: %q is not a percentage such as 5%%", f.fail)
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
				return out, command.Usagef("-divide: %q is not two numbers above zero, such as 10000,12000", text)
			}
			out[side] = append(out[side], v)
		}
	}
	return out, nil
}

func (f *profileCompare) run(e *command.Env, all []compared, format string) error {
	if err := f.parse(format); err != nil {
		return err
	}
	if len(all) != 2 {
		return command.Usagef("compare takes two sides of profiles, not %d: write several profiles of one side as old1.pb.gz,old2.pb.gz, as a folder, or as 'old*.pb.gz' in quotes", len(all))
	}
	var sides [2][]*profile.Profile
	for i, s := range all {
		for _, in := range s.inputs {
			p, err := programs.ReadProfile(in.Path, in.Name)
			if err != nil {
				return err
			}
			sides[i] = append(sides[i], p)
		}
	}
	args := []string{all[0].name, all[1].name}
	d, err := compare.Profiles(sides[0], sides[1], f.opt)
	switch {
	case errors.Is(err, compare.ErrIncomparable):
		return command.Nothingf("%w (is each side of one kind, such as only CPU profiles?)", err)
	case err != nil:
		return command.Usage(err)
	}
	if err := f.write(e, d, sides[0][0], args, format); err != nil {
		return err
	}
	if f.limit >= 0 && d.GrewBeyond(f.limit) {
		return command.ErrFound
	}
	return nil
}

func (f *profileCompare) write(e *command.Env, d *compare.ProfileDiff, p *profile.Profile, args []string, format string) error {
	view := report.ProfileView{A: args[0], B: args[1], Top: f.top}
	if index, err := p.Index(d.Type.Type); err == nil {
		view.Meaning = pprof.Meaning(p, index)
	}
	return command.Buffered(e.Stdout, func(w io.Writer) error {
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
		style := e.Style()
		view.Width = style.Width
		return report.WriteTrace(w, report.ProfileComparison(d, view), style)
	})
}
