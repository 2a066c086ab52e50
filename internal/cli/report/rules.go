package cli

import (
	"fmt"
	"io"
	"strings"

	"loupe/insight"
	"loupe/report"
)

var rulesCommand = &command{
	name:    "rules",
	short:   "the catalogue: what loupe looks for, and from which thresholds",
	args:    "[-json] [RULE…]",
	example: []string{"loupe rules", "loupe rules AL09"},
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(e *env, args []string) error {
			rules := insight.Rules()
			if len(args) > 0 {
				var err error
				if rules, err = rulesNamed(args); err != nil {
					return err
				}
			}
			if *asJSON {
				return report.WriteJSON(e.stdout, map[string]any{"schema": "loupe.rules/1", "rules": rules})
			}
			return buffered(e.stdout, func(w io.Writer) error {
				for i, r := range rules {
					switch {
					case len(args) == 0:
						fmt.Fprintf(w, "%s  %s\n", r.ID, r.Title)
						continue
					case i > 0:
						fmt.Fprintln(w)
					}
					if err := report.WriteRule(w, r, e.style()); err != nil {
						return err
					}
				}
				return nil
			})
		}
	},
}

func rulesNamed(ids []string) ([]*insight.Rule, error) {
	var out []*insight.Rule
	for _, id := range ids {
		found := false
		for _, r := range insight.Rules() {
			if strings.EqualFold(r.ID, id) {
				out, found = append(out, r), true
			}
		}
		if !found {
			return nil, usagef("unknown rule %q (loupe rules lists them)", id)
		}
	}
	return out, nil
}
