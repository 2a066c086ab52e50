package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/compare"
	"loupe/analysis/gc"
	"loupe/insight"
	"loupe/report"
)

// row makes a row of a check.
func row(name, unit string, before, after float64, s compare.Standing) report.CheckRow {
	return report.CheckRow{
		Group: "example.com/m", Name: name, Unit: unit, File: "a,b:c%.go", Line: 7, Before: gc.Figure(before), After: gc.Figure(after), Ratio: gc.Figure(after / before),
		Low: gc.Unknown(), High: gc.Unknown(), Rounds: 10, Exact: true, Standing: s, Allowed: 0.01,
	}
}

// checked is a check with something of everything.
func checked() *report.Check {
	c := &report.Check{
		Schema: report.CheckSchema, Base: "0123456789ab (main): *first* | <b>",
		Rows: []report.CheckRow{
			row("BenchmarkA-2", "ns/op", 100, 200, compare.Beyond), row("BenchmarkA-2", "B/op", 1000, 2000, compare.Beyond),
			row("BenchmarkB/x=\x1b[31m<&\"-2", "allocs/op", 1, 1, compare.Within),
			row("BenchmarkC-2", "ns/op", 100, 105, compare.Open), row("BenchmarkD-2", "ns/op", 1, 2, compare.Unheld),
		},
		Findings: []report.CheckFinding{
			{Load: "search", Fails: true, Finding: finding("LD05", insight.Critical, "/repo/x y/a.go", "main.f", 3)},
			{Load: "search", Known: true, Finding: finding("AL09", insight.Warning, "/usr/lib/go/src/fmt/print.go", "fmt.Sprint", 4)},
		},
		Broken: []report.CheckBroken{{Group: "example.com/n", Name: "BenchmarkE", Text: "it panics\n::error::100%\r\n\tat x"}},
	}
	c.Decide()
	return c
}

func finding(rule string, s insight.Severity, file, function string, line int) insight.Finding {
	return insight.Finding{
		Rule: rule, Title: "title", State: insight.Found, Severity: s, Summary: "summary: 5%", Advice: "do, this",
		Evidence: []insight.Evidence{{Text: "there", File: file, Line: line, Function: function}},
	}
}

// TestOutcome: what fails a check, and what does not.
func TestOutcome(t *testing.T) {
	f := func(want report.Outcome, c report.Check) {
		t.Helper()
		if c.Decide(); c.Outcome != want {
			t.Errorf("%s, want %s", c.Outcome, want)
		}
	}
	open := []report.CheckRow{row("BenchmarkA", "ns/op", 1, 1, compare.Open)}
	f(report.Passed, report.Check{})
	f(report.Passed, report.Check{Rows: open})
	f(report.Regressed, report.Check{Rows: open, UndecidedFails: true})
	f(report.Regressed, report.Check{Rows: []report.CheckRow{row("BenchmarkA", "ns/op", 1, 2, compare.Beyond)}})
	f(report.Passed, report.Check{Findings: []report.CheckFinding{{Known: true}}})
	f(report.Regressed, report.Check{Findings: []report.CheckFinding{{Fails: true}}})
	f(report.Broken, *checked())
	f(report.Interrupted, report.Check{Interrupted: true, Rows: open})
	f(report.Regressed, report.Check{Interrupted: true, UndecidedFails: true, Rows: open})
}

