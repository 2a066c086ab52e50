package check

import "loupe/internal/cli/prove"

// Prove is loupe prove: what a check asks of every figure, asked of one finding.
var Prove = prove.Command
