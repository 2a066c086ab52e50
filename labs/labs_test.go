package labs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loupe/insight"
	"loupe/labs"
)

// TestExpectations: every lab has a folder that says what to look for, and
// expects only what a rule could say.
func TestExpectations(t *testing.T) {
	var rules []string
	for _, r := range insight.Rules() {
		rules = append(rules, r.ID)
	}
	for _, l := range labs.All {
		if got, ok := labs.Named(l.Name); !ok || got.Package() != "loupe/labs/"+l.Name || l.Title == "" {
			t.Errorf("lab %+v is not whole", l)
		}
		if _, err := os.Stat(filepath.Join(l.Name, "doc.go")); err != nil {
			t.Errorf("lab %s does not say what to look for: %v", l.Name, err)
		}
		all, err := l.Expect()
		if err != nil {
			t.Fatal(err)
		}
		seen := map[labs.Expectation]bool{}
		found := map[string]bool{}
		for _, e := range all {
			if !slices.Contains(rules, e.Rule) {
				t.Errorf("%s expects something of rule %s, which does not exist", l.Name, e.Rule)
			}
			contrary := e
			contrary.Must = !e.Must
			if seen[e] || seen[contrary] {
				t.Errorf("%s says twice what it expects of %s in its %s form", l.Name, e.Rule, e.Form)
			}
			seen[e] = true
			if e.Must {
				found[e.Rule+" "+e.Form] = true
			}
		}
		// What the fix is for must be there before and gone afterwards.
		for _, e := range all {
			if e.Form == "slow" && e.Must && !seen[labs.Expectation{Form: "fixed", Rule: e.Rule}] {
				t.Errorf("%s does not expect that the fix removes %s", l.Name, e.Rule)
			}
		}
		if len(found) == 0 {
			t.Errorf("%s expects no finding at all", l.Name)
		}
	}
}

func TestNamedNone(t *testing.T) {
	if l, ok := labs.Named("none"); ok {
		t.Errorf("Named = %+v", l)
	}
	if _, err := (labs.Lab{Name: "none"}).Expect(); err == nil {
		t.Error("a lab that does not exist has expectations")
	}
}
