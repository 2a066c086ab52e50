package compare

import (
	"cmp"
	"errors"
	"fmt"

	"loupe/analysis/compare"
	"loupe/internal/cli/command"
	"loupe/internal/cli/examine"
)

// loadsAndLogs splits sides that each have load runs and runtime logs of the same
// programs, and nothing else.
func loadsAndLogs(sides []compared) (loads, logs []compared, ok bool) {
	for _, s := range sides {
		load, log := compared{name: s.name}, compared{name: s.name}
		for _, in := range s.inputs {
			switch alike(in) {
			case "load runs":
				load.inputs = append(load.inputs, in)
			case "log":
				log.inputs = append(log.inputs, in)
			default:
				return nil, nil, false
			}
		}
		if len(load.inputs) == 1 {
			load.name = load.inputs[0].Name
		}
		if len(load.inputs) == 0 || len(log.inputs) == 0 {
			return nil, nil, false
		}
		loads, logs = append(loads, load), append(logs, log)
	}
	return loads, logs, true
}

// besides compares what the load tool has seen, and below it what the runtime has told
// meanwhile, with the requests that each collection served.
func besides(e *command.Env, loads, logs []compared, format string) error {
	if format != "text" {
		return command.Usagef("-format: load runs with runtime logs are compared as text alone")
	}
	sides, took, err := loadSides(e, loads)
	if err != nil {
		return err
	}
	worse := examine.PrintLoads(e, compare.Loads(sides, took), format)
	if worse != nil && !errors.Is(worse, command.ErrFound) {
		return worse
	}
	var subjects []examine.Subject
	for _, s := range logs {
		subjects = append(subjects, s.inputs)
	}
	fmt.Fprintln(e.Stdout)
	table, err := compareAll(e, subjects, format)
	if err != nil && !errors.Is(err, command.ErrFound) {
		return err
	}
	worse = cmp.Or(worse, err)
	row, ok := table.Row("collections")
	if !ok {
		return worse
	}
	var served []examine.Served
	for i, side := range sides {
		one := examine.Served{Title: side.Title, Collections: float64(row.Cells[i].Median)}
		for _, run := range side.Runs {
			one.Requests += run.Responses
		}
		if len(side.Runs) == 1 && len(logs[i].inputs) == 1 {
			served = append(served, one)
		}
	}
	examine.PrintServed(e, served)
	return worse
}
