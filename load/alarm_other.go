//go:build !linux

package load

import (
	"context"
	"time"
)

// alarm wakes a goroutine at an instant; the runtime's timers are exact here.
type alarm struct{}

func newAlarm() *alarm { return &alarm{} }

// wait returns at the instant, or false when ctx ends before.
func (*alarm) wait(ctx context.Context, at time.Time) bool { return sleep(ctx, time.Until(at)) }

func (*alarm) close() {}
