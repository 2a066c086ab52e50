package query

import (
	"loupe/internal/cli/command"
)

// pgo writes the compiler's profile of a service, by what it did in the last week.
func (q *query) pgo() error {
	ask, err := q.one()
	if err != nil {
		return err
	}
	switch {
	case ask.Labels == "":
		return command.Usagef("pgo: name a service; a profile of several programs fits none of them")
	case ask.Type != "" && ask.Type != "cpu":
		return command.Usagef("pgo: the compiler only reads CPU profiles, not -type %s", ask.Type)
	}
	if ask.From == "" {
		ask.From = "now-7d"
	}
	file, err := q.merged(ask)
	if err != nil {
		return err
	}
	to := q.out
	if to == "" {
		to = "default.pgo"
	}
	args := []string{"pgo", "merge", "-o", to}
	if q.replace {
		args = append(args, "-replace")
	}
	return command.Exit(q.e.Call(append(args, file)))
}
