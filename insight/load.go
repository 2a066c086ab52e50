package insight

import (
	"loupe/compare"
)

// Slow returns what the slowest requests met, phase by phase.
func (in *Input) Slow() []compare.Slow { return in.slow() }
