package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"loupe/analysis/calltree"
	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/value/stack"
	"loupe/value/unit"
)

// ProfileCompareSchema is the version of the JSON form of a comparison of
// profiles.
const ProfileCompareSchema = "loupe.profile_compare/1"

// ProfileView says how a comparison of profiles is shown.
type ProfileView struct {
	A, B string // names of the sides
	// Meaning says what the numbers of the sample type are; "" says nothing.
	Meaning string
	Top     int // most rows; 0 means all
	// Width is that of the text, which decides on the columns that it has
	// room for; 0 is unlimited.
	Width int
	// Full shows every figure in a column of its own: for CSV and JSON.
	Full bool
}

// ProfileComparison shows the difference of profiles: what is compared and how
// sure that is, the rows, and the call paths that explain the change.
func ProfileComparison(d *compare.ProfileDiff, v ProfileView) *Trace {
	p := &profileDiff{d, v}
	t := &Trace{Schema: ProfileCompareSchema, Facts: p.facts()}
	if v.Full {
		t.Sheets = []*Sheet{p.rowData(), p.pathData()}
		t.Sheets[0].Notes = append([]string{p.verdicts()}, d.Notes...)
		return t
	}
	var notes []string
	if v.Meaning != "" {
		notes = []string{fmt.Sprintf("%s: %s.", d.Type.Type, v.Meaning)}
	}
	notes = append(append(notes, p.verdicts()), d.Notes...)
	t.Sheets = []*Sheet{p.rows(), p.paths(), {Notes: notes}}
	return t
}

type profileDiff struct {
	d *compare.ProfileDiff
	v ProfileView
}

// amount is a value of a profile, which need not be whole once it is normalised.
type amount struct {
	value  float64
	unit   string
	signed bool
}

func (a amount) plain() any {
	if math.IsNaN(a.value) || math.IsInf(a.value, 0) {
		return nil
	}
	return a.value
}

func (a amount) text() string {
	sign := ""
	if a.signed && a.value > 0 {
		sign = "+"
	}
	v := math.Abs(a.value)
	if a.value < 0 {
		sign = "-"
	}
	print := unit.Number
	if ns, ok := calltree.ConvertUnit(a.unit, "nanoseconds"); ok && a.unit != "nanoseconds" {
		v *= ns
		print = unit.Nanoseconds
	} else if ok {
		print = unit.Nanoseconds
	} else if bytes, ok := calltree.ConvertUnit(a.unit, "bytes"); ok {
		v *= bytes
		print = unit.BytesOf
		if v < 1024 && v != math.Trunc(v) { // per request there may be less than one
			print = func(x float64) string { return unit.Number(x) + " B" }
		}
	}
	switch {
	case math.IsNaN(a.value):
		return "–"
	case a.unit == shareUnit:
		print = unit.Percent
	case v == math.Trunc(v) && a.unit == "count" && v < 1e15:
		print = func(x float64) string { return unit.Count(int64(x)) }
	}
	if v == 0 {
		return "0"
	}
	return sign + print(v)
}

// shareUnit is the unit of shares.
const shareUnit = "share"

func (p *profileDiff) amount(v float64) amount {
	if p.d.Basis == "share" {
		return amount{value: v, unit: shareUnit}
	}
	return amount{value: v, unit: p.d.Type.Unit}
}

func (p *profileDiff) change(v float64) amount {
	a := p.amount(v)
	a.signed = true
	return a
}

// interval is the interval of a difference in brackets.
func (p *profileDiff) interval(x *compare.ProfileDelta) string {
	if math.IsNaN(x.Difference.Low) {
		return "–"
	}
	return fmt.Sprintf("[%s, %s]", p.change(x.Difference.Low).text(), p.change(x.Difference.High).text())
}

// ratio is the change in percent, or that a row is new or gone.
func ratio(x *compare.ProfileDelta) string {
	switch {
	case x.A == 0 && x.B == 0:
		return "–"
	case x.A == 0:
		return "new"
	case x.B == 0:
		return "gone"
	}
	return unit.Change(x.Ratio())
}

// side is what JSON says of a side.
type side struct {
	Name     string `json:"name"`
	Profiles int    `json:"profiles"`
	Duration int64  `json:"duration_ns"`
	Total    any    `json:"total"`
	Samples  any    `json:"samples"`
}

