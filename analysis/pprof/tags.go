package pprof

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"loupe/analysis/calltree"
	"loupe/format/profile"
)

// Tag is one label key with all its values.
type Tag struct {
	Key    string     `json:"key"`
	Total  int64      `json:"total"` // weight of the samples with the key, a value at a time
	Values []TagValue `json:"values"`
}

// TagValue is the weight of the samples with one value of a label.
type TagValue struct {
	Value  string `json:"value"` // a number with its unit
	Weight int64  `json:"weight"`
}

// Tags weighs the labels: keys by name, values by weight.
func (r *Report) Tags() []Tag {
	p, column := r.Profile, r.Profile.Values[r.index]
	sets := make([]int64, p.NumLabelSets()) // weight by label set
	used := make([]bool, len(sets))
	for row, v := range column {
		sets[p.SetOf(row)] += v
		used[p.SetOf(row)] = true
	}
	keys, totals := map[string]map[string]int64{}, map[string]int64{}
	for set, v := range sets {
		if !used[set] {
			continue
		}
		for _, l := range p.Labels(profile.LabelSet(set)) {
			value := l.Str
			if l.Numeric {
				value = calltree.Format(l.Num, r.units[l.Key], r.Config.Unit)
			}
			if keys[l.Key] == nil {
				keys[l.Key] = map[string]int64{}
			}
			keys[l.Key][value] += v
			totals[l.Key] += v
		}
	}
	var tags []Tag
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		tag := Tag{Key: key, Total: totals[key]}
		for value, v := range keys[key] {
			tag.Values = append(tag.Values, TagValue{value, v})
		}
		slices.SortFunc(tag.Values, func(a, b TagValue) int {
			x, y := a.Weight, b.Weight
			return cmp.Or(cmp.Compare(max(y, -y), max(x, -x)), strings.Compare(a.Value, b.Value))
		})
		tags = append(tags, tag)
	}
	return tags
}

// writeTags prints every label key with its values and their weights.
func writeTags(r *Report, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', tabwriter.AlignRight)
	for _, tag := range r.Tags() {
		fmt.Fprintf(t, "%s:\t Total %s of %s", tag.Key, valueOf(r, tag.Total), valueOf(r, r.Total))
		if r.Total > 0 {
			fmt.Fprintf(t, " (%s)", calltree.Percent(tag.Total, r.Total))
		}
		fmt.Fprintln(t)
		for _, v := range tag.Values {
			if r.Total > 0 {
				fmt.Fprintf(t, " \t%s (%s):\t %s\n", valueOf(r, v.Weight), calltree.Percent(v.Weight, r.Total), v.Value)
			} else {
				fmt.Fprintf(t, " \t%s:\t %s\n", valueOf(r, v.Weight), v.Value)
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}
