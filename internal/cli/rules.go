package cli

import (
	"fmt"
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
			for _, r := range rules {
				fmt.Fprintf(e.stdout, "%s  %s\n", r.ID, r.Title)
				if len(args) > 0 {
					describeRule(e, r)
				}
			}
			return nil
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

func describeRule(e *env, r *insight.Rule) {
	fmt.Fprintf(e.stdout, "\n%s\n\nNeeds: %v", r.About, r.Needs)
	if len(r.Instead) > 0 {
		fmt.Fprintf(e.stdout, ", or one of %v", r.Instead)
	}
	fmt.Fprintln(e.stdout)
	for _, p := range r.Params {
		fmt.Fprintf(e.stdout, "  %-18s %g %s  (%s)\n", p.Name, p.Value, p.Unit, p.Source)
	}
}
