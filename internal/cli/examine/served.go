package examine

import (
	"fmt"
	"math"

	"loupe/internal/cli/command"
	"loupe/value/unit"
)

// Served is how many requests a service answered, and in how many collections.
type Served struct {
	Title       string
	Requests    int
	Collections float64
}

// PrintServed says how many requests each collection served: what less allocation raises.
func PrintServed(e *command.Env, all []Served) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(e.Stdout, "  Requests for each collection (if each log is of its load and nothing else)")
	for _, s := range all {
		per := "–"
		if s.Collections > 0 {
			per = unit.Count(int64(math.Round(float64(s.Requests) / s.Collections)))
		}
		fmt.Fprintf(e.Stdout, "    %s: %s, %s requests in %s collections\n", s.Title, per, unit.Count(int64(s.Requests)), unit.Count(int64(s.Collections)))
	}
}
