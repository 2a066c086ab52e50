package requests

import (
	"cmp"
	"slices"
	"time"

	"loupe/analysis/account"
)

// Division is the time of one sort of units by what it passed with, for a picture.
type Division struct {
	// Title says which units: "request main.(*shop).list".
	Title string
	// Typical and Slow are the parts of the typical and of the slow ones, the largest
	// first; EachTypical and EachSlow are what one of them takes.
	Typical, Slow         []Slice
	EachTypical, EachSlow time.Duration
}

// Slice is one part of the time.
type Slice struct {
	// Kind is the kind's name in JSON, Name its words.
	Kind, Name string
	// Each is its time in one unit, Share its share of that.
	Each  time.Duration
	Share float64
}

// Divisions are those of the units that [List] divides line by line, in its order.
func Divisions(a *account.Account) (all []Division) {
	for _, g := range a.Divided(shownGroups) {
		d := Division{Title: g.Unit.String() + " " + unitName(g.Unit, g.Name)}
		d.Typical, d.EachTypical = partsOf(&g.Typical), each(g.Typical.Wall, g.Typical.Units)
		d.Slow, d.EachSlow = partsOf(&g.Slow), each(g.Slow.Wall, g.Slow.Units)
		all = append(all, d)
	}
	return all
}

// partsOf adds up the rows of a part by kind.
func partsOf(p *account.Part) (all []Slice) {
	times := map[account.Kind]time.Duration{}
	for i := range p.Rows {
		times[p.Rows[i].Kind] += p.Rows[i].Time
	}
	for k, t := range times {
		all = append(all, Slice{k.Key(), k.String(), each(t, p.Units), p.Share(t)})
	}
	slices.SortFunc(all, func(a, b Slice) int { return cmp.Or(cmp.Compare(b.Each, a.Each), cmp.Compare(a.Kind, b.Kind)) })
	return all
}
