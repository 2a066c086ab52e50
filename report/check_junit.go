package report

import (
	"encoding/xml"
	"io"
	"strings"

	"loupe/analysis/compare"
	"loupe/value/terminal"
)

// The elements of JUnit's XML, as CI servers read it: the schema of Apache Ant's task junit,
// of which there is no standard (https://github.com/windyroad/JUnit-Schema).
type (
	junitAll struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     float64      `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Error   *junitTrouble `xml:"error"`
		Failure *junitTrouble `xml:"failure"`
		Skipped *junitTrouble `xml:"skipped"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitTrouble struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit prints a check as JUnit's XML: a suite for each package or load, a case for each
// benchmark. What is undecided is skipped where it does not fail, and so is what an interrupt has left
// out.
func WriteJUnit(out io.Writer, c *Check) error {
	all := junitAll{Name: "loupe check", Time: c.Seconds}
	suites := map[string]int{}
	add := func(group string, one junitCase) {
		i, ok := suites[group]
		if !ok {
			i = len(all.Suites)
			suites[group] = i
			all.Suites = append(all.Suites, junitSuite{Name: group})
		}
		s := &all.Suites[i]
		s.Cases = append(s.Cases, one)
		s.Tests++
		all.Tests++
		switch {
		case one.Error != nil:
			s.Errors, all.Errors = s.Errors+1, all.Errors+1
		case one.Failure != nil:
			s.Failures, all.Failures = s.Failures+1, all.Failures+1
		case one.Skipped != nil:
			s.Skipped, all.Skipped = s.Skipped+1, all.Skipped+1
		}
	}
	for _, rows := range c.cases() {
		add(rows[0].Group, c.junitCase(rows))
	}
	for _, f := range c.Findings {
		one := junitCase{Class: f.Load, Name: terminal.Text(f.Rule + " " + f.Title), Out: terminal.Text(f.Summary + " (" + f.words() + ")")}
		if f.Fails {
			one.Failure = &junitTrouble{Message: terminal.Text(f.Summary), Type: string(f.Severity), Text: terminal.Text(f.Advice)}
		}
		add(f.Load, one)
	}
	for _, b := range c.Broken {
		message, _, _ := strings.Cut(b.Text, "\n")
		add(b.Group, junitCase{Class: b.Group, Name: terminal.Text(b.heading()), Error: &junitTrouble{Message: terminal.Text(message), Text: terminal.Text(b.Text)}})
	}
	if c.Interrupted {
		add("loupe check", junitCase{Class: "loupe check", Name: "measured to the end", Skipped: &junitTrouble{Message: InterruptedNote}})
	}
	if _, err := io.WriteString(out, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(out, "\n")
	return err
}

// cases are the rows that are held to a limit, those of a benchmark together.
func (c *Check) cases() (all [][]*CheckRow) {
	for i := range c.Rows {
		r := &c.Rows[i]
		if !held(r) {
			continue
		}
		if last := len(all) - 1; last >= 0 && all[last][0].Group == r.Group && all[last][0].Name == r.Name {
			all[last] = append(all[last], r)
		} else {
			all = append(all, []*CheckRow{r})
		}
	}
	return all
}

// junitCase is the case of a benchmark with its rows.
func (c *Check) junitCase(rows []*CheckRow) junitCase {
	one := junitCase{Class: terminal.Text(rows[0].Group), Name: terminal.Text(rows[0].Name), File: terminal.Text(rows[0].File), Line: rows[0].Line}
	all, failing, open := c.sorted(rows)
	switch {
	case len(failing) > 0:
		one.Failure = &junitTrouble{Message: failing[0], Type: string(compare.Beyond), Text: strings.Join(failing, "\n")}
	case len(open) > 0:
		one.Skipped = &junitTrouble{Message: open[0]}
	}
	one.Out = strings.Join(all, "\n")
	return one
}

// sorted says of rows what they came to: of all, of those that fail, and of those that are
// undecided and do not.
func (c *Check) sorted(rows []*CheckRow) (all, failing, open []string) {
	for _, r := range rows {
		text := terminal.Text(r.sentence())
		all = append(all, text)
		switch {
		case c.Fails(r):
			failing = append(failing, text)
		case r.Standing == compare.Open:
			open = append(open, text)
		}
	}
	return all, failing, open
}