func (p *profileDiff) facts() []Fact {
	d := p.d
	total := d.Total
	data := func(s compare.ProfileSide, name string) side {
		return side{name, s.Profiles, int64(s.Duration), amount{value: s.Total}.plain(), amount{value: s.Samples}.plain()}
	}
	facts := []Fact{
		{Key: "type", Value: d.Type.Type}, {Key: "unit", Value: d.Type.Unit}, {Key: "by", Value: d.By.String()},
		{Key: "cum", Value: d.Cum}, {Key: "basis", Value: d.Basis}, {Key: "doubt", Value: d.Doubt},
		{Key: "a", Value: data(d.A, p.v.A)}, {Key: "b", Value: data(d.B, p.v.B)},
		{Key: "judged", Value: d.Judged}, {Key: "rest", Value: amount{value: d.Rest}},
		{Key: "total", Value: map[string]any{
			"a": amount{value: total.A}.plain(), "b": amount{value: total.B}.plain(), "change": amount{value: total.Difference.Estimate}.plain(),
			"low": amount{value: total.Difference.Low}.plain(), "high": amount{value: total.Difference.High}.plain(),
			"p": amount{value: total.P}.plain(), "verdict": total.Significance,
		}},
		{Head: "A", Value: p.sideText(d.A, p.v.A)},
		{Head: "B", Value: p.sideText(d.B, p.v.B)},
	}
	facts = append(facts, Fact{Key: "meaning", Value: p.v.Meaning}, Fact{Head: "values", Value: d.Type.String() + " by " + d.By.String()}, Fact{Key: "normalised", Head: "normalised", Value: p.normalised()})
	if equal := d.Basis == "share" || d.Basis == "total" || d.Basis == "sample"; !equal {
		text := fmt.Sprintf("%s → %s, %s", p.amount(total.A).text(), p.amount(total.B).text(), ratio(&total))
		if i := p.interval(&total); i != "–" {
			text += fmt.Sprintf(", %s: %s", i, total.Significance)
		}
		facts = append(facts, Fact{Head: "total", Value: text})
	}
	return facts
}

func (p *profileDiff) sideText(s compare.ProfileSide, name string) string {
	whole := amount{value: s.Total, unit: p.d.Type.Unit}.text()
	text := fmt.Sprintf("%s: %s", name, whole)
	if s.Profiles > 1 {
		text = fmt.Sprintf("%s: %d profiles, %s on average", name, s.Profiles, whole)
	}
	if s.Duration > 0 {
		text += " in " + unit.Duration(s.Duration.Round(time.Millisecond))
	}
	if !math.IsNaN(s.Samples) && p.d.Sampling == profile.Sampled {
		text += fmt.Sprintf(", from %s samples", unit.Count(int64(s.Samples)))
	}
	return text
}

// normalised says what the values were divided by.
func (p *profileDiff) normalised() string {
	switch p.d.Basis {
	case "":
		return "not: values as they are in the profiles"
	case "second":
		return "per second of profile"
	case "sample":
		return "per sample"
	case "total":
		return "every profile scaled to the total of A"
	case "share":
		return "shares of the total of each profile"
	case "given":
		return "divided by the numbers given for each side"
	}
	return "per " + p.d.Basis + ": divided by the profile's total of them"
}

// verdicts says how they are reached.
func (p *profileDiff) verdicts() string {
	const looks = "The 95%% intervals are for each row separately. Rows with enough data to be tested together: %s; of those called grew or shrank, at most 5%% are false alarms (Benjamini–Hochberg)."
	judged := fmt.Sprintf(looks, unit.Count(int64(p.d.Judged)))
	switch {
	case p.d.Doubt == compare.FromRuns && p.d.Moderated:
		return fmt.Sprintf("Noise is estimated from the spread between the %d runs of A and the %d of B: each row's own, and the typical one of all rows (Smyth's moderated t). ", p.d.A.Profiles, p.d.B.Profiles) + judged
	case p.d.Doubt == compare.FromRuns:
		return fmt.Sprintf("Noise is estimated from the spread between the %d runs of A and the %d of B (Welch's t). ", p.d.A.Profiles, p.d.B.Profiles) + judged
	case p.d.Doubt == compare.FromSamples:
		return fmt.Sprintf("Noise is the sampling error, from the number of samples; below %d nothing is said. Single profiles do not show how much two runs of one program differ: several on each side do. ", compare.FewSamples) + judged
	case p.d.Sampling == profile.Exact:
		return "Everything was counted, so these differences are exact for these profiles. Single profiles do not show whether they would recur: several on each side do."
	}
	return "The profiles do not say how many observations their values were estimated from, so nothing can be said about chance: several profiles on each side show it."
}

