package tuning_test

import (
	"bytes"
	"strings"
	"testing"

	"loupe/internal/cli/command"
	"loupe/internal/cli/tuning"
)

// TestNothingChecked: where nothing is advised, there was one run alone, and the answer says that
// nothing was checked; where something is, it is checked by other runs, and it does not.
func TestNothingChecked(t *testing.T) {
	for limit, refused := range map[int64]bool{6 << 20: true, 4 << 30: false} {
		tune, err := tuning.New("../../../labs/rules/testdata/GC14.fixed.zip", limit)
		if err != nil {
			t.Fatal(err)
		}
		var text, json bytes.Buffer
		for out, asJSON := range map[*bytes.Buffer]bool{&text: false, &json: true} {
			if err := tune.Write(&command.Env{Stdout: out}, asJSON); err != nil {
				t.Fatal(err)
			}
		}
		if tune.Refused() != refused {
			t.Errorf("%d: refused is %v: %s", limit, tune.Refused(), text.String())
		}
		if got := strings.Contains(strings.Join(strings.Fields(text.String()), " "), "nothing was checked: the program ran once, as it is"); got != refused {
			t.Errorf("%d: %s", limit, text.String())
		}
		if got := strings.Contains(json.String(), `"nothing-checked"`); got != refused {
			t.Errorf("%d: %s", limit, json.String())
		}
	}
}
