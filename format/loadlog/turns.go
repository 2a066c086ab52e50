package loadlog

import (
	"slices"
	"time"
)

// TookTurns tells of sides of several runs each, by when these began, whether the
// runs of all sides lie among those of the first. Each side has one at least.
func TookTurns(when [][]time.Time) bool {
	first, last := slices.MinFunc(when[0], time.Time.Compare), slices.MaxFunc(when[0], time.Time.Compare)
	for _, starts := range when[1:] {
		if !slices.MinFunc(starts, time.Time.Compare).Before(last) || !first.Before(slices.MaxFunc(starts, time.Time.Compare)) {
			return false
		}
	}
	return true
}
