//go:build !linux

package load

import (
	"context"
	"time"
)

// alarm wakes a goroutine at an instant; the runtime's timers are exact here.
type alarm struct{ ctx context.Context }

// newAlarm returns an alarm that no longer waits when ctx has ended.
func newAlarm(ctx context.Context) *alarm { return &alarm{ctx} }

// wait returns at the instant, or false when the alarm's context ends before.
func (a *alarm) wait(at time.Time) bool { return sleep(a.ctx, time.Until(at)) }

func (*alarm) close() {}