// noun is what a row is.
func (p *profileDiff) noun() string {
	if p.d.By.By == "label" {
		return p.d.By.Label
	}
	return p.d.By.String()
}

// shown are the rows that are shown, and how many more there are. People do not
// see rows without anything in the values that the rows are ranked by.
func (p *profileDiff) shown() (rows []compare.ProfileRow, more int) {
	rows = p.d.Rows
	if !p.v.Full {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r compare.ProfileRow) bool {
			x := p.d.Key(&r)
			return x.A == 0 && x.B == 0
		})
	}
	if p.v.Top <= 0 || p.v.Top >= len(rows) {
		return rows, 0
	}
	return rows[:p.v.Top], len(rows) - p.v.Top
}

// doubtful tells whether there are intervals and verdicts to show.
func (p *profileDiff) doubtful() bool { return p.d.Doubt != compare.Unfounded }

// wideEnough is the width from which on there is room for columns that follow
// from others.
const wideEnough = 112

// rows is the table for people. What the columns of a narrow terminal leave out
// is in every other form.
func (p *profileDiff) rows() *Sheet {
	d := p.d
	wide, wider := p.v.Width == 0 || p.v.Width >= wideEnough, p.v.Width == 0 || p.v.Width >= 136
	wider = wider && d.By.By != "label"
	key, other := "flat", "cum"
	if d.Cum {
		key, other = other, key
	}
	s := &Sheet{Key: "rows", Columns: []Column{{"a", key + " A"}, {"b", key + " B"}}}
	if wide || !p.doubtful() {
		s.Columns = append(s.Columns, Column{"difference", "difference"})
	}
	s.Columns = append(s.Columns, Column{"change", "change"})
	if p.doubtful() {
		s.Columns = append(s.Columns, Column{"interval", "B−A, 95%"}, Column{"verdict", "verdict"})
	}
	if wide && p.counted() {
		s.Columns = append(s.Columns, Column{"samples_a", "samples A"}, Column{"samples_b", "B"})
	}
	if wider {
		s.Columns = append(s.Columns, Column{"other_a", other + " A"}, Column{"other_b", other + " B"})
	}
	s.Columns = append(s.Columns, Column{"name", p.noun()})
	rows, more := p.shown()
	for _, r := range rows {
		x, y := &r.Flat, &r.Cum
		if d.Cum {
			x, y = y, x
		}
		row := []any{p.amount(x.A), p.amount(x.B)}
		if wide || !p.doubtful() {
			row = append(row, p.change(x.Difference.Estimate))
		}
		row = append(row, rightText(ratio(x)))
		if p.doubtful() {
			row = append(row, rightText(p.interval(x)), string(x.Significance))
		}
		if wide && p.counted() {
			row = append(row, int64(x.SamplesA), int64(x.SamplesB))
		}
		if wider {
			row = append(row, p.amount(y.A), p.amount(y.B))
		}
		s.Rows = append(s.Rows, append(row, r.Name))
	}
	if more > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s more rows"+byFlag+"top shows more of them", unit.Count(int64(more))))
	}
	return s
}

// counted tells whether the observations behind the rows are known.
func (p *profileDiff) counted() bool { return p.d.Sampling == profile.Sampled }

// rightText is text that is aligned to the right, as numbers are.
type rightText string

func (t rightText) text() string { return string(t) }

func (t rightText) plain() any { return string(t) }

// paths are the call paths for people.
func (p *profileDiff) paths() *Sheet {
	s := &Sheet{Key: "paths", Title: "Call paths that explain the change, each excluding those listed separately",
		Columns: []Column{{"a", "A"}, {"b", "B"}}}
	wide := p.v.Width == 0 || p.v.Width >= wideEnough || !p.doubtful()
	if wide {
		s.Columns = append(s.Columns, Column{"difference", "difference"})
	}
	s.Columns = append(s.Columns, Column{"change", "change"})
	if p.doubtful() {
		s.Columns = append(s.Columns, Column{"interval", "B−A, 95%"})
	}
	s.Columns = append(s.Columns, Column{"path", "path"})
	room := 160 // beside the other columns
	switch {
	case p.v.Width > 0 && wide:
		room = p.v.Width - 62
	case p.v.Width > 0:
		room = max(30, p.v.Width-52)
	}
	for i := range p.d.Paths {
		x := &p.d.Paths[i]
		row := []any{p.amount(x.A), p.amount(x.B)}
		if wide {
			row = append(row, p.change(x.Difference.Estimate))
		}
		row = append(row, rightText(ratio(&x.ProfileDelta)))
		if p.doubtful() {
			row = append(row, rightText(p.interval(&x.ProfileDelta)))
		}
		s.Rows = append(s.Rows, append(row, p.pathCell(x.Path, room)))
	}
	switch {
	case len(s.Rows) == 0 && p.doubtful():
		s.Notes = []string{"No call path changed by more than chance."}
	case len(s.Rows) > 0 && p.d.Basis != "share":
		s.Notes = []string{fmt.Sprintf("All other paths together: %s.", p.change(p.d.Rest).text())}
	}
	return s
}

