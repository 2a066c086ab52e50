package compare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/stats"
)

// ErrIncomparable is the reason why profiles cannot be compared at all: they
// measure different things, or nothing.
var ErrIncomparable = errors.New("there is nothing to compare")

// Grouping says what is one row of a comparison of profiles.
type Grouping struct {
	// By is "function" (the default), "package", "file", "line" or "label".
	By string
	// Label is the key of the label whose values are the rows.
	Label string
}

// ParseGrouping reads "function", "package", "file", "line" or "label:KEY"; ""
// is "function".
func ParseGrouping(text string) (Grouping, error) {
	switch key, isLabel := strings.CutPrefix(text, "label:"); {
	case isLabel && key != "":
		return Grouping{By: "label", Label: key}, nil
	case text == "":
		return Grouping{By: "function"}, nil
	case slices.Contains([]string{"function", "package", "file", "line"}, text):
		return Grouping{By: text}, nil
	}
	return Grouping{}, fmt.Errorf("cannot group by %q: choose function, package, file, line or label:KEY", text)
}

// String returns the form that [ParseGrouping] reads.
func (g Grouping) String() string {
	if g.By == "label" {
		return "label:" + g.Label
	}
	return cmp.Or(g.By, "function")
}

// ProfileOptions say what is compared and how. The zero value compares
// functions by their flat values as they stand in the profiles.
type ProfileOptions struct {
	SampleIndex  string // sample type, as in [profile.Profile.Index]
	By           Grouping
	FoldGenerics bool // one row for all instances of a generic function
	Cum          bool // judge and rank by cumulative values

	// At most one of the following says what the values are divided by before
	// they are compared.

	// Per is "second" of the profile's duration, "sample", or a sample type
	// whose total divides, such as "alloc_objects"; "" and "none" are nothing.
	Per string
	// Normalize scales every profile to the mean total of the first side.
	Normalize bool
	// Share makes the values shares of their profile's total.
	Share bool
	// Divide holds what the values of each side are divided by, such as the
	// number of requests: one number for each profile, or one for all.
	Divide [2][]float64

	// Paths is how many call paths are listed at most; 0 means 10.
	Paths int
}

// Significance is what can be said of a difference between profiles.
type Significance string

// What a difference comes to.
const (
	Grew         Significance = "grew"
	Shrank       Significance = "shrank"
	NoDifference Significance = "no difference shown"
	TooLittle    Significance = "too little data"
	Untold       Significance = "unknown" // nothing is known of the error
)

// Beyond tells whether the difference is more than chance.
func (s Significance) Beyond() bool { return s == Grew || s == Shrank }

// Doubt is what the intervals of a comparison of profiles rest on.
type Doubt string

// The grounds.
const (
	// FromRuns means several profiles a side, whose spread is measured.
	FromRuns Doubt = "runs"
	// FromSamples means the number of samples behind the values. How much runs
	// of one program differ from each other it does not tell.
	FromSamples Doubt = "samples"
	// Unfounded means that nothing is known.
	Unfounded Doubt = "nothing"
)

// FewSamples is the number of samples on both sides together below which a
// difference is not judged.
const FewSamples = 20

// Alpha is the share of false alarms among the rows that are called grown or
// shrunk.
const Alpha = 1 - Confidence

// ProfileDelta is one value of both sides.
type ProfileDelta struct {
	A, B float64 // normalised; the means of the runs
	// SamplesA and SamplesB are the observations behind the values, of all
	// runs together; NaN where their number is not known.
	SamplesA, SamplesB float64
	// Difference is B−A with its interval; its ends are NaN where nothing is
	// known of them.
	Difference stats.Interval
	// P is the probability of such a difference by chance, Q the share of
	// false alarms among all rows that differ as much (Benjamini and
	// Hochberg). They are NaN where the row is not judged.
	P, Q         float64
	Significance Significance
}

// Ratio is B over A; +Inf when A is zero and B is not, NaN when both are.
func (d *ProfileDelta) Ratio() float64 { return d.B / d.A }

