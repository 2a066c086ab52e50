package insight

import (
	"strings"
	"testing"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
)

// TestMostAgain: many calls along one way go under the finding that most of them repeat, whichever takes more; not where few do, where that is a remark, or
// where they wait elsewhere.
func TestMostAgain(t *testing.T) {
	call, other := &facts.UnitRow{Time: 90}, &facts.UnitRow{Time: 90}
	few := &facts.UnitRow{Time: 10}
	many := Finding{Rule: "WT02", State: Found, Severity: Warning, waits: []*facts.UnitRow{call, few}}
	repeat := func(s Severity, again bool, rows ...*facts.UnitRow) Finding {
		return Finding{Rule: "CP26", State: Found, Severity: s, again: again, waits: rows}
	}
	for _, x := range []struct {
		name         string
		many, repeat Finding
		rank         float64 // of the latter; the former has 0.9
		under        bool
	}{
		{"most calls repeat", many, repeat(Warning, true, call, few), 0.7, true},
		{"and it takes more", many, repeat(Warning, true, call, few), 0.95, true},
		{"few do", many, repeat(Warning, false, call, few), 0.7, false},
		{"as a remark", many, repeat(Info, true, call, few), 0.7, false},
		{"little of the time does", many, func() Finding { f := repeat(Warning, true, call, few); f.part = 0.1; return f }(), 0.95, false},
		{"most of the time does", many, func() Finding { f := repeat(Warning, true, call, few); f.part = 0.9; return f }(), 0.7, true},
		{"another wait", many, repeat(Warning, true, other), 0.7, false},
		{"a small part of the wait", many, repeat(Warning, true, few), 0.7, false},
		{"no waits are known", many, repeat(Warning, true), 0.7, false},
		{"many calls that are graver", func() Finding { f := many; f.Severity = Critical; return f }(), repeat(Warning, true, call, few), 0.7, false},
	} {
		c := &causal{all: []Finding{x.many, x.repeat}, found: []int{0, 1}, rank: map[int]float64{0: 0.9, 1: x.rank}, under: map[int]int{}}
		for _, i := range c.found {
			c.under[i] = c.causeOf(i)
		}
		if got := c.under[0] == 1; got != x.under || got && c.under[1] == 0 {
			t.Errorf("%s: %v", x.name, c.under)
		}
	}
}

// TestRemaining: calls that are left are said to be made at once where one line in a loop makes all of them, and none needs another; with a condition where
// the source does not show that they only read.
func TestRemaining(t *testing.T) {
	const plain, condition = "one after another: ask for these at once", "one after another: if they need not be made in order"
	get := "func get(c *http.Client, x string) *http.Response {\n\tr, _ := c.Get(x) /*1*/\n\treturn r\n}\n"
	run := "func run(args ...string) error {\n\treturn exec.Command(`git`, args...).Run() /*1*/\n}\n"
	for _, c := range []struct {
		name, source string
		want         string
	}{
		{"a loop", get + "func all(c *http.Client, xs []string) {\n\tfor _, x := range xs {\n\t\tget(c, x) /*2*/\n\t}\n}\n", plain},
		{"a loop further out", get + "func one(c *http.Client, x string) { get(c, x) } /*2*/\nfunc all(c *http.Client, xs []string) {\n\tfor _, x := range xs {\n\t\tone(c, x) /*3*/\n\t}\n}\n", plain},
		{"it may do something", run + "func all(xs []string) {\n\tfor _, x := range xs {\n\t\trun(x) /*2*/\n\t}\n}\n", condition},
		{"several lines", run + "func checkout(x string) {\n\trun(`fetch`) /*2*/\n\trun(`checkout`, x)\n\trun(`clean`)\n}\nfunc all(xs []string) {\n\tfor _, x := range xs {\n\t\tcheckout(x) /*3*/\n\t}\n}\n", ""},
		{"another loop, too", get + "func all(c *http.Client, xs []string) {\n\tfor _, x := range xs {\n\t\tget(c, x) /*2*/\n\t}\n}\nfunc other(c *http.Client, xs []string) {\n\tfor _, x := range xs {\n\t\tget(c, x)\n\t}\n}\n", ""},
		{"each needs the one before", get + "func all(c *http.Client, x string) {\n\tfor x != `` {\n\t\tx = next(get(c, x)) /*2*/\n\t}\n}\n", ""},
		{"no loop", get + "func all(c *http.Client, x string) {\n\tget(c, x) /*2*/\n}\n", ""},
	} {
		text := "package main\n\nimport (\n\"net/http\"\n\"os/exec\"\n)\n\n" + c.source
		code := codeOf(text)
		path := numbered(text)
		for i := range path {
			path[i].Func = "main." + code.function(path[i]).Name.Name
		}
		in := NewInput(code.session)
		r := &repeatedCall{Call: repetition.Call{}, countedCall: countedCall{way: path, rows: []*facts.UnitRow{{Kind: kindOf("network"), Time: 1}}}}
		r.Inner.Distinct, r.Inner.Around = 8, 1
		f := Finding{again: true}
		r.remaining(in, &f)
		if !strings.Contains(f.Advice, c.want) || c.want == "" && f.Advice != "" {
			t.Errorf("%s: %q, want %q", c.name, f.Advice, c.want)
		}
	}
}