// TestCheckInterrupted: what an interrupt has left out has not passed, on any surface.
func TestCheckInterrupted(t *testing.T) {
	f := func(want string, standing compare.Standing) {
		t.Helper()
		c := &report.Check{Interrupted: true, Rows: []report.CheckRow{row("BenchmarkA-2", "B/op", 1, 2, standing)}}
		c.Decide()
		if got := c.Headline(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		var junit bytes.Buffer
		if err := report.WriteJUnit(&junit, c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(junit.String(), "<skipped message=\"The check was interrupted") {
			t.Errorf("nothing says that it was interrupted:\n%s", &junit)
		}
	}
	f("check INTERRUPTED: 1 within its limit", compare.Within)
	f("check FAILED, INTERRUPTED: 1 regression", compare.Beyond)
}

// TestBrokenName: what has a group and no name is called by the group.
func TestBrokenName(t *testing.T) {
	var b bytes.Buffer
	c := &report.Check{Broken: []report.CheckBroken{{Group: "./...", Text: "it does not build"}}}
	if err := report.WriteJUnit(&b, c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "name=\"./...\">\n      <error") {
		t.Errorf("the case has another name:\n%s", &b)
	}
}

// TestAnnotations: each annotation is one line that GitHub's runner reads back to what was
// meant, whatever stands in names and errors.
func TestAnnotations(t *testing.T) {
	var b bytes.Buffer
	if err := report.WriteAnnotations(&b, checked()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"::error file=a%2Cb%3Ac%25.go,line=7,title=loupe%3A A-2::ns/op +100%25, from 100 ns to 200 ns in every round; the limit is +1%25%0AB/op +100%25, from 1,000 B to 2,000 B in every round; the limit is +1%25",
		"::error file=/repo/x y/a.go,line=3,title=loupe%3A search%3A LD05 title::summary: 5%25",
		"::error title=loupe%3A example.com/n BenchmarkE%3A not measured::it panics%0A::error::100%25%0A\tat x",
		"::notice file=a%2Cb%3Ac%25.go,line=7,title=loupe%3A C-2%3A undecided::ns/op +5.0%25, from 100 ns to 105 ns in every round; the limit is +1%25: undecided after 10 rounds",
	}
	if got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"); !slices.Equal(got, want) {
		t.Errorf("have\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCheckPackages: benchmarks of the same name in several packages are told apart.
func TestCheckPackages(t *testing.T) {
	f := func(want string, groups ...string) {
		t.Helper()
		c := &report.Check{}
		for _, g := range groups {
			r := row("BenchmarkA-2", "B/op", 1, 2, compare.Beyond)
			r.Group = g
			c.Rows = append(c.Rows, r)
		}
		var b bytes.Buffer
		if err := report.WriteCheck(&b, c, report.Style{Width: 200, Whole: true}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			if name, _, ok := strings.Cut(strings.TrimSpace(line), "  "); ok && strings.Contains(line, "REGRESSION") {
				got = append(got, name)
			}
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%v are called %s, want %s", groups, s, want)
		}
	}
	f("A-2", "example.com/m")
	f("a A-2, b/c A-2", "example.com/m/a", "example.com/m/b/c")
	f(". A-2, a A-2", "example.com/m", "example.com/m/a")
}

// TestJUnit: the counts are those of the cases, and any name makes well-formed XML.
func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := report.WriteJUnit(&b, checked()); err != nil {
		t.Fatal(err)
	}
	type trouble struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Tests int    `xml:"tests,attr"`
			Cases []struct {
				Name    string   `xml:"name,attr"`
				Failure *trouble `xml:"failure"`
				Error   *trouble `xml:"error"`
				Skipped *trouble `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if s := fmt.Sprint(got.Tests, got.Failures, got.Errors, got.Skipped); s != "6 2 1 1" {
		t.Errorf("tests, failures, errors and skipped are %s", s)
	}
	cases := 0
	for _, s := range got.Suites {
		if len(s.Cases) != s.Tests {
			t.Errorf("%s has %d cases and says %d", s.Name, len(s.Cases), s.Tests)
		}
		cases += len(s.Cases)
	}
	if a := got.Suites[0].Cases[0]; cases != 6 || a.Failure == nil || strings.Count(a.Failure.Text, "\n") != 1 {
		t.Errorf("%d cases, the first of them is %+v", cases, a)
	}
	if name := got.Suites[0].Cases[1].Name; name != `BenchmarkB/x=[31m<&"-2` {
		t.Errorf("a name became %q", name)
	}
}

// TestCheckMarkdown: a summary is no longer than GitHub takes, and what fails stands in it.
func TestCheckMarkdown(t *testing.T) {
	c := checked()
	print := func() string {
		var b bytes.Buffer
		if err := report.WriteCheckMarkdown(&b, c); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if text := print(); !strings.Contains(text, "| A-2 | ns/op |") || !strings.Contains(text, "<details><summary>1 within") || strings.Contains(text, "<b>") {
		t.Error(text)
	}
	for i := range 20000 {
		c.Rows = append(c.Rows, row(fmt.Sprintf("BenchmarkMany/%d-2", i), "ns/op", 1, 1, compare.Within))
	}
	if text := print(); len(text) > 1<<20 || !strings.Contains(text, "20001 within their limits: too many") || !strings.Contains(text, "| A-2 | ns/op |") {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
	for i := range c.Rows {
		c.Rows[i].Standing = compare.Beyond
	}
	if text := print(); len(text) > 1<<20 || !strings.Contains(text, "More does not fit here") || !strings.Contains(text, "| A-2 | ns/op |") {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
}

// keysOf are the properties that SARIF 2.1.0 knows of the objects that are written, with those
// that it requires marked by "!" (sarif-schema-2.1.0.json, additionalProperties being false).
var keysOf = map[string][]string{
	"log":              {"$schema", "version!", "runs!", "inlineExternalProperties", "properties"},
	"run":              {"tool!", "results", "invocations", "artifacts", "automationDetails", "originalUriBaseIds", "columnKind", "properties"},
	"tool":             {"driver!", "extensions", "properties"},
	"driver":           {"name!", "version", "semanticVersion", "informationUri", "rules", "fullName", "properties"},
	"rule":             {"id!", "name", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration", "properties"},
	"message":          {"text!", "markdown", "id", "arguments", "properties"},
	"result":           {"message!", "ruleId", "ruleIndex", "kind", "level", "locations", "relatedLocations", "partialFingerprints", "fingerprints", "baselineState", "codeFlows", "properties"},
	"location":         {"id", "physicalLocation", "logicalLocations", "message", "annotations", "relationships", "properties"},
	"physicalLocation": {"artifactLocation", "region", "contextRegion", "address", "properties"},
	"artifactLocation": {"uri", "uriBaseId", "index", "description", "properties"},
	"region":           {"startLine", "startColumn", "endLine", "endColumn", "snippet", "properties"},
}

// object is one of SARIF, held against what the schema knows.
func object(t *testing.T, kind string, v any) map[string]any {
	t.Helper()
	o, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is not an object: %v", kind, v)
	}
	for key := range o {
		if !slices.Contains(keysOf[kind], key) && !slices.Contains(keysOf[kind], key+"!") {
			t.Errorf("%s has %q, which the schema does not know", kind, key)
		}
	}
	for _, key := range keysOf[kind] {
		if name, required := strings.CutSuffix(key, "!"); required && (o[name] == nil || o[name] == "") {
			t.Errorf("%s has no %s", kind, name)
		}
	}
	return o
}

func list(v any) []any { l, _ := v.([]any); return l }

// checkSARIF holds a log against the rules of SARIF 2.1.0, and returns its results.
func checkSARIF(t *testing.T, data []byte) []map[string]any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	log := object(t, "log", v)
	if log["version"] != "2.1.0" || len(list(log["runs"])) != 1 {
		t.Fatalf("version %v, %d runs", log["version"], len(list(log["runs"])))
	}
	run := object(t, "run", list(log["runs"])[0])
	driver := object(t, "driver", object(t, "tool", run["tool"])["driver"])
	var ids []string
	for _, r := range list(driver["rules"]) {
		rule := object(t, "rule", r)
		for _, key := range []string{"shortDescription", "fullDescription", "help"} {
			object(t, "message", rule[key])
		}
		if id := rule["id"].(string); slices.Contains(ids, id) {
			t.Errorf("rule %s is there twice", id)
		} else {
			ids = append(ids, id)
		}
	}
	if run["results"] == nil {
		t.Error("results are null, which means that nobody has looked")
	}
	var results []map[string]any
	for _, v := range list(run["results"]) {
		r := object(t, "result", v)
		results = append(results, r)
		object(t, "message", r["message"])
		if i := int(r["ruleIndex"].(float64)); i < 0 || i >= len(ids) || ids[i] != r["ruleId"] {
			t.Errorf("rule %v has the index %d", r["ruleId"], i)
		}
		if !slices.Contains([]any{"none", "note", "warning", "error"}, r["level"]) {
			t.Errorf("level is %v", r["level"])
		}
		if b := r["baselineState"]; b != nil && !slices.Contains([]any{"new", "unchanged", "updated", "absent"}, b) {
			t.Errorf("baselineState is %v", b)
		}
		for _, l := range append(list(r["locations"]), list(r["relatedLocations"])...) {
			checkLocation(t, l)
		}
	}
	return results
}

func checkLocation(t *testing.T, v any) {
	t.Helper()
	l := object(t, "location", v)
	if l["message"] != nil {
		object(t, "message", l["message"])
	}
	p := object(t, "physicalLocation", l["physicalLocation"])
	a := object(t, "artifactLocation", p["artifactLocation"])
	uri, _ := a["uri"].(string)
	u, err := url.Parse(uri)
	if err != nil || uri == "" || strings.ContainsAny(uri, "\\ ") {
		t.Errorf("%q is not a URI: %v", uri, err)
	} else if u.IsAbs() == (a["uriBaseId"] != nil) && (u.IsAbs() || path.IsAbs(u.Path)) {
		t.Errorf("%q has the base %v", uri, a["uriBaseId"])
	}
	if p["region"] != nil {
		if line, _ := object(t, "region", p["region"])["startLine"].(float64); line < 1 {
			t.Errorf("a region begins in line %v", line)
		}
	}
}

// TestSARIF: what is written is what the schema asks for, whatever paths and findings there
// are.
func TestSARIF(t *testing.T) {
	write := func(found []insight.Finding, opt report.SARIF) []map[string]any {
		t.Helper()
		var b bytes.Buffer
		if err := report.WriteSARIF(&b, found, opt); err != nil {
			t.Fatal(err)
		}
		return checkSARIF(t, b.Bytes())
	}
	if got := write(nil, report.SARIF{}); len(got) != 0 {
		t.Errorf("%d results of nothing", len(got))
	}
	several := finding("AL09", insight.Info, "/usr/lib/go/src/fmt/print.go", "fmt.Sprint", 4)
	several.Evidence = append(several.Evidence, insight.Evidence{File: "/repo/a:b/ü?#.go", Line: 9, Function: "main.g"}, insight.Evidence{Text: "no line"})
	several.Summary = "map[string]struct{} of {0}, {id}"
	bare := finding("GC01", insight.Warning, "", "", 0)
	windows := finding("LD05", insight.Critical, `C:\src\m\a.go`, "main.h", 0)
	fine := insight.Finding{Rule: "GC02", State: insight.Fine, Summary: "fine"}
	opt := report.SARIF{Version: "v1", Root: "/repo", Whole: report.SourceLine{File: ".loupe.yml", Line: 3}, Known: func(i int) bool { return i == 0 }}
	got := write([]insight.Finding{several, fine, bare, windows}, opt)
	if len(got) != 3 {
		t.Fatalf("%d results, want 3", len(got))
	}
	if text := fmt.Sprint(got[0]["message"]); !strings.Contains(text, "map[string]struct{} of {{0}}, {id}") {
		t.Errorf("a message became %s", text)
	}
	uri := func(i int) any {
		l := list(got[i]["locations"])[0].(map[string]any)["physicalLocation"].(map[string]any)["artifactLocation"].(map[string]any)
		return fmt.Sprint(l["uriBaseId"], " ", l["uri"])
	}
	for i, want := range []string{"%SRCROOT% ./a:b/%C3%BC%3F%23.go", "%SRCROOT% .loupe.yml", "<nil> file:///C:/src/m/a.go"} {
		if uri(i) != want {
			t.Errorf("result %d is at %s, want %s", i, uri(i), want)
		}
	}
	for i, want := range []string{"note unchanged", "warning new", "error new"} {
		if s := fmt.Sprint(got[i]["level"], " ", got[i]["baselineState"]); s != want {
			t.Errorf("result %d is %s, want %s", i, s, want)
		}
	}
	if bare := write([]insight.Finding{bare}, report.SARIF{})[0]; bare["locations"] != nil || bare["baselineState"] != nil {
		t.Errorf("a finding without a line or a base has %v, %v", bare["locations"], bare["baselineState"])
	}
}

// TestSameFinding: a finding is the same when its line has moved, and not when it is of another
// function.
func TestSameFinding(t *testing.T) {
	a, b := finding("AL09", insight.Info, "/a/x.go", "main.f", 3), finding("AL09", insight.Info, "/b/x.go", "main.f", 9)
	other := finding("AL09", insight.Info, "/a/x.go", "main.g", 3)
	if !report.SameFinding(&a, &b) || report.SameFinding(&a, &other) {
		t.Error("moved lines are told from others by nothing")
	}
}