// ProfileRow is one function, or whatever is asked for.
type ProfileRow struct {
	Name      string
	Flat, Cum ProfileDelta
}

// New tells that nothing of the row was seen in the first side.
func (r *ProfileRow) New() bool { return r.Cum.A == 0 && r.Flat.A == 0 }

// Gone tells that nothing of the row was seen in the second side.
func (r *ProfileRow) Gone() bool { return r.Cum.B == 0 && r.Flat.B == 0 }

// PathDelta is the part of the change that happened on one call path: in its
// last function, and in what that calls as far as no path of its own is listed
// for it.
type PathDelta struct {
	Path []string // from the root
	ProfileDelta
}

// ProfileSide is one side of a comparison as a whole.
type ProfileSide struct {
	Profiles int
	Duration time.Duration // mean; 0 when one of the profiles has none
	Total    float64       // mean of the totals, in the unit of the sample type
	Samples  float64       // observations, of all profiles; NaN when unknown
}

// ProfileDiff is the difference of profiles.
type ProfileDiff struct {
	Type profile.ValueType
	By   Grouping
	// Cum tells that the rows are judged and ranked by their cumulative values.
	Cum bool
	// Basis says what the values were divided by: "" is nothing, "second",
	// "sample", "total" (scaled to the total of A), "share", "given", or the
	// name of a sample type.
	Basis string
	Doubt Doubt
	// Moderated tells that, of several runs, each row was judged by its own
	// spread and the usual one of all rows together; otherwise by its own.
	Moderated bool
	// Sampling is how the values of a single profile came about.
	Sampling profile.Sampling
	A, B     ProfileSide
	// Total is the normalised total. It is not judged where it was made equal.
	Total ProfileDelta
	// Rows begin with what differs beyond chance; the greatest change is first.
	// Judged is how many of them had enough data to be judged, all at once.
	Rows   []ProfileRow
	Judged int
	// Paths are call paths that explain the change, the greatest first. All of
	// them are beyond chance, unless nothing is known of that. The other paths
	// changed by Rest together.
	Paths []PathDelta
	Rest  float64
	// Notes say what else the reader has to know.
	Notes []string
}

// Key is the delta by which a row is judged and ranked.
func (d *ProfileDiff) Key(r *ProfileRow) *ProfileDelta {
	if d.Cum {
		return &r.Cum
	}
	return &r.Flat
}

// GrewBeyond tells whether the total or a row grew beyond chance, and by more
// than a share of A's total.
func (d *ProfileDiff) GrewBeyond(share float64) bool {
	limit := share * d.Total.A
	over := func(x *ProfileDelta) bool { return x.Significance == Grew && x.Difference.Estimate > limit }
	return over(&d.Total) || slices.ContainsFunc(d.Rows, func(r ProfileRow) bool { return over(d.Key(&r)) })
}

// Profiles compares two sides of one or several profiles each. Several on both
// sides are runs of the same thing: their spread tells what is chance. With a
// single one on a side the number of samples tells how far its values can be
// off, where it is known (see [profile.Profile.Observations]); the profiles of
// the other side count as one then. docs/statistics.md has the methods.
//
// An error that wraps [ErrIncomparable] says why the profiles have nothing to
// be compared, any other what is wrong with the options.
func Profiles(a, b []*profile.Profile, opt ProfileOptions) (*ProfileDiff, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, fmt.Errorf("%w: one side has no profile", ErrIncomparable)
	}
	list, err := profile.Commensurate(slices.Concat(a, b), calltree.ConvertUnit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIncomparable, err)
	}
	for i, p := range list {
		if p.Stacks == nil { // one that was made by hand, with no sample
			q := *p
			q.Stacks = new(stack.Table)
			list[i] = &q
		}
	}
	index, err := list[0].Index(opt.SampleIndex)
	if err != nil {
		return nil, err
	}
	if opt.By.By == "" {
		opt.By.By = "function"
	}
	c := &comparison{opt: &opt, w: weights{list: list, index: index, sides: len(a)}, names: newNames(&opt)}
	d := &ProfileDiff{Type: list[0].SampleTypes[index], By: opt.By, Cum: opt.Cum}
	c.w.weigh()
	if err := c.normalise(d); err != nil {
		return nil, err
	}
	d.Doubt, d.Sampling = c.w.doubt(), c.w.sampling
	d.A, d.B = c.w.side(0, len(a)), c.w.side(len(a), len(list))
	if d.A.Total == 0 && d.B.Total == 0 {
		return nil, fmt.Errorf("%w: both sides have no %s", ErrIncomparable, d.Type)
	}
	c.rows(d)
	c.paths(d)
	d.Notes = c.notes(d)
	return d, nil
}

