package pprof

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"loupe/analysis/calltree"
	"loupe/format/profile"
	"loupe/value/stack"
)

// Header returns what is printed above the report.
func (r *Report) Header() calltree.Header {
	p, cfg := r.Profile, &r.Config
	h := calltree.Header{
		Comments: p.Comments, Type: r.Type, Unit: r.Unit, DocURL: p.DocURL, Time: p.Time, Duration: p.Duration,
		Filters: r.Filters(), Compact: cfg.CompactLabels, DivideBy: cfg.DivideBy, OutputUnit: cfg.Unit, Total: r.Total,
	}
	if len(p.Mappings) > 0 {
		h.File, h.BuildID = p.Mappings[0].File, p.Mappings[0].BuildID
	}
	return h
}

// Filters lists the options that chose what is shown, as "focus=main".
func (r *Report) Filters() (list []string) {
	c := &r.Config
	for _, f := range [...][2]string{
		{"focus", c.Focus}, {"ignore", c.Ignore}, {"hide", c.Hide}, {"show", c.Show}, {"show_from", c.ShowFrom},
		{"tagfocus", c.TagFocus}, {"tagignore", c.TagIgnore}, {"tagshow", c.TagShow}, {"taghide", c.TagHide},
	} {
		if f[1] != "" {
			list = append(list, f[0]+"="+f[1])
		}
	}
	return list
}

// Param returns the expression that the command was given, or nil.
func (r *Report) Param() *regexp.Regexp { return r.match }

// Matches says whether a name matches the command's expression, if it has one.
func (r *Report) Matches(name string) bool { return r.match == nil || r.match.MatchString(name) }

func writeComments(r *Report, w io.Writer) error {
	for _, c := range r.Profile.Comments {
		if _, err := fmt.Fprintln(w, c); err != nil {
			return err
		}
	}
	return nil
}

func writeRaw(r *Report, w io.Writer) error {
	p := r.Profile
	if r.Config.NoInlines {
		p = p.WithoutInlines(r.Config.ShowColumns)
	}
	return p.WriteRaw(w)
}

func writeProto(r *Report, w io.Writer) error {
	p := r.Profile
	if r.Config.NoInlines {
		p = p.WithoutInlines(r.Config.ShowColumns)
	}
	if r.Config.DivideBy != 1 && r.Config.DivideBy > 0 {
		q := *p
		q.Values = make([][]int64, len(p.Values))
		for c, column := range p.Values {
			q.Values[c] = slices.Clone(column)
			for i, v := range column {
				q.Values[c][i] = divided(r, v)
			}
		}
		p = &q
	}
	return p.Encode(w)
}

// writeTraces prints every sample: its labels, its weight and its stack.
func writeTraces(r *Report, w io.Writer) error {
	const separator = "-----------+-------------------------------------------------------\n"
	b := bufio.NewWriterSize(w, 1<<16)
	h := r.Header()
	fmt.Fprintln(b, strings.Join(h.Facts(r.Total, r.Config.Unit), "\n"))
	p, opt := r.Profile, graphOptions(r)
	names := make([]string, p.Stacks.NumFrames()) // as they are printed; "" is not asked for yet
	labels := make([]string, p.NumLabelSets())
	known := make([]bool, len(labels))
	for row, id := range p.StackIDs {
		frames := p.Stacks.Frames(id)
		if len(frames) == 0 {
			continue
		}
		b.WriteString(separator)
		set := p.SetOf(row)
		if !known[set] {
			labels[set], known[set] = traceLabels(r, p.Labels(set)), true
		}
		b.WriteString(labels[set])
		v := p.Values[r.index][row]
		if n := p.Values[0][row]; r.mean && n != 0 {
			v /= n
		}
		value := valueOf(r, v)
		for _, f := range frames {
			if names[f] == "" {
				names[f] = traceFrame(r, &opt, f)
			}
			if names[f] == absent {
				continue
			}
			fmt.Fprintf(b, "%10s   %s\n", value, names[f])
			value = ""
		}
	}
	b.WriteString(separator)
	return b.Flush()
}

// absent marks a frame that is not printed. No name begins with a line end.
const absent = "\n"

func traceFrame(r *Report, opt *calltree.Options, id stack.FrameID) string {
	f := r.Profile.Stacks.Frame(id)
	if opt.NoInlines && f.Inlined {
		return absent
	}
	name := opt.PlaceOf(f).String()
	if f.Inlined {
		name += " (inline)"
	}
	return name
}

// traceLabels prints a line for each key, words before numbers.
func traceLabels(r *Report, labels []profile.Label) string {
	var words, numbers []string
	byKey := map[string][]string{}
	for _, l := range labels {
		key, value := "w"+l.Key, l.Str
		if l.Numeric {
			key, value = "n"+l.Key, calltree.Format(l.Num, r.units[l.Key], "auto")
		}
		byKey[key] = append(byKey[key], value)
	}
	for key, values := range byKey {
		line := fmt.Sprintf("%10s:  %s\n", key[1:], strings.Join(values, " "))
		if key[0] == 'w' {
			words = append(words, line)
		} else {
			numbers = append(numbers, line)
		}
	}
	slices.Sort(words)
	slices.Sort(numbers)
	return strings.Join(words, "") + strings.Join(numbers, "")
}
