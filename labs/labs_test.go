package labs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		if len(all) == 0 {
			t.Errorf("%s expects nothing at all", l.Name)
		}
		seen := map[string]bool{}
		repaired := map[string]bool{}
		for _, e := range all {
			if !slices.Contains(rules, e.Rule) {
				t.Errorf("%s expects something of rule %s, which does not exist", l.Name, e.Rule)
			}
			key := e.Form + " " + e.Rule
			if seen[key] {
				t.Errorf("%s says twice what it expects of %s in its form %s", l.Name, e.Rule, e.Form)
			}
			seen[key] = true
			if e.Usually && l.Name == "newssearch" {
				t.Errorf("%s %s: what the demo shows has to be so on every machine", l.Name, key)
			}
			if !e.Must {
				repaired[e.Rule] = true
			}
		}
		// What one form has must be gone in another.
		for _, e := range all {
			if e.Must && !repaired[e.Rule] {
				t.Errorf("%s has no form that repairs the %s of its form %s", l.Name, e.Rule, e.Form)
			}
		}
	}
}

// TestForms: every form has a name of its own and says what it does, and what
// loupe demo runs are the forms of these names.
func TestForms(t *testing.T) {
	for _, l := range labs.All {
		seen := map[string]bool{}
		for _, f := range l.Forms {
			if f.Name == "" || f.About == "" || seen[f.Name] {
				t.Errorf("%s: form %+v is not whole, or there twice", l.Name, f)
			}
			seen[f.Name] = true
		}
		if len(l.Forms) < 2 {
			t.Errorf("%s has nothing to compare", l.Name)
		}
		slow, _ := l.Form("slow")
		fixed, _ := l.Form("fixed")
		if !slices.Equal(l.Slow, slow.Args) || !slices.Equal(l.Fixed, fixed.Args) {
			t.Errorf("%s: Slow and Fixed are not the forms of these names", l.Name)
		}
	}
}

func TestCommand(t *testing.T) {
	f := func(name, form, want string) {
		t.Helper()
		lab, _ := labs.Named(name)
		chosen, ok := lab.Form(form)
		if got := strings.Join(lab.Command(chosen), " "); !ok || got != want {
			t.Errorf("%s, %s: %s, want %s", name, form, got, want)
		}
	}
	f("newssearch", "fixed", "loupe run -n 10000 -c 100 -load http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on loupe/labs/newssearch -fixed")
	f("mandelweb", "light", "loupe run -c 1 -q 1 -load http://localhost:8080/mandelbrot loupe/labs/mandelweb")
	f("sieve", "chain", "loupe run -rounds 5 -phases bare,cpu,trace loupe/labs/sieve -mode chain")
}

// TestDoc: the text reads as it stands in doc.go, and names every form.
func TestDoc(t *testing.T) {
	for _, l := range labs.All {
		doc, err := l.Doc()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(doc, "\n\n# What to look for\n\n") || !strings.Contains(doc, "\n\tloupe run ") || strings.Contains(doc, "//\n") {
			t.Errorf("%s: the text is not as expected:\n%s", l.Name, doc)
		}
		for _, f := range l.Forms {
			if !strings.Contains(doc, f.Name) {
				t.Errorf("%s does not say what to look for in its form %s", l.Name, f.Name)
			}
		}
	}
}

func TestNamedNone(t *testing.T) {
	if l, ok := labs.Named("none"); ok {
		t.Errorf("Named = %+v", l)
	}
	if f, ok := labs.All[0].Form("none"); ok {
		t.Errorf("Form = %+v", f)
	}
	if _, err := (labs.Lab{Name: "none"}).Doc(); err == nil {
		t.Error("a lab that does not exist has a text")
	}
	if _, err := (labs.Lab{Name: "none"}).Expect(); err == nil {
		t.Error("a lab that does not exist has expectations")
	}
}