// pathCell shows as much of a path as there is room for: its end, and before it
// the program's own function that is nearest to it.
func (p *profileDiff) pathCell(names []string, room int) Stack {
	out := Stack{Frames: slices.Clone(names)}
	slices.Reverse(out.Frames)
	short := func(name string) string {
		switch p.d.By.By {
		case "function", "label":
			return stack.Short(name)
		case "file", "line":
			return path.Base(name)
		}
		return name
	}
	const arrow = " → "
	// end is the end of the path from a step on.
	end := func(from int) string {
		steps := make([]string, 0, len(names)-from)
		for _, name := range names[from:] {
			steps = append(steps, short(name))
		}
		return strings.Join(steps, arrow)
	}
	fits := func(text string) bool { return utf8.RuneCountInString(text) <= room }
	if out.Where = end(0); fits(out.Where) {
		return out
	}
	// The program's own function nearest to the end is what can be changed.
	head := "…" + arrow
	if own := p.ownStep(names); own >= 0 && own < len(names)-1 {
		head = short(names[own]) + arrow
		if out.Where = "…" + arrow + end(own); fits(out.Where) {
			return out
		}
		if fits(head + "…" + arrow + end(len(names)-1)) {
			head += "…" + arrow
		} else {
			head = "…" + arrow
		}
	}
	for from := 1; from < len(names); from++ {
		if out.Where = head + end(from); fits(out.Where) {
			break
		}
	}
	return out
}

// ownStep is the last step of a path that is not of the standard library; -1
// where there is none, or the steps are no functions.
func (p *profileDiff) ownStep(names []string) int {
	if p.d.By.By != "function" && p.d.By.By != "label" {
		return -1
	}
	var scope stack.Scope
	for i := len(names) - 1; i >= 0; i-- {
		if scope.IsOutsideStandard(stack.Frame{Func: names[i]}) {
			return i
		}
	}
	return -1
}

// deltaColumns are all figures of one delta.
func deltaColumns(prefix string) []Column {
	var out []Column
	for _, key := range []string{"a", "b", "change", "low", "high", "p", "q", "verdict", "samples_a", "samples_b"} {
		key = prefix + key
		out = append(out, Column{key, strings.ReplaceAll(key, "_", " ")})
	}
	return out
}

func deltaValues(x *compare.ProfileDelta) []any {
	var out []any
	for _, v := range []float64{x.A, x.B, x.Difference.Estimate, x.Difference.Low, x.Difference.High, x.P, x.Q} {
		out = append(out, amount{value: v}.plain())
	}
	return append(out, string(x.Significance), amount{value: x.SamplesA}.plain(), amount{value: x.SamplesB}.plain())
}

// rowData is the table for programs.
func (p *profileDiff) rowData() *Sheet {
	s := &Sheet{Key: "rows", Columns: slices.Concat([]Column{{"name", p.noun()}, {"state", "state"}}, deltaColumns("flat_"), deltaColumns("cum_"))}
	rows, _ := p.shown()
	for _, r := range rows {
		state := "both"
		switch {
		case r.New():
			state = "new"
		case r.Gone():
			state = "gone"
		}
		s.Rows = append(s.Rows, slices.Concat([]any{r.Name, state}, deltaValues(&r.Flat), deltaValues(&r.Cum)))
	}
	return s
}

func (p *profileDiff) pathData() *Sheet {
	s := &Sheet{Key: "paths", Columns: slices.Concat([]Column{{"path", "path"}}, deltaColumns(""))}
	for i := range p.d.Paths {
		x := &p.d.Paths[i]
		s.Rows = append(s.Rows, slices.Concat([]any{p.pathCell(x.Path, 160)}, deltaValues(&x.ProfileDelta)))
	}
	return s
}