// comparison is the work of [Profiles].
type comparison struct {
	opt   *ProfileOptions
	w     weights
	names *names
	noise *noise // of several runs a side; nil where nothing was learned
	// pathNames are the names of the steps of call paths.
	pathNames []string
}

// normalise finds the factor of every run.
func (c *comparison) normalise(d *ProfileDiff) error {
	per := c.opt.Per
	if per == "none" {
		per = ""
	}
	asked := 0
	for _, is := range []bool{per != "", c.opt.Normalize, c.opt.Share, len(c.opt.Divide[0])+len(c.opt.Divide[1]) > 0} {
		if is {
			asked++
		}
	}
	switch {
	case asked > 1:
		return errors.New("cannot normalise in two ways at once: choose one of per, normalize, share and divide")
	case c.opt.Share:
		d.Basis, c.w.shares = "share", true
		return c.w.divide(func(r *run, _ int) float64 { return r.total.value })
	case c.opt.Normalize:
		d.Basis, c.w.shares = "total", true
		mean := c.w.side(0, c.w.sides).Total
		if mean == 0 {
			return fmt.Errorf("%w: the total of the first side is zero", ErrIncomparable)
		}
		return c.w.divide(func(r *run, _ int) float64 { return r.total.value / mean })
	case asked > 0 && per == "":
		d.Basis = "given"
		return c.divideByGiven()
	case per == "second":
		d.Basis = per
		for i, p := range c.w.list {
			if p.Duration <= 0 {
				return fmt.Errorf("%w per second: profile %s has no duration (only CPU profiles and differences of two snapshots have one; choose -normalize, or a divisor for each side)", ErrIncomparable, c.w.which(i))
			}
		}
		return c.w.divide(func(_ *run, i int) float64 { return c.w.list[i].Duration.Seconds() })
	case per == "sample":
		if c.w.sampling == profile.Unknown {
			return fmt.Errorf("%w per sample: the profiles do not say how many samples they contain", ErrIncomparable)
		}
		d.Basis, c.w.shares = per, c.w.alike()
		return c.w.divide(func(r *run, _ int) float64 { return r.total.count })
	case per != "":
		other, err := c.w.list[0].Index(per)
		if err != nil {
			return fmt.Errorf("per: %w, second, sample or none", err)
		}
		d.Basis = c.w.list[0].SampleTypes[other].Type
		return c.w.divide(func(_ *run, i int) float64 { return float64(c.w.list[i].Total(other)) })
	}
	return nil
}

func (c *comparison) divideByGiven() error {
	var all []float64
	for side, n := range [2]int{c.w.sides, len(c.w.list) - c.w.sides} {
		given := c.opt.Divide[side]
		if len(given) != 1 && len(given) != n {
			return fmt.Errorf("cannot divide %d profiles of side %s by %d numbers: give one for each, or one for all", n, "AB"[side:side+1], len(given))
		}
		for i := range n {
			v := given[min(i, len(given)-1)]
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("cannot divide by %g: it must be more than zero", v)
			}
			all = append(all, v)
		}
	}
	return c.w.divide(func(_ *run, i int) float64 { return all[i] })
}

