package pprof

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/calltree"
	"loupe/format/profile"
)

// filters are the options that choose samples, frames and labels, compiled.
type filters struct {
	names               profile.NameFilter
	showFrom, pruneFrom *regexp.Regexp
	tagShow, tagHide    *regexp.Regexp
	tagFocus, tagIgnore tagFilter
}

// tagFilter says whether the labels of a sample match.
type tagFilter func(labels []profile.Label) bool

func newFilters(c *Config, units map[string]string, env *Env) (*filters, error) {
	f := &filters{}
	for _, o := range []struct {
		name, value string
		to          **regexp.Regexp
	}{
		{"focus", c.Focus, &f.names.Focus}, {"ignore", c.Ignore, &f.names.Ignore}, {"hide", c.Hide, &f.names.Hide},
		{"show", c.Show, &f.names.Show}, {"show_from", c.ShowFrom, &f.showFrom}, {"prune_from", c.PruneFrom, &f.pruneFrom},
		{"tagshow", c.TagShow, &f.tagShow}, {"taghide", c.TagHide, &f.tagHide},
	} {
		if o.value == "" {
			continue
		}
		re, err := regexp.Compile(o.value)
		if err != nil {
			return nil, fmt.Errorf("parsing %s regexp: %v", o.name, err)
		}
		*o.to = re
	}
	var err error
	if f.tagFocus, err = newTagFilter("tagfocus", c.TagFocus, units, env); err != nil {
		return nil, err
	}
	f.tagIgnore, err = newTagFilter("tagignore", c.TagIgnore, units, env)
	return f, err
}

// apply filters in pprof's order. An expression that matches nothing is worth
// a warning: it may be misspelled.
func (f *filters) apply(p *profile.Profile, env *Env) *profile.Profile {
	p, matched := p.FilterNames(f.names)
	env.noMatch(f.names.Focus != nil && !matched.Focus, "Focus")
	env.noMatch(f.names.Ignore != nil && !matched.Ignore, "Ignore")
	env.noMatch(f.names.Hide != nil && !matched.Hide, "Hide")
	env.noMatch(f.names.Show != nil && !matched.Show, "Show")
	if f.showFrom != nil {
		var ok bool
		p, ok = p.ShowFrom(f.showFrom)
		env.noMatch(!ok, "ShowFrom")
	}
	p = f.tags(p, env)
	if f.tagShow != nil || f.tagHide != nil {
		shown, hidden := false, false
		p = p.FilterLabels(func(key string) bool {
			show, hide := f.tagShow == nil || f.tagShow.MatchString(key), f.tagHide != nil && f.tagHide.MatchString(key)
			shown, hidden = shown || show, hidden || hide
			return show && !hide
		})
		env.noMatch(f.tagShow != nil && !shown, "TagShow")
		env.noMatch(f.tagHide != nil && !hidden, "TagHide")
	}
	if f.pruneFrom != nil {
		p = p.PruneFrom(f.pruneFrom)
	}
	return p
}

func (f *filters) tags(p *profile.Profile, env *Env) *profile.Profile {
	if f.tagFocus == nil && f.tagIgnore == nil {
		return p
	}
	focused, ignored := false, false
	p = p.FilterSets(func(set profile.LabelSet) bool {
		labels := p.Labels(set)
		focus, ignore := f.tagFocus == nil || f.tagFocus(labels), f.tagIgnore != nil && f.tagIgnore(labels)
		focused, ignored = focused || focus, ignored || ignore
		return focus && !ignore
	})
	env.noMatch(f.tagFocus != nil && !focused, "TagFocus")
	env.noMatch(f.tagIgnore != nil && !ignored, "TagIgnore")
	return p
}

// newTagFilter reads what tagfocus and tagignore say: [key=]range or
// [key=]expression[,expression]. With a key, one of the expressions must match
// one of its values; without, each of them some "key:value".
func newTagFilter(name, value string, units map[string]string, env *Env) (tagFilter, error) {
	if value == "" {
		return nil, nil
	}
	key, rest, hasKey := strings.Cut(value, "=")
	if hasKey {
		value = rest
	}
	if in := parseRange(value); in != nil {
		env.warn("%s:Interpreted '%s' as range, not regexp", name, value)
		return func(labels []profile.Label) bool {
			return slices.ContainsFunc(labels, func(l profile.Label) bool {
				return l.Numeric && (!hasKey || l.Key == key) && in(l.Num, units[l.Key])
			})
		}, nil
	}
	var list []*regexp.Regexp
	for part := range strings.SplitSeq(value, ",") {
		re, err := regexp.Compile(part)
		if err != nil {
			return nil, fmt.Errorf("parsing %s regexp: %v", name, err)
		}
		list = append(list, re)
	}
	matches := func(labels []profile.Label, re *regexp.Regexp) bool {
		return slices.ContainsFunc(labels, func(l profile.Label) bool {
			if hasKey {
				return !l.Numeric && l.Key == key && re.MatchString(l.Str)
			}
			return !l.Numeric && re.MatchString(l.Key+":"+l.Str)
		})
	}
	return func(labels []profile.Label) bool {
		for _, re := range list {
			if matches(labels, re) == hasKey {
				return hasKey
			}
		}
		return !hasKey
	}, nil
}

var number = regexp.MustCompile("([+-]?[[:digit:]]+)([[:alpha:]]+)?")

// parseRange reads a range of numbers with units, both ends included: "32kb",
// ":64kb", "4mb:", "12kb:64mb". It returns nil for anything else.
func parseRange(s string) func(v int64, unit string) bool {
	ends := number.FindAllStringSubmatch(s, 2)
	if len(ends) == 0 {
		return nil
	}
	low, err := strconv.ParseInt(ends[0][1], 10, 64)
	if err != nil {
		return nil // too large for a number: then it is an expression
	}
	from, unit := calltree.Scale(low, ends[0][2], ends[0][2])
	within := func(ok func(v float64) bool) func(int64, string) bool {
		return func(v int64, u string) bool {
			x, as := calltree.Scale(v, u, unit)
			return as == unit && ok(x)
		}
	}
	if len(ends) == 1 {
		switch s {
		case ends[0][0]:
			return within(func(v float64) bool { return v == from })
		case ends[0][0] + ":":
			return within(func(v float64) bool { return v >= from })
		case ":" + ends[0][0]:
			return within(func(v float64) bool { return v <= from })
		}
		return nil
	}
	if s != ends[0][0]+":"+ends[1][0] {
		return nil
	}
	high, err := strconv.ParseInt(ends[1][1], 10, 64)
	if err != nil {
		return nil
	}
	to, unit2 := calltree.Scale(high, ends[1][2], unit)
	if unit != unit2 {
		return nil
	}
	return within(func(v float64) bool { return v >= from && v <= to })
}
