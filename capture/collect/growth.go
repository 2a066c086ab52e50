package collect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"loupe/capture/live"
	"loupe/recording"
)

// growthLooks is how often the heap and the goroutines are looked at in the
// growth phase: with fewer than ten values a trend has to be perfect to be shown
// at p < 0.01 (Mann and Kendall).
const growthLooks = 10

// growthKinds are what is looked at. The goroutines come first: the collection
// that goes before a heap profile takes longer.
var growthKinds = []string{"goroutine", "heap"}

// growth looks at the heap and the goroutines at equal distances over the phase,
// under load if there is one: what grows shows in the differences.
func (r *Recorder) growth(ctx context.Context, p Phase, plan Plan) error {
	r.opt.Progress("phase %s: %v", p.Name, p.For)
	phase, end := r.begin(p, plan)
	ctx, cancel := r.whileRunning(ctx)
	defer cancel()
	var load *background
	if plan.Load != nil {
		load = inBackground(func(ctx context.Context) error {
			return plan.Load(ctx, Demand{Phase: phase.Name, Run: r.run, UntilCancelled: true})
		})
	}
	err := r.looks(ctx, p, *phase)
	if load != nil {
		err = errors.Join(err, load.stop())
	}
	return errors.Join(err, end(err))
}

func (r *running) looks(ctx context.Context, p Phase, phase recording.Phase) error {
	kinds := r.growthKinds()
	began := time.Now()
	for n := range growthLooks {
		if n > 0 {
			sleep(ctx, time.Until(began.Add(p.For*time.Duration(n)/(growthLooks-1))))
		}
		for _, name := range kinds {
			if ctx.Err() != nil {
				return nil // what there is counts
			}
			err := r.snapshot(ctx, name, fmt.Sprintf("growth/%s-%02d.pb.gz", name, n+1), phase.Name)
			if n > 0 && r.gone(err) {
				r.tell("the program ended in the phase growth, after %d of %d looks", n, growthLooks)
				return nil // what there is counts
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// gone tells of a look that failed that there is no program any more.
func (r *running) gone(err error) bool {
	if err == nil {
		return false
	}
	if k, ok := r.src.(kernelSource); ok {
		return !ProcessExists(k.pid)
	}
	return errors.Is(err, errNoAgent) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// growthKinds are those that can be had: from outside, of a program that keeps no heap profile,
// the goroutines alone.
func (r *running) growthKinds() []string {
	k, ok := r.src.(kernelSource)
	if !ok {
		return growthKinds
	}
	p, err := live.Open(k.pid)
	if err != nil {
		return growthKinds // the first look says why
	}
	defer p.Close()
	if _, err := p.HeapProfile(); err != nil {
		r.tell("no heap profiles in the phase growth: %v", err)
		return growthKinds[:1]
	}
	return growthKinds
}

// snapshot takes a profile that is always there.
func (r *running) snapshot(ctx context.Context, name, path, phase string) error {
	entry, err := r.w.Create(recording.Entry{
		Path: path, Kind: phaseKinds[name].kind, Phase: phase, Run: max(r.run, 0), Source: r.src.String(),
	})
	if err != nil {
		return err
	}
	if err := r.src.capture(ctx, name, 0, entry); err != nil {
		return abort(entry, err)
	}
	return entry.Close()
}
