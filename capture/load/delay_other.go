//go:build !linux

package load

import "time"

// runDelay is not known here.
type runDelay struct{}

// schedStat is what the scheduler knows of a thread.
type schedStat struct{ ran, waited time.Duration }

func takeRunDelay() runDelay { return runDelay{} }

func threadDelay() (s schedStat, ok bool) { return schedStat{}, false }

func (runDelay) since(runDelay) (waited time.Duration, ok bool) { return 0, false }
