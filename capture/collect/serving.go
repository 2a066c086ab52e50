package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// answers is what is known of who answers the load of a plan.
type answers struct {
	awaited   bool        // the program is to listen somewhere, and has not yet
	lookout   *lookout    // nil without a load, and before the program listens
	serving   serving     // at the last look between two phases
	elsewhere atomic.Bool // other processes came to answer during a phase
}

// expect begins anew, with a program that is yet to listen or does not have to.
func (a *answers) expect(at []Endpoint) {
	a.lookout, a.serving, a.awaited = nil, serving{}, len(at) > 0
}

// mixed tells of the phase that ends whether no single process has answered that was measured.
func (a *answers) mixed() bool { return a.elsewhere.Swap(false) || !a.serving.measured() }

// serving is who answers a load.
type serving struct {
	// pids are the processes that accept the connections, in ascending order; empty where
	// nobody can tell here.
	pids []int
	// hidden says why they are not known, although it is certain that the program alone does not
	// answer; empty otherwise.
	hidden string
	// nobody tells that nothing listens.
	nobody bool
}

// alone is the only process that answers; 0 where there are several, or it is not known.
func (s serving) alone() int {
	if len(s.pids) == 1 && s.hidden == "" {
		return s.pids[0]
	}
	return 0
}

// measured tells that the figures of one process are taken for those of the requests.
func (s serving) measured() bool { return s.unknown() || s.alone() > 0 }

// same tells whether the same processes answer.
func (s serving) same(as serving) bool { return slices.Equal(s.pids, as.pids) && s.hidden == as.hidden }

// unknown tells that nothing could be seen: then the program itself is taken to answer.
func (s serving) unknown() bool { return len(s.pids) == 0 && s.hidden == "" }

// takeFiguresOf takes the figures of the process that answers, which may be another one than was started:
// those of a wrapper, a shell or the parent of several would say nothing about the requests.
// Where no single process answers they are left out.
func takeFiguresOf(r *running, s serving) {
	r.answers.serving = s
	at := r.answers.lookout.String()
	switch pid := s.alone(); {
	case s.unknown() || pid == r.proc.PID:
		r.log.decide(r.proc.PID, true)
		follows(r, r.proc.PID)
	case pid > 0:
		r.tell("%s answers on %s in another process than the one that was started (%s): CPU time and memory are those of the process that answers, and so are the collector's figures where its runtime prints them", cmp.Or(commandOf(pid), "a program"), at, r.prog.name())
		r.log.decide(pid, false)
		r.w.SetClock(runtimeClock(r.log.path, r.w.At(startOf(pid))))
		follows(r, pid)
	default:
		who := s.hidden
		if who == "" {
			who = fmt.Sprintf("several processes (%s) answer", commandsOf(s.pids))
		}
		r.tell("%s on %s: there are no CPU time, memory, profiles and figures of the collector, because no single process answers all requests that loupe could measure", who, at)
		r.log.decide(nobody, false)
		follows(r, 0)
	}
}

// follows says which process is looked at from now on: 0 for none.
func follows(r *running, pid int) {
	r.pid = pid
	r.sampler.watch(pid)
	r.proc.mu.Lock()
	r.proc.server = pid
	if pid == r.proc.PID {
		r.proc.server = 0
	}
	r.proc.mu.Unlock()
	if pid == r.proc.PID {
		if r.src != nil && r.follow == nil {
			r.startFollowing()
		}
		return
	}
	if r.follow != nil {
		r.follow.stop()
		r.follow = nil
	}
	r.src = nil // the agent is in the process that was started
}

// adopt looks who answers before a phase under load.
func adopt(r *running) error {
	if r.answers.lookout == nil || r.proc == nil || r.proc.ended() {
		return nil
	}
	s, err := r.answers.lookout.who()
	switch {
	case err != nil:
		return err
	case s.nobody:
		return fmt.Errorf("%w: %s does not listen on %s any more", ErrUnreachable, r.prog.name(), r.answers.lookout)
	case !s.same(r.answers.serving):
		takeFiguresOf(r, s)
	}
	return nil
}

// While a load runs it is looked who listens each lookEvery. Where the table of connections is
// long a look is given a hundredth of the time, but there is one each lookAtLeast.
const (
	lookEvery   = 250 * time.Millisecond
	lookAtLeast = time.Second
)

