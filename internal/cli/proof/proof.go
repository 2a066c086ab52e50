// Package proof is the family of commands that tell by measuring again whether something has
// changed: benchmarks, a finding that is said to be fixed, and all that CI holds to limits.
package proof

import (
	"loupe/internal/cli/bench"
	"loupe/internal/cli/check"
	"loupe/internal/cli/command"
	"loupe/internal/cli/prove"
)

// Commands are loupe bench, loupe prove and loupe check, in the order of the overview.
var Commands = []*command.Command{bench.Command, prove.Command, check.Command}
