// Package labs lists the sample workloads: small real programs, each in several
// forms, of which some have something wrong that loupe finds and others repair
// it. Every lab is a folder with a doc.go that tells what to look for and an
// expect.txt with the rules that must and must not fire.
package labs

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed */expect.txt */doc.go
var files embed.FS

// Lab is one sample workload.
type Lab struct {
	// Name is the folder's name.
	Name string
	// Title says in one line what the program is.
	Title string
	// Forms lists the ways to run it, the one to begin with first.
	Forms []Form
	// URL is what to put load on; empty for a program that works by itself.
	URL string
	// Pair are the forms to compare; empty means the first one and the form fixed.
	Pair [2]string
	// Slow and Fixed are the arguments of the forms with these names, for
	// loupe demo; nil in labs whose forms have others.
	Slow, Fixed []string
}

// Form is one way to run a lab.
type Form struct {
	// Name is what expect.txt and texts call the form.
	Name string
	// Args are the program's arguments that choose it.
	Args []string
	// Record are the flags of loupe run that suit it, -load aside.
	Record []string
	// URL is what to put load on, where it is not that of the lab.
	URL string
	// About says in a few words what it does.
	About string
	// Dies tells that it ends at once, with a stack trace: it is run by itself.
	Dies bool
	// Long tells that recording it takes more than ten minutes.
	Long bool
}

// Named returns the lab of a name.
func Named(name string) (Lab, bool) {
	for _, l := range All {
		if l.Name == name {
			return l, true
		}
	}
	return Lab{}, false
}

// Package returns the import path of the lab.
func (l Lab) Package() string { return "loupe/labs/" + l.Name }

// Form returns the form of a name.
func (l Lab) Form(name string) (Form, bool) {
	for _, f := range l.Forms {
		if f.Name == name {
			return f, true
		}
	}
	return Form{}, false
}

// Compared returns the two forms to compare: the one with the problem, and the one
// that repairs it.
func (l Lab) Compared() (before, after Form) {
	names := l.Pair
	if names[0] == "" {
		names = [2]string{l.Forms[0].Name, "fixed"}
	}
	before, _ = l.Form(names[0])
	after, _ = l.Form(names[1])
	return before, after
}

// Command returns the words of the command line that records a form, or runs it.
func (l Lab) Command(f Form) []string {
	if f.Dies {
		return slices.Concat([]string{"go", "run", l.Package()}, f.Args)
	}
	words := slices.Concat([]string{"loupe", "run"}, f.Record)
	if url := cmp.Or(f.URL, l.URL); url != "" {
		words = append(words, "-load", url)
	}
	return slices.Concat(words, []string{l.Package()}, f.Args)
}

// Doc returns what the lab's doc.go says, without the comment marks.
func (l Lab) Doc() (string, error) {
	text, err := files.ReadFile(l.Name + "/doc.go")
	if err != nil {
		return "", err
	}
	comment, _, ok := strings.Cut(string(text), "\npackage ")
	if !ok {
		return "", fmt.Errorf("%s/doc.go: want a comment and then the package", l.Name)
	}
	var doc strings.Builder
	for line := range strings.Lines(comment + "\n") {
		line = strings.TrimPrefix(line, "//")
		doc.WriteString(strings.TrimPrefix(line, " "))
	}
	return doc.String(), nil
}

// Expectation says that a rule must or must not find something in one form of
// a lab.
type Expectation struct {
	Form string // the name of the form
	Rule string
	Must bool
	// Usually tells that it depends on the machine and on what else runs there: a
	// share or a time that lies within a factor of three of the rule's threshold.
	// What the rule says on either side of it is for synthetic recordings to test.
	Usually bool
}

// Expect reads the lab's expectations: lines of the form "slow AL09" or
// "fixed !AL09", with a ~ in front of what is so usually, "reused ~CP04"; text after #
// is a remark.
func (l Lab) Expect() ([]Expectation, error) {
	text, err := files.ReadFile(l.Name + "/expect.txt")
	if err != nil {
		return nil, err
	}
	var out []Expectation
	for n, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("%s/expect.txt: line %d: want \"FORM RULE\", \"FORM !RULE\", or either with ~ before the rule", l.Name, n+1)
		}
		if _, ok := l.Form(f[0]); !ok {
			return nil, fmt.Errorf("%s/expect.txt: line %d: %s has no form %q", l.Name, n+1, l.Name, f[0])
		}
		rule, usually := strings.CutPrefix(f[1], "~")
		rule, not := strings.CutPrefix(rule, "!")
		out = append(out, Expectation{Form: f[0], Rule: rule, Must: !not, Usually: usually})
	}
	return out, nil
}
