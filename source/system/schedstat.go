package system

import "time"

// SchedStat is what the kernel's scheduler knows of a thread: for how long it ran, and for
// how long it could have run and had no CPU.
type SchedStat struct{ Ran, Waited time.Duration }
