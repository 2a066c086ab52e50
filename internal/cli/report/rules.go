package report

import (
	"fmt"
	"io"
	"strings"

	"loupe/insight"
	"loupe/internal/cli/command"
	"loupe/report"
)

// Rules is loupe rules.
var Rules = &command.Command{
	Name:    "rules",
	Short:   "the rule catalogue: what loupe looks for, and the thresholds",
	Args:    "[-json] [RULE…]",
	Example: []string{"loupe rules", "loupe rules AL09"},
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(e *command.Env, args []string) error {
			rules := insight.Rules()
			if len(args) > 0 {
				var err error
				if rules, err = rulesNamed(args); err != nil {
					return err
				}
			}
			if *asJSON {
				return report.WriteJSON(e.Stdout, map[string]any{"schema": "loupe.rules/2", "rules": rules})
			}
			return command.Buffered(e.Stdout, func(w io.Writer) error {
				for i, r := range rules {
					switch {
					case len(args) == 0:
						fmt.Fprintf(w, "%s  %s\n", r.ID, r.Title)
						continue
					case i > 0:
						fmt.Fprintln(w)
					}
					if err := report.WriteRule(w, r, e.Style()); err != nil {
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
			return nil, command.Usagef("unknown rule %q (loupe rules lists them)", id)
		}
	}
	return out, nil
}
