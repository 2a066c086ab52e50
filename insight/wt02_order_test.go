package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// TestWT02Order: unless each call of a loop only reads by its name or by what it sends, that the peer need not get them in order is a
// condition, and comes first.
func TestWT02Order(t *testing.T) {
	const text = `package main

import "net/http"

func (a *arm) handle(ids []string, b *budget) {
	for _, id := range ids {
		if b.empty() {
			break
		}
		x, err := a.Do(id) // 1
		if err != nil {
			return
		}
		b.spend(x)
	}
}

type arm struct{ hc *http.Client }
type budget struct{ left int }

func (b *budget) spend(x string) { b.left -= len(x) }
func (b *budget) empty() bool    { return b.left <= 0 }

func (a *arm) Do(id string) (string, error) {
	resp, err := a.hc.Get(id) // asks
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	return resp.Status, nil
}
`
	const end = "\t\tif b.empty() {\n\t\t\tbreak\n\t\t}\n"
	const first, usedUp = "ends at the first accepted answer", "the loop ends by b.empty() (line 7), which the answers may change"
	for _, c := range []struct {
		name                string
		replaced            []string
		advice, doubts, not string
	}{
		{"a command by GET", []string{end, ""}, "If the peer need not get these calls in order, and no later one needs an effect of an earlier one (by its name, Do does something at the peer: a.hc.Get is called at main.go:", "", first},
		{"a look-up", []string{end, "", "Do(", "GetName("}, "Ask for all at once: one query", "", first},
		{"by what it sends", []string{end, "", "Do(", "name("}, "Ask for all at once: one query", "", first},
		{"a budget that answers use up", []string{"Do(", "GetName("}, "If more calls may be made than the loop makes now, ask for all at once", usedUp, first},
		{"the first one that suits", []string{end, "", "b.spend(x)", "if x == id {\n\t\t\tbreak\n\t\t}", "Do(", "GetName("}, "sk for all at once", first, usedUp},
	} {
		text := strings.NewReplacer(c.replaced...).Replace(text)
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, markedFrame("main.(*arm).Do", text, " // asks\n"), markedFrame("main.(*arm).handle", text, " // 1\n"))
			}
		})
		withSource(r, "main.go", text)
		f := answers(t, r, "WT02")[0]
		doubts := strings.Join(f.Doubts, "\n")
		if f.State != Found || !strings.Contains(f.Advice, c.advice) || !strings.Contains(doubts, c.doubts) || c.not != "" && strings.Contains(doubts, c.not) {
			t.Errorf("%s: %s %s: %s\n%s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice, doubts)
		}
	}
}