// rows fills in the rows of the difference and judges them.
func (c *comparison) rows(d *ProfileDiff) {
	flat, cum := c.tallies()
	total := make([]cell, len(c.w.runs))
	for i := range c.w.runs {
		total[i] = c.w.runs[i].total
	}
	d.Total = c.delta(total)
	flats, cums := c.deltas(flat), c.deltas(cum)
	d.Moderated = c.noise != nil
	if d.Judged = judge(flats, 0); d.Cum {
		d.Judged = judge(cums, 0)
	} else {
		judge(cums, 0)
	}
	for i, name := range c.names.list {
		if !empty(flat[i]) || !empty(cum[i]) {
			d.Rows = append(d.Rows, ProfileRow{Name: name, Flat: *flats[i], Cum: *cums[i]})
		}
	}
	if d.Basis == "share" || d.Basis == "total" || d.Basis == "sample" {
		d.Total.Significance, d.Total.P = NoDifference, math.NaN()
		d.Total.Difference.Low, d.Total.Difference.High = math.NaN(), math.NaN()
	} else {
		judge([]*ProfileDelta{&d.Total}, 0)
	}
	slices.SortFunc(d.Rows, func(x, y ProfileRow) int {
		return cmp.Or(compareDeltas(d.Key(&x), d.Key(&y)), compareDeltas(&x.Cum, &y.Cum), strings.Compare(x.Name, y.Name))
	})
}

// deltas compares rows by what all of them tell of the noise, which the call
// paths will be compared by too.
func (c *comparison) deltas(rows [][]cell) []*ProfileDelta {
	c.noise = c.learn(rows)
	out := make([]*ProfileDelta, len(rows))
	for i, cells := range rows {
		d := c.delta(cells)
		out[i] = &d
	}
	return out
}

// compareDeltas puts what is beyond chance first, and greater changes before
// smaller ones.
func compareDeltas(x, y *ProfileDelta) int {
	rank := func(d *ProfileDelta) int {
		if d.Significance.Beyond() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(math.Abs(y.Difference.Estimate), math.Abs(x.Difference.Estimate)))
}

// judge decides on differences that are looked at together, and returns how
// many there were to decide on. There may have been more looks, all of which
// found less.
func judge(list []*ProfileDelta, looks int) int {
	var tested []*ProfileDelta
	var p []float64
	for _, d := range list {
		if d.Significance == "" {
			tested, p = append(tested, d), append(p, d.P)
		}
	}
	for i, q := range stats.FalseDiscovery(p, looks) {
		d := tested[i]
		d.Q = q
		switch {
		case q > Alpha || d.Difference.Estimate == 0:
			d.Significance = NoDifference
		case d.Difference.Estimate > 0:
			d.Significance = Grew
		default:
			d.Significance = Shrank
		}
	}
	return len(tested)
}

// notes say what the figures hide.
func (c *comparison) notes(d *ProfileDiff) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if a, b := d.A.Duration, d.B.Duration; d.Basis == "" && a > 0 && b > 0 {
		if ratio := b.Seconds() / a.Seconds(); ratio > 1.05 || ratio < 1/1.05 {
			add("The profiles have different durations. Unless they show the same work, compare values per second, shares, or values per request.")
		}
	}
	if d.Basis == "share" || d.Basis == "total" || d.Basis == "sample" {
		add("Shares depend on each other: if one grows, all others shrink, though nothing happened to them.")
	}
	if n := len(c.w.list); d.Doubt != FromRuns && n > 2 {
		add("One side has a single profile, so the spread between runs is not known: the profiles of the other side count as one.")
	}
	periods := map[int64]bool{}
	for _, p := range c.w.list {
		periods[p.Period] = true
	}
	if len(periods) > 1 {
		add("The profiles were sampled at different rates, which their values account for.")
	}
	if d.Doubt == FromRuns && min(d.A.Profiles, d.B.Profiles) < EnoughRounds {
		add("With fewer than %d runs per side only large differences can be distinguished from chance.", EnoughRounds)
	}
	return notes
}
