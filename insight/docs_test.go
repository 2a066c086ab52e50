package insight

import (
	"os"
	"strings"
	"testing"
)

// TestDocs checks that every rule has its page, and that the page has its
// title and each of its parameters.
func TestDocs(t *testing.T) {
	index, err := os.ReadFile("../docs/rules/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules() {
		text, err := os.ReadFile("../docs/rules/" + r.ID + ".md")
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(text)
		if !strings.HasPrefix(page, "# "+r.ID+" "+r.Title+"\n") {
			t.Errorf("the page of %s does not begin with its title %q", r.ID, r.Title)
		}
		for _, p := range r.Params {
			if !strings.Contains(page, "| "+p.Name+" |") {
				t.Errorf("the page of %s does not have parameter %s", r.ID, p.Name)
			}
		}
		if !strings.Contains(string(index), "| ["+r.ID+"]("+r.ID+".md) | "+r.Title+" |") {
			t.Errorf("docs/rules/README.md does not list %s", r.ID)
		}
	}
}
