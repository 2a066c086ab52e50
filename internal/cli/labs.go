package cli

import (
	"fmt"
	"strings"

	"loupe/labs"
	"loupe/report"
)

var labsCommand = &command{
	name:    "labs",
	short:   "list the sample workloads and how to run them",
	args:    "[-json] [NAME]",
	example: []string{"loupe labs", "loupe labs newssearch"},
	setup: func(fs *flagSet) func(*env, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(e *env, args []string) error {
			list := labs.All
			if len(args) > 0 {
				name, err := oneArg(args, "the lab")
				if err != nil {
					return err
				}
				lab, ok := labs.Named(name)
				if !ok {
					return usagef("unknown lab %q (loupe labs lists them)", name)
				}
				list = []labs.Lab{lab}
			}
			return listLabs(e, list, *asJSON)
		}
	},
}

func listLabs(e *env, list []labs.Lab, asJSON bool) error {
	if asJSON {
		type expectation struct {
			Form string `json:"form"`
			Rule string `json:"rule"`
			Must bool   `json:"must"`
		}
		type row struct {
			Name    string        `json:"name"`
			Title   string        `json:"title"`
			Package string        `json:"package"`
			Expect  []expectation `json:"expect"`
		}
		var rows []row
		for _, l := range list {
			expect, err := l.Expect()
			if err != nil {
				return err
			}
			r := row{Name: l.Name, Title: l.Title, Package: l.Package()}
			for _, x := range expect {
				r.Expect = append(r.Expect, expectation(x))
			}
			rows = append(rows, r)
		}
		return report.WriteJSON(e.stdout, map[string]any{"schema": "loupe.labs/1", "labs": rows})
	}
	for _, l := range list {
		fmt.Fprintf(e.stdout, "%s: %s\n", l.Name, l.Title)
		expect, err := l.Expect()
		if err != nil {
			return err
		}
		var finds []string
		for _, x := range expect {
			if x.Must {
				finds = append(finds, x.Rule+" in the "+x.Form+" form")
			}
		}
		fmt.Fprintf(e.stdout, "  finds %s\n", strings.Join(finds, ", "))
		for _, form := range [][]string{l.Slow, l.Fixed} {
			line := "  loupe run"
			if l.URL != "" {
				line += " -n 10000 -c 100 -load '" + l.URL + "'"
			}
			fmt.Fprintln(e.stdout, strings.TrimRight(line+" "+l.Package()+" "+strings.Join(form, " "), " "))
		}
	}
	return nil
}
