package code

import (
	"fmt"
	"go/token"
	"io"
	"strings"

	"loupe/analysis/callers"
	"loupe/value/unit"
)

// callersAnswer is what loupe callers prints, in both forms.
type callersAnswer struct {
	Schema   string       `json:"schema"`
	Function functionJSON `json:"function"`
	Packages []string     `json:"packages"`
	Cached   bool         `json:"cached"`
	Profile  *profileJSON `json:"profile,omitempty"`
	Callers  []callerJSON `json:"callers"`
	Cut      bool         `json:"cut,omitempty"`

	depth   int
	note    string
	foreign bool // the profile knows nothing of the function's package
}

type functionJSON struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"`
}

type profileJSON struct {
	Name     string `json:"name"`
	Counts   string `json:"counts"` // the column that samples are of
	Samples  int64  `json:"samples"`
	Rootless int64  `json:"without_caller"`
}

type callerJSON struct {
	Name    string       `json:"name"`
	Found   string       `json:"found"`
	Samples *int64       `json:"samples,omitempty"` // none without a profile
	Sites   []siteJSON   `json:"sites"`
	Callers []callerJSON `json:"callers,omitempty"`
	Again   string       `json:"again,omitempty"`
}

type siteJSON struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Way     string `json:"way,omitempty"`
	Found   string `json:"found"`
	Samples *int64 `json:"samples,omitempty"`
}

func (a *callersAnswer) fill(t *callers.Tree) {
	if a.Profile != nil {
		a.Profile.Samples, a.Profile.Rootless = t.Samples, t.Rootless
	}
	a.Callers, a.Cut = a.level(t.Callers), t.Cut
}

func (a *callersAnswer) level(all []*callers.Caller) []callerJSON {
	out := []callerJSON{}
	for _, c := range all {
		j := callerJSON{Name: c.Name, Found: string(c.Found), Again: c.Again, Sites: []siteJSON{}}
		for _, s := range c.Sites {
			one := siteJSON{File: here(s.File), Line: s.Line, Way: s.Way, Found: string(s.Found)}
			if a.Profile != nil {
				one.Samples = &s.Samples
			}
			j.Sites = append(j.Sites, one)
		}
		if a.Profile != nil {
			j.Samples = &c.Samples
		}
		if len(c.Callers) > 0 {
			j.Callers = a.level(c.Callers)
		}
		out = append(out, j)
	}
	return out
}

func (a *callersAnswer) write(w io.Writer) error {
	fmt.Fprintf(w, "%s  %s:%d\n", a.Function.Name, a.Function.File, a.Function.Line)
	if p := a.Profile; p != nil {
		fmt.Fprintln(w, a.heading(p))
	}
	fmt.Fprintln(w)
	a.writeLevel(w, a.Callers, 0)
	if len(a.Callers) > 0 {
		fmt.Fprintln(w)
	}
	for _, line := range a.notes() {
		fmt.Fprintln(w, line)
	}
	return nil
}

// heading says on how much of the profile the function is.
func (a *callersAnswer) heading(p *profileJSON) string {
	name := p.Name
	if a.note != "" {
		name = a.note
	}
	switch {
	case a.foreign:
		return fmt.Sprintf("%s has no function of package %s: is it from another program?", name, a.Function.Package)
	case p.Samples == 0:
		return fmt.Sprintf("on no stack of %s, which does not prove that nothing called it", name)
	}
	text := fmt.Sprintf("%d %s of %s have it on the stack", p.Samples, p.Counts, name)
	if p.Rootless > 0 {
		text += fmt.Sprintf(", %d of them without a caller", p.Rootless)
	}
	return text
}

func (a *callersAnswer) writeLevel(w io.Writer, all []callerJSON, level int) {
	indent, arrow := strings.Repeat("  ", level), ""
	if level > 0 {
		arrow = "← "
	}
	for _, c := range all {
		fmt.Fprintf(w, "%s%s%s%s%s\n", indent, arrow, c.Name, a.mark(c.Found, c.Samples), again(c.Again))
		for _, s := range c.Sites {
			way := ""
			if s.Way != "" && s.Way != "call" {
				way = "  " + s.Way
			}
			fmt.Fprintf(w, "%s      %s%s%s\n", indent, position(s), way, a.mark(s.Found, s.Samples))
		}
		a.writeLevel(w, c.Callers, level+1)
	}
}

func position(s siteJSON) string {
	if s.File == "" {
		return "somewhere"
	}
	return fmt.Sprintf("%s:%d", s.File, s.Line)
}

func again(why string) string {
	switch why {
	case "elsewhere":
		return "  (its callers are listed elsewhere)"
	case "":
		return ""
	}
	return "  (" + why + ")"
}

// mark says who knows of a caller or a place, where a profile was asked.
func (a *callersAnswer) mark(found string, samples *int64) string {
	switch {
	case a.Profile == nil:
		return ""
	case *samples == 0:
		return "  " + found
	}
	return fmt.Sprintf("  %s, %d", found, *samples)
}

// notes say what the list does not mean.
func (a *callersAnswer) notes() (all []string) {
	static, started := 0, false
	for _, c := range a.Callers {
		if c.Found != string(callers.Seen) {
			static++
		}
		for _, s := range c.Sites {
			started = started || s.Way == "go"
		}
	}
	where := strings.Join(a.Packages, " ") + " and what they import"
	if static == 0 {
		all = append(all, "No calls in "+where+".")
	} else {
		all = append(all, fmt.Sprintf("%s in %s: what the source allows, whether or not it is ever reached.", unit.Plural(static, "caller"), where))
	}
	all = append(all, "Not seen in source: calls by reflection, assembly, C and linkname, and from other packages.")
	if method := a.Function.Name[strings.LastIndexByte(a.Function.Name, '.')+1:]; token.IsExported(method) && static == 0 {
		all = append(all, "It is exported: other modules may call it.")
	}
	if started && a.Profile != nil {
		all = append(all, "A stack starts at the function of a go statement: a profile does not always show what started it.")
	}
	if a.Cut {
		all = append(all, fmt.Sprintf("The list ends after %d callers: ask for less with -depth.", callers.MaxCallers))
	}
	return all
}
