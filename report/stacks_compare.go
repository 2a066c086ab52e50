package report

import (
	"fmt"
	"io"

	"loupe/format/dump"
	"loupe/value/unit"
)

// StacksComparison is two looks at the goroutines of a program.
type StacksComparison struct {
	Old, New *Stacks
	Changes  []dump.Change
}

// CompareStacks puts two dumps side by side.
func CompareStacks(old, new *Stacks) *StacksComparison {
	return &StacksComparison{Old: old, New: new, Changes: dump.Compare(old.File, new.File, old.Chosen(), new.Chosen())}
}

// WriteStacksComparison prints what has grown, what is new and what is gone.
func WriteStacksComparison(out io.Writer, c *StacksComparison, s Style) error {
	w := &lines{w: out}
	var before, after int64
	kinds := map[string][]dump.Change{}
	same := 0
	for _, x := range c.Changes {
		before += x.Old
		after += x.New
		switch {
		case x.Old == 0:
			kinds["new"] = append(kinds["new"], x)
		case x.New == 0:
			kinds["gone"] = append(kinds["gone"], x)
		case x.New > x.Old:
			kinds["grown"] = append(kinds["grown"], x)
		case x.New < x.Old:
			kinds["shrunk"] = append(kinds["shrunk"], x)
		default:
			same++
		}
	}
	w.printf("%s\n", s.paint(bold, fmt.Sprintf("%s → %s: %s → %s goroutines", clean(c.Old.Name), clean(c.New.Name), unit.Count(before), unit.Count(after))))
	for _, part := range [...]struct{ key, title, colour string }{{"grown", "Grown", red}, {"new", "New", yellow}, {"shrunk", "Shrunk", green}, {"gone", "Gone", green}} {
		all := kinds[part.key]
		if len(all) == 0 {
			continue
		}
		w.printf("\n%s\n", s.paint(bold, part.title))
		for i, x := range all {
			if c.New.Top > 0 && i >= c.New.Top {
				w.printf("\n  %s\n", s.paint(dim, unit.Plural(len(all)-i, "more group")+"; -n 0 shows all of them"))
				break
			}
			text := fmt.Sprintf("%s → %s  ", unit.Count(x.Old), unit.Count(x.New))
			title := clip(clean(x.State), 60)
			if x.Leaked {
				title += ", leaked"
			}
			if x.MaxWait > 0 {
				title += ", up to " + waitText(x.MaxWait)
			}
			w.printf("\n  %s%s\n", s.paint(part.colour, text), title)
			writeFrames(w, x.In, x.Stack, s)
		}
	}
	if same > 0 {
		w.printf("\n%s\n", s.paint(dim, unit.Plural(same, "group")+" as before"))
	}
	return w.err
}

// StacksComparisonJSON is what [WriteJSON] prints of a comparison.
func StacksComparisonJSON(c *StacksComparison) any {
	type change struct {
		Old     int64       `json:"old"`
		New     int64       `json:"new"`
		State   string      `json:"state"`
		Leaked  bool        `json:"leaked"`
		MaxWait int32       `json:"max_wait_minutes"`
		Frames  []frameJSON `json:"frames"`
	}
	out := struct {
		Schema  string   `json:"schema"`
		Old     string   `json:"old"`
		New     string   `json:"new"`
		Before  int64    `json:"old_goroutines"`
		After   int64    `json:"new_goroutines"`
		Changes []change `json:"changes"`
	}{Schema: StacksSchema, Old: c.Old.Name, New: c.New.Name, Changes: []change{}}
	for _, x := range c.Changes {
		out.Before += x.Old
		out.After += x.New
		if x.Old != x.New {
			out.Changes = append(out.Changes, change{x.Old, x.New, x.State, x.Leaked, x.MaxWait, framesJSON(x.In, x.Stack)})
		}
	}
	return out
}
