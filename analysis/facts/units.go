package facts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/analysis/account"
	"loupe/analysis/sched"
	"loupe/format/exectrace/sweep"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// Units is where the time of what the program works on goes: of served requests, else
// of user tasks, and so on. Its rows are those of the trace's stacks.
type Units struct {
	*account.Account
	// Judged are the groups that say most of the program, without what hands out
	// profiles, and without what only the program itself asks: whoever asks waits for it. Of a tool that does
	// more than they take, main is one of them; the heaviest is first then.
	Judged []*account.Group
	// Workers are the goroutines of the functions, each with several, that do the work of a tool whose main waits for them.
	Workers []*account.Group
	// Err is why there is nothing.
	Err error
}

// units reads the execution trace for what is in a part of the axis, when that is not
// empty.
func units(s *session.Session, t *Trace, part timeline.Span, stop func() bool) *Units {
	if t.Err != nil {
		return &Units{Err: t.Err}
	}
	u := &Units{}
	var during *sched.Filter
	if part.Len() > 0 {
		during = sched.During(timeline.Span{Start: timeline.Time(t.Clock.Own(part.Start)), End: timeline.Time(t.Clock.Own(part.End))})
	}
	if u.Account, u.Err = AccountIn(s, during, stop); u.Err != nil {
		return u
	}
	for _, g := range u.Groups {
		hidden := (g.Unit == account.Job || g.Unit == account.Exchange) && EndsByItself(s) || g.Asked || isProfiling(g.Name) || g.Name == "" && g.Unit == account.Request && len(g.All.Rows) == 0
		if !hidden && (len(u.Judged) == 0 || g.Unit == u.Judged[0].Unit) {
			u.Judged = append(u.Judged, g)
		}
	}
	if EndsByItself(s) {
		u.judgeMain()
		u.findWorkers()
	}
	return u
}

// crew is how many goroutines of a kind do the work of a tool, at least, for which main waits.
const crew = 2

// findWorkers finds those whom main waits for in most of its time: what holds up one of them is what holds up the
// program then.
func (u *Units) findWorkers() {
	if !slices.ContainsFunc(u.Judged, func(g *account.Group) bool { return g.Unit == account.Main && mostly(g, forOthers) }) {
		return
	}
	for _, g := range u.Groups {
		if g.Unit == account.Worker && g.Wall.Count >= crew && !mostly(g, fromOthers) {
			u.Workers = append(u.Workers, g)
		}
	}
}

// forOthers are the kinds of waits of main for other goroutines, once for all of them or again and again; fromOthers those for what
// others send, as a stand-in for a service and who prints figures wait.
var (
	forOthers  = []account.Kind{account.WaitGroup, account.Channel, account.Cond}
	fromOthers = []account.Kind{account.Accept, account.Idle, account.Client}
)

// mostly tells of a group that most of its time is of some kinds.
func mostly(g *account.Group, kinds []account.Kind) bool {
	sum := time.Duration(0)
	for _, k := range kinds {
		sum += g.All.Of(k)
	}
	return float64(sum) >= beside*float64(g.All.Wall)
}

// beside is the part of the time of main up to which what a tool serves or marks beside its work says little of
// it. Chosen: with more, most of main is that.
const beside = 0.5

// onlyServes tells of main that it does no more, in most of its time, than accept connections, or wait once, for an
// instant or for the end of something: then what it serves is the program's work.
func onlyServes(main *account.Group) bool {
	waits := time.Duration(0)
	for i := range main.All.Rows {
		switch row := &main.All.Rows[i]; row.Kind {
		case account.Accept:
			waits += row.Time
		case account.Sleep, account.Timer, account.Channel, account.Other:
			if row.Count <= 1 {
				waits += row.Time
			}
		}
	}
	return float64(waits) >= beside*float64(main.All.Wall)
}

