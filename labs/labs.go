// Package labs lists the sample workloads: small real programs, each with a
// slow and a fixed form, on which loupe shows what it finds. Every lab is a
// folder with a doc.go that tells what to look for and an expect.txt with the
// rules that must and must not fire.
package labs

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed */expect.txt
var expectations embed.FS

// Lab is one sample workload.
type Lab struct {
	// Name is the folder's name.
	Name string
	// Title says in one line what the program is.
	Title string
	// Slow and Fixed are the arguments that choose a form.
	Slow, Fixed []string
	// URL is what to put load on; empty for a program that works by itself.
	URL string
}

// All lists the labs.
var All = []Lab{{
	Name:  "newssearch",
	Title: "a web service that searches three news feeds; allocates where it need not",
	Slow:  []string{},
	Fixed: []string{"-fixed"},
	URL:   "http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on",
}}

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

// Expectation says that a rule must or must not find something in one form of
// a lab.
type Expectation struct {
	Form string // "slow" or "fixed"
	Rule string
	Must bool
}

// Expect reads the lab's expectations: lines of the form "slow AL09" or
// "fixed !AL09"; text after # is a remark.
func (l Lab) Expect() ([]Expectation, error) {
	text, err := expectations.ReadFile(l.Name + "/expect.txt")
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
		if len(f) != 2 || f[0] != "slow" && f[0] != "fixed" {
			return nil, fmt.Errorf("%s/expect.txt: line %d: want \"slow RULE\" or \"fixed !RULE\"", l.Name, n+1)
		}
		rule, not := strings.CutPrefix(f[1], "!")
		out = append(out, Expectation{Form: f[0], Rule: rule, Must: !not})
	}
	return out, nil
}
