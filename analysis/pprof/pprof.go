// Package pprof is what go tool pprof does between a profile and its reports:
// the options and their names, the order of filters, totals and cuts, and every
// text that it prints, byte for byte.
//
// It fetches nothing, opens nothing and asks nothing: profiles, sources and
// binaries are given to it, see [Env]. The weights themselves are calltree's
// work, the operations on samples are profile's. How the two fit together is
// the contract with those who have scripts and habits: the reference is
// github.com/google/pprof, packages internal/driver and internal/report, whose
// semantics are followed and whose output the tests compare with.
package pprof

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/format/symbol"
)

// Env is what a report needs of the world outside. All fields may be nil: then
// there are no sources, no binaries, and nobody hears warnings.
type Env struct {
	// Source returns the text of a source file.
	Source func(file string, cfg *Config) ([]byte, error)
	// Binary returns the binary that a mapping of the profile stands for.
	Binary func(m profile.Mapping) (*symbol.Binary, error)
	// Warn is told what the user should know besides the report.
	Warn func(message string)
}

func (e *Env) warn(format string, args ...any) {
	if e.Warn != nil {
		e.Warn(fmt.Sprintf(format, args...))
	}
}

// Report is a profile about to be printed: filtered as the options say, with
// the total of what was there before (or after, with relative percentages).
type Report struct {
	Profile *profile.Profile // filtered
	Config  Config           // with the command's own settings applied
	Command *Command

	Total int64 // of the sample type: what percentages are of
	Type  string
	Unit  string // of the sample type

	index int               // of the sample type
	mean  bool              // divide by the first sample type
	units map[string]string // of numeric labels, by key
	match *regexp.Regexp    // parameter of the command
	env   *Env
}

// New prepares a report: the command is its name and, for list, peek, disasm
// and weblist, a regular expression. The profile is not changed.
func New(p *profile.Profile, command []string, cfg Config, env *Env) (*Report, error) {
	c := Find(command[0])
	if c == nil {
		return nil, fmt.Errorf("unrecognized command: %q", command[0])
	}
	if env == nil {
		env = &Env{}
	}
	r := &Report{Config: cfg, Command: c, env: env}
	r.Config.override(c)
	var others map[string][]string
	r.units, others = p.LabelUnits()
	for key, list := range others {
		env.warn("For tag %s used unit %s, also encountered unit(s) %s", key, r.units[key], strings.Join(list, ", "))
	}
	p, err := labelFrames(r, p)
	if err != nil {
		return nil, err
	}
	filters, err := newFilters(&r.Config, r.units, env)
	if err != nil {
		return nil, err
	}
	if r.Config.RelativePercentages {
		p = filters.apply(p, env)
	}
	if err := chooseType(r, p); err != nil {
		return nil, err
	}
	if r.Config.DivideBy == 0 {
		return nil, errors.New("zero divisor specified")
	}
	if len(command) > 1 {
		if r.match, err = regexp.Compile(command[1]); err != nil {
			return nil, fmt.Errorf("parsing argument regexp %s: %v", command[1], err)
		}
	}
	r.Total = totalOf(r, p)
	if !r.Config.RelativePercentages {
		p = filters.apply(p, env)
	}
	r.Profile = p
	return r, nil
}

// labelFrames applies tagroot and tagleaf.
func labelFrames(r *Report, p *profile.Profile) (*profile.Profile, error) {
	cfg := &r.Config
	keys := func(list string) (keys []string) {
		for key := range strings.SplitSeq(list, ",") {
			if key != "" {
				keys = append(keys, key)
			}
		}
		return keys
	}
	p, rooted, leaved := p.LabelFrames(keys(cfg.TagRoot), keys(cfg.TagLeaf), func(l profile.Label) string {
		switch {
		case !l.Numeric:
			return l.Str
		case l.Unit == "":
			return calltree.Format(l.Num, "", "")
		}
		return calltree.Format(l.Num, l.Unit, cfg.Unit)
	})
	r.env.noMatch(cfg.TagRoot != "" && !rooted, "TagRoot")
	r.env.noMatch(cfg.TagLeaf != "" && !leaved, "TagLeaf")
	return p, nil
}

func (e *Env) noMatch(missed bool, option string) {
	if missed {
		e.warn("%s expression matched no samples", option)
	}
}

// chooseType finds the column that the report is about.
func chooseType(r *Report, p *profile.Profile) error {
	if len(p.SampleTypes) == 0 {
		return errors.New("profile has no samples")
	}
	var err error
	if r.index, err = p.Index(r.Config.SampleIndex); err != nil {
		return err
	}
	t := p.SampleTypes[r.index]
	r.Type, r.Unit, r.mean = t.Type, t.Unit, r.Config.Mean
	if r.mean {
		r.Type = "mean_" + r.Type
	}
	return nil
}

// BaseLabel marks the samples of a base that is compared with: its value is
// "true". If there are any, totals are theirs alone.
const BaseLabel = "pprof::base"

// totalOf is the sum of the absolute values, of the base alone if there is one.
func totalOf(r *Report, p *profile.Profile) int64 {
	base := make([]bool, p.NumLabelSets())
	if p.HasLabels(BaseLabel) {
		for set := range base {
			base[set] = isBase(p, profile.LabelSet(set))
		}
	}
	var sum, count, baseSum, baseCount int64
	for row, v := range p.Values[r.index] {
		var n int64
		if r.mean {
			n = p.Values[0][row]
		}
		v = max(v, -v)
		sum, count = sum+v, count+n
		if base[p.SetOf(row)] {
			baseSum, baseCount = baseSum+v, baseCount+n
		}
	}
	if baseSum > 0 {
		sum, count = baseSum, baseCount
	}
	if count != 0 {
		return sum / count
	}
	return sum
}

func isBase(p *profile.Profile, set profile.LabelSet) bool {
	return slices.ContainsFunc(p.Labels(set), func(l profile.Label) bool { return l.Key == BaseLabel && l.Str == "true" })
}

// IsBase says whether samples with these labels are of the base that the
// profile is compared with; their values are negative.
func (r *Report) IsBase(set profile.LabelSet) bool { return isBase(r.Profile, set) }

// valueOf prints a weight in the report's unit.
func valueOf(r *Report, v int64) string {
	return calltree.Format(divided(r, v), r.Unit, r.Config.Unit)
}

func divided(r *Report, v int64) int64 {
	if ratio := 1 / r.Config.DivideBy; ratio > 0 && ratio != 1 {
		return int64(float64(v) * ratio)
	}
	return v
}

// Index returns the position of the sample type that the report is about.
func (r *Report) Index() int { return r.index }

// Write prints the report.
func (r *Report) Write(w io.Writer) error {
	return r.Command.write(r, w)
}