// judgeMain adds main, whose end the user of a tool waits for, where the units that would be judged take only a part
// of its time: the requests of a stand-in for another service, of a callback or of a page of metrics.
func (u *Units) judgeMain() {
	main := slices.IndexFunc(u.Groups, func(g *account.Group) bool { return g.Unit == account.Main })
	if main < 0 || len(u.Judged) == 0 || u.Judged[0].Unit > account.Task {
		return
	}
	all := time.Duration(0)
	for _, g := range u.Judged {
		all += g.Seen.Sum
	}
	if m := u.Groups[main]; float64(all) < beside*float64(m.Seen.Sum) && !onlyServes(m) {
		u.Judged = append(u.Judged, m)
		slices.SortStableFunc(u.Judged, func(a, b *account.Group) int { return cmp.Compare(b.Seen.Sum, a.Seen.Sum) })
	}
}

// EndsByItself tells whether the program works by itself and comes to its end: then what
// its user waits for is main, and not a turn of one of its loops.
func EndsByItself(s *session.Session) bool {
	m := s.Manifest()
	return len(m.Of(recording.Load)) == 0 && slices.ContainsFunc(m.Target.Runs, func(r recording.Run) bool { return r.Exit != "" && !r.Stopped })
}

// AccountIn is the account of what a filter leaves of the trace of a recording, of all of it
// when the filter is nil. It is [sweep.ErrStopped] when stop, unless it is nil, has said so.
func AccountIn(s *session.Session, filter *sched.Filter, stop func() bool) (*account.Account, error) {
	if filter == nil {
		return wholeAccount(s)
	}
	return readAccount(s, account.Options{Filter: filter}, stop)
}

// AccountWith is the account of a recording's trace in which one unit is told step by
// step, see [account.Account.One].
func AccountWith(s *session.Session, id int64, stop func() bool) (*account.Account, error) {
	return readAccount(s, account.Options{ID: id}, stop)
}

// readAccount reads the trace once more.
func readAccount(s *session.Session, o account.Options, stop func() bool) (*account.Account, error) {
	trace, _, err := s.Trace()
	if err != nil {
		return nil, err
	}
	o.Scope, o.Serves = s.Scope(), Serves(s)
	return account.Of(trace, o, stop)
}

// wholeAccount is the account of a whole trace.
func wholeAccount(s *session.Session) (*account.Account, error) {
	desk, err := s.Sweep()
	if err != nil {
		return nil, err
	}
	return sweep.Get(s.Context(), desk, nil, account.Whole(s.Scope(), Serves(s)), Wants(s)...)
}

// isProfiling tells whether a handler hands out profiles, or is of who records.
func isProfiling(name string) bool {
	return slices.Contains([]string{"net/http/pprof", "runtime/pprof", "runtime/trace", "expvar"}, stack.Package(name)) || strings.HasPrefix(name, "main.loupeAgent")
}

// What rules say about units is in these words.
type (
	// UnitGroup is all units of one kind and name.
	UnitGroup = *account.Group
	// UnitRow is a part of their time.
	UnitRow = account.Row
	// UnitCause is what another goroutine does meanwhile that ends a wait.
	UnitCause = account.Cause
	// UnitSite is a line of code.
	UnitSite = account.Site
	// UnitKind is what time passes with.
	UnitKind = account.Kind
	// UnitGate is where they wait for others that have a slot.
	UnitGate = account.Gate
	// UnitCall is a call of something outside of the program that they make.
	UnitCall = account.Call
	// UnitStatement is the part that a call has in a query with a statement.
	UnitStatement = account.Statement
	// UnitStampede is calls that several of them make at once.
	UnitStampede = account.Stampede
	// UnitTries are connections that fail again and again.
	UnitTries = account.Tries
	// UnitPeers are the connections of clients.
	UnitPeers = account.Peers
	// UnitFan is goroutines that they start and wait for.
	UnitFan = account.Fan
)

// The parts of a query for which package database/sql makes a statement of its own, and of one that the program prepares.
const (
	NoStatement      = account.NoStatement
	PreparesToQuery  = account.Prepares
	RunsStatement    = account.Runs
	ClosesAfterQuery = account.Closes
	ProgramPrepares  = account.UserPrepares
	ProgramRuns      = account.UserRuns
	ProgramCloses    = account.UserCloses
)

// StatementOf tells by a stack, the leaf first, which part of such a query it is in.
func StatementOf(frames []stack.Frame) UnitStatement { return account.StatementOf(frames) }