// lookPause is how long to wait after a look that took so long.
func lookPause(took time.Duration) time.Duration {
	return min(max(lookEvery, 100*took), lookAtLeast)
}

// watch looks at the endpoints until ctx ends or somebody else listens, which is the error. gap
// tells that for a time nobody did.
func (l *lookout) watch(ctx context.Context) (gap bool, err error) {
	was := ""
	for {
		began := time.Now()
		now := l.sockets()
		pause := lookPause(time.Since(began)) // of the look alone, which is what comes again and again
		if now != was {
			s, err := l.who()
			if err != nil {
				return gap, err
			}
			was, gap = now, gap || s.nobody
		}
		sleep(ctx, pause)
		if ctx.Err() != nil {
			return gap, nil
		}
	}
}

// guarded puts a load on and watches who answers it: all the time, and at the end before anything
// of it is kept. It ends at once when somebody else does.
func guarded(r *running, load Load) Load {
	if load == nil || r.answers.lookout == nil {
		return load
	}
	return func(ctx context.Context, d Demand) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		gap := false
		watch := inBackground(func(quit context.Context) (err error) {
			if gap, err = r.answers.lookout.watch(quit); err != nil {
				cancel()
			}
			return err
		})
		d.Ours = sync.OnceValue(func() error {
			err := watch.stop()
			if err == nil {
				err = answered(r, d.Phase, gap)
			}
			if err != nil {
				err = fmt.Errorf("the load of the phase %s was ended and its requests are not kept: %w", d.Phase, err)
				r.answers.elsewhere.Store(true)
				r.w.Note(err.Error()) // a report tells no more of a failed phase than that it has failed
			}
			return err
		})
		err := load(ctx, d)
		if foreign := d.Ours(); foreign != nil {
			return foreign // which is what a load returns that has asked
		}
		return err
	}
}

// answered looks at the end of a load who has answered; gap tells that for a time nobody did.
func answered(r *running, phase string, gap bool) error {
	s, err := r.answers.lookout.who()
	if err != nil || r.proc.ended() {
		return err
	}
	if gap || s.nobody {
		r.tell("%s did not listen on %s all the time in the phase %s: connections that were to be opened meanwhile failed", r.prog.name(), r.answers.lookout, phase)
	}
	if !s.nobody && !s.same(r.answers.serving) && r.answers.serving.measured() {
		r.answers.elsewhere.Store(true)
		r.tell("in the phase %s other processes came to answer on %s: it has no CPU time, memory and figures of the collector", phase, r.answers.lookout)
	}
	return nil
}

// reached says of a load on a process that was found running who answers it, where that is not the
// process itself: a proxy in front of it is no mistake, and has its part in the figures.
func reached(r *running, at []Endpoint) {
	if r.pid == 0 || len(at) == 0 {
		return
	}
	l := newLookout(at, withNumber(r.pid), r.pid, "")
	s, err := l.who()
	f, foreign := errors.AsType[foreigner](err)
	switch {
	case foreign:
		r.tell("%s accepts the connections of the load on %s, and not %s, which is recorded: the times of the requests are not, or not only, those of the process", f.who(), l, withNumber(r.pid))
	case s.hidden != "":
		r.tell("%s the load on %s: the times of the requests may not be those of %s, which is recorded", s.hidden, l, withNumber(r.pid))
	case !s.unknown() && s.alone() != r.pid:
		r.tell("%s answers the load on %s besides %s, which is recorded, or instead of it: CPU time and memory are not those of the requests", commandsOf(s.pids), l, withNumber(r.pid))
	}
}

// commandsOf names processes for people: "srv, srv and 3 more".
func commandsOf(pids []int) string {
	const most = 3
	var names []string
	for _, pid := range pids[:min(most, len(pids))] {
		names = append(names, commandOf(pid))
	}
	text := strings.Join(names, ", ")
	if more := len(pids) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// withNumbers names processes with their numbers: "process 4711 (srv)".
func withNumbers(pids []int) string {
	var names []string
	for _, pid := range pids {
		names = append(names, withNumber(pid))
	}
	return strings.Join(names, " and ")
}

// withNumber is the number of a process, with its name where that is known.
func withNumber(pid int) string {
	if name := commandOf(pid); name != "" {
		return fmt.Sprintf("process %d (%s)", pid, name)
	}
	return fmt.Sprintf("process %d", pid)
}
