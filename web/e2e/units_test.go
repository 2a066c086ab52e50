package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTypeScript runs the tests that the sources of the pages have beside them.
func TestTypeScript(t *testing.T) {
	b := blank(t)
	var results []struct {
		Name  string
		Wrong []string
	}
	if err := json.Unmarshal([]byte(eval[string](b, script(t))), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) < 10 {
		t.Errorf("%d tests have run, want more", len(results))
	}
	for _, r := range results {
		t.Run(r.Name, func(t *testing.T) {
			for _, w := range r.Wrong {
				t.Error(w)
			}
		})
	}
}

// TestUnits holds what the pages print against the program's own package unit,
// over many quantities and the places where the form changes.
func TestUnits(t *testing.T) {
	cmd := exec.Command("go", "run", "./web/e2e/testdata/units.go")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	cases, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	b := blank(t)
	eval[string](b, script(t))
	wrong := eval[string](b, `JSON.stringify((`+string(cases)+`).flatMap(([form, x, want]) => {
		const got = units[form](x);
		return got === want ? [] : [form + "(" + x + ") = " + got + ", want " + want];
	}))`)
	var all []string
	if err := json.Unmarshal([]byte(wrong), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) > 0 {
		t.Errorf("%d are printed otherwise than on the command line:\n%s", len(all), strings.Join(all[:min(20, len(all))], "\n"))
	}
	t.Logf("%d quantities", strings.Count(string(cases), "],"))
}

// script is the bundle of the tests.
func script(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "run", ".", "-tests")
	cmd.Dir = "../tools"
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// blank opens a tab with nothing in it.
func blank(t *testing.T) *tab {
	t.Helper()
	b := open(t, "about:blank", 800, 600, "light")
	b.do(chromedp.Navigate("about:blank"))
	return b
}
