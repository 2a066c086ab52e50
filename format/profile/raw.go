package profile

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
)

// WriteRaw prints everything that the profile holds, as go tool pprof -raw
// does: samples with their values, locations and labels, then the locations
// with their lines, then the mappings. Times are in the local zone.
func (p *Profile) WriteRaw(w io.Writer) error {
	p = p.located()
	b := bufio.NewWriterSize(w, 1<<16)
	for _, c := range p.Comments {
		fmt.Fprintln(b, "Comment: "+c)
	}
	if p.DocURL != "" {
		fmt.Fprintf(b, "Doc: %s\n", p.DocURL)
	}
	fmt.Fprintf(b, "PeriodType: %s %s\n", p.PeriodType.Type, p.PeriodType.Unit)
	fmt.Fprintf(b, "Period: %d\n", p.Period)
	if !p.Time.IsZero() {
		fmt.Fprintf(b, "Time: %v\n", time.Unix(0, p.Time.UnixNano()))
	}
	if p.Duration != 0 {
		fmt.Fprintf(b, "Duration: %.4v\n", p.Duration)
	}
	fmt.Fprintln(b, "Samples:")
	types := make([]string, len(p.SampleTypes))
	for i, t := range p.SampleTypes {
		if types[i] = t.String(); t.Type == p.DefaultSampleType {
			types[i] += "[dflt]"
		}
	}
	fmt.Fprintln(b, strings.TrimSpace(strings.Join(types, " ")))
	p.writeRawSamples(b)
	fmt.Fprintln(b, "Locations")
	for i := range p.Locations {
		p.writeRawLocation(b, &p.Locations[i])
	}
	fmt.Fprintln(b, "Mappings")
	for i, m := range p.Mappings {
		flags := ""
		for i, has := range [...]bool{m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames} {
			if has {
				flags += [...]string{"[FN]", "[FL]", "[LN]", "[IN]"}[i]
			}
		}
		fmt.Fprintf(b, "%d: %#x/%#x/%#x %s %s %s\n", mappingID(m, i), m.Start, m.Limit, m.Offset, m.File, m.BuildID, flags)
	}
	return b.Flush()
}

func (p *Profile) writeRawSamples(b *bufio.Writer) {
	const indent = "                "
	for row, id := range p.StackIDs {
		for _, column := range p.Values {
			fmt.Fprintf(b, " %10d", column[row])
		}
		b.WriteString(": ")
		p.eachLocation(id, func(at int) { fmt.Fprintf(b, "%d ", p.Locations[at].ID) })
		b.WriteByte('\n')
		set := p.SetOf(row)
		if set == 0 {
			continue
		}
		words, numbers := rawLabels(p.Labels(set))
		if len(words) > 0 {
			fmt.Fprintln(b, indent+strings.Join(words, " "))
		}
		if len(numbers) > 0 {
			fmt.Fprintln(b, indent+strings.Join(numbers, " "))
		}
	}
}

// rawLabels prints each key with its values in brackets, words and numbers
// apart. A key has units for all of its values or for none.
func rawLabels(labels []Label) (words, numbers []string) {
	type values struct {
		list, plain []string
		units       bool
	}
	byKey := [2]map[string]*values{{}, {}}
	for _, l := range labels {
		kind, text := 0, l.Str
		if l.Numeric {
			kind, text = 1, fmt.Sprintf("%d %s", l.Num, l.Unit)
		}
		v := byKey[kind][l.Key]
		if v == nil {
			v = new(values)
			byKey[kind][l.Key] = v
		}
		v.list, v.plain = append(v.list, text), append(v.plain, fmt.Sprint(l.Num))
		v.units = v.units || l.Unit != "" || !l.Numeric
	}
	for kind, out := range [...]*[]string{&words, &numbers} {
		for key, v := range byKey[kind] {
			list := v.list
			if !v.units {
				list = v.plain
			}
			*out = append(*out, fmt.Sprintf("%s:%v", key, list))
		}
		slices.Sort(*out)
	}
	return words, numbers
}

func (p *Profile) writeRawLocation(b *bufio.Writer, l *Location) {
	head := fmt.Sprintf("%6d: %#x ", l.ID, l.Address)
	if l.Mapping >= 0 {
		head += fmt.Sprintf("M=%d ", mappingID(p.Mappings[l.Mapping], l.Mapping))
	}
	if l.Folded {
		head += "[F] "
	}
	if l.Lines == 0 {
		fmt.Fprintln(b, head)
	}
	for i := range l.Lines {
		f := p.Stacks.Frame(l.First + stack.FrameID(i))
		fmt.Fprintf(b, "%s%s %s:%d:%d s=%d", head, f.Func, f.File, f.Line, f.Column, f.StartLine)
		if f.System != f.Func {
			fmt.Fprintf(b, "(%s)", f.System)
		}
		b.WriteByte('\n')
		head = "             " // the details stand in the first line alone
	}
}
