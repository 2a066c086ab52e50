package load

import (
	"context"
	"time"

	"loupe/stats"
)

func (r *run) watch(ctx context.Context) (stop func())  { return func() {} }
func (r *run) warmUp(ctx context.Context) time.Duration { return 0 }

// Snapshot is the state of a run while it goes on.
type Snapshot struct {
	Latency stats.Histogram
}
