package main

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"
)

// disturb keeps the machine busy until ctx ends, as neighbours would: three programs that
// come and go, each busy for two seconds on average and away for four.
func disturb(ctx context.Context) (stopped func()) {
	self, err := os.Executable()
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for ctx.Err() == nil {
				wait(ctx, time.Duration(rand.ExpFloat64()*float64(4*time.Second)))
				length := time.Duration(rand.ExpFloat64() * float64(2*time.Second))
				exec.CommandContext(ctx, self, "-burn", length.String()).Run() // an error leaves out a disturbance
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

func wait(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}

// burn is busy for so long: counting, and now and then in memory that no cache holds.
func burn(length time.Duration) {
	block := make([]uint64, 4<<20)
	for start, at := time.Now(), uint64(1); time.Since(start) < length; {
		for range 1 << 16 {
			at = at*6364136223846793005 + 1442695040888963407
			if at>>60 == 0 {
				block[at>>42] += at
			}
		}
	}
}
