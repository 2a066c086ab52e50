package insight

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/value/stack"
)

// What to do about a lock, for all findings that speak of it: what one of them says, the others say, too.

// mostSigns is how many things that are done under a lock are named.
const mostSigns = 4

// sort orders what is seen under the lock by its lines, and leaves out what counts least where there is too much.
func (p *lockPurpose) sort() {
	slices.SortStableFunc(p.signs, func(a, b lockSign) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.at.file, b.at.file), a.at.line-b.at.line)
	})
}

// named are the signs that are told: first what the rest of the program uses, each in the order of their lines.
func (p *lockPurpose) named() (all []string) {
	signs := toldSigns(p)
	slices.SortStableFunc(signs, func(a, b toldSign) int {
		return cmp.Or(min(a.rank, 1)-min(b.rank, 1), strings.Compare(a.first.file, b.first.file), a.first.line-b.first.line)
	})
	for _, s := range signs {
		all = append(all, s.says(p))
	}
	return all
}

// changes tells that something is done under the lock that it may keep together or in an order.
func (p *lockPurpose) changes() bool {
	return slices.ContainsFunc(p.signs, func(s lockSign) bool { return s.rank != signHidden })
}

// lead says what the lock may be there for.
func (p *lockPurpose) lead() string {
	switch {
	case p.unseen && len(p.signs) == 0:
		return "Find out first what the lock is there for: the sources do not show it. "
	case p.reads && p.changes():
		return "Find out first what the lock is there for: while it is held for reading, nobody changes what is read, and " + andList(p.named()) + ". "
	case p.reads:
		return "Find out first what the lock is there for: while it is held for reading, nobody changes what is read here. "
	case len(p.signs) > 0:
		return "Find out first what the lock is there for: under it, " + andList(p.named()) + ". "
	}
	return "Find out first what the lock is there for: under it, what is shared is read, and nothing is seen to change. "
}

// lockDoing is what the holder of a lock does, in the words of advice.
type lockDoing struct{ do, only string }

// What a holder does.
var (
	doingCall  = lockDoing{"make the call", "the call"}
	doingPause = lockDoing{"pause", "the pause"}
	doingWait  = lockDoing{"wait", "the wait"}
	doingWork  = lockDoing{"do the work", "the work"}
)

// doingOf is what a holder does by its kind.
func doingOf(k facts.UnitKind) lockDoing {
	switch {
	case k.Key() == "running":
		return doingWork
	case onlyTime(k):
		return doingPause
	case amongGoroutines(k):
		return doingWait
	}
	return doingCall
}

// advice is what to do about the lock: without a condition only what the source proves.
func (p *lockPurpose) advice(of lockDoing) string {
	if p.proven() && !p.reads {
		if len(p.others) > 0 {
			return adviceOfKept(p) + givenByCaller(p.u).beside()
		}
		if of == doingWork {
			return "Do the work without the lock: look up, unlock, do it, lock again and store. If several want the same thing, let the first one do it and the others wait only for that (golang.org/x/sync/singleflight, or a channel in the entry)."
		}
		return heldAdvice + givenByCaller(p.u).beside()
	}
	limits := " If the lock is there to let one call be made at a time, as a peer may ask for, let in as many as the peer can bear instead (a semaphore)" + leftOut(p.ofKey, ", or have a lock for each peer or key") + "."
	if !p.unseen && !p.reads && len(p.signs) == 0 && len(p.state) == 0 {
		return fmt.Sprintf("%s without the lock: nothing under it is shared, as far as the sources show.", strings.ToUpper(of.do[:1])+of.do[1:]) + limits
	}
	if place, at := countsAlone(p); place != "" {
		return fmt.Sprintf("%s without the lock: by the source, only %s needs it, which is counted on at %s and not asked for under the lock. Unlock behind that line, or count with sync/atomic.", strings.ToUpper(of.do[:1])+of.do[1:], place, at.text()) + limits
	}
	only := fmt.Sprintf("If only what is in memory needs it, and %s does not decide about that: copy what is needed under the lock, unlock, %s, and take it again only to store what came of it. ", of.only, of.do)
	if p.lookedUp != "" {
		only = fmt.Sprintf("If %s only reads, and all of it may be done several times: look %s up, unlock, fetch, lock again and store; let the first of several that want the same thing fetch it (golang.org/x/sync/singleflight). ", of.only, p.lookedUp)
	}
	if of == doingWork {
		return p.lead() + only + "If it keeps these together or in an order, make the work cheaper, " + leftOut(p.ofKey, "have a lock for each key or part, ") + "or let one goroutine do it for what the others put in a queue."
	}
	return p.lead() + only + fmt.Sprintf("If it keeps these together or in an order, do not %s without it: %slet one goroutine do it for what the others put in a queue, or make fewer or larger calls (a batch).", of.do, leftOut(p.ofKey, "have a lock for each key, "))
}

// heldAcrossCall is what is known of a lock and of what its holder does.
type heldAcrossCall struct {
	at           stack.Frame   // where it is taken
	waiter, work []stack.Frame // the stacks of one that waits, and of what the holder does
	kind         facts.UnitKind
	syncs        bool
	background   bool
}

// lockTold is what to do about a lock, for whichever finding.
type lockTold struct {
	advice string
	p      *protected // what the source proves that it keeps; nil for nothing
	doubts []string
	sync   bool
	// commits tells that the advice is to commit for several at once.
	commits bool
}

// tellLock says what to do about a lock. Where the account of units has seen what its holder waits for, that is what all findings go by.
func tellLock(in *Input, h heldAcrossCall) (told lockTold) {
	t := in.trace()
	if l := underLockAt(in, h.at); l != nil && 2*l.time >= l.all() {
		h = l.across(in, t)
	}
	if h.kind.Key() == "running" {
		if told.advice = workAdvice(in, h.at); told.advice == "" {
			told.advice = purposeOf(in.code, h.waiter, h.work).advice(doingWork)
		}
		return told
	}
	told.p = protectedBy(in.code, h.waiter, h.work, callsOutside(in)...)
	why := purposeOf(in.code, h.waiter, h.work)
	advice := why.advice(doingOf(h.kind))
	alone := commitsAlone(in.code, h.work)
	switch {
	case alone != nil && !h.background:
		told.sync, told.commits, told.advice = true, true, alone.advice()
	case h.syncs && syncsSame(in.code, h.work) != syncsOwn:
		told.sync, told.advice = true, syncAdvice
		if h.background {
			told.advice = backgroundSyncAdvice
		} else {
			told.doubts = heldSyncDoubt(in, h.work, h.at.Func)
		}
		if syncsSame(in.code, h.work) == syncsUnknown {
			told.advice = "If all who wait write to the same file: " + strings.ToLower(told.advice[:1]) + told.advice[1:] + " Otherwise: " + strings.ToLower(advice[:1]) + advice[1:]
		}
	case answersClient(h.work):
		told.advice = answerAdvice
	case !h.syncs && (writesKept(in.code, h.work) || why.unseen && putsOut(h.work) && slices.Contains([]string{"network_write", "file_call"}, h.kind.Key())):
		told.advice = keepsOrder
	default:
		told.advice = advice
	}
	return told
}

// across is what the account of units has seen.
func (l *underLock) across(in *Input, t *traced) heldAcrossCall {
	return heldAcrossCall{at: l.site.Frame, waiter: t.Frames(stackIn(in, t, l.group, l.site)), work: t.Frames(workAt(l.group, &l.does)), kind: holderDoes(&l.does).Kind,
		syncs: l.syncs(t), background: l.inBackground(t)}
}

// tell makes a finding say it; summary tells that what the lock keeps is added to the summary, too.
func (told lockTold) tell(f *Finding) {
	f.Advice = told.advice
	f.Doubts = append(f.Doubts, told.doubts...)
	switch {
	case told.commits:
		told.p.tellCommits(f)
	case told.sync:
		told.p.tellSync(f)
	case told.p != nil:
		told.p.tell(f)
	}
}

// says is the advice with what the source proves that the lock keeps.
func (told lockTold) says() string {
	var f Finding
	told.tell(&f)
	return f.Advice
}

// backgroundSyncAdvice is what to do where a goroutine in the background makes a sync under the lock.
const backgroundSyncAdvice = "Sync without the lock: take what is to be written under the lock, unlock, and then write and sync it, or sync alone after unlocking. Who has to know that its data is on disk can wait for that, and not for the lock."

// syncedFile tells whether all who make a sync under a lock make the same file reach the disk.
type syncedFile int

const (
	syncsUnknown syncedFile = iota
	syncsShared
	syncsOwn
)

// syncsSame tells it by the function that makes the sync: a file that it opens itself is its own, one that its receiver has, or the package, is that of all.
func syncsSame(c *code, work []stack.Frame) syncedFile {
	at := c.userFrame(work)
	fn, decl := c.scopeAt(at), c.function(at)
	if fn == nil || decl == nil {
		return syncsUnknown
	}
	for _, call := range c.lineCalls(at) {
		of := receiverOf(call)
		if of == nil || !syncsByName.MatchString(calledName(call)) {
			continue
		}
		switch root := rootName(of); {
		case isPart(of) && root == fn.receiver:
			return syncsShared
		case root != "" && opensVariable(decl.Body, root):
			return syncsOwn
		}
	}
	return syncsUnknown
}

// syncsByName are names of methods that make a file reach the disk.
var syncsByName = lazily(`(?i)^f?(data)?sync$`)

// opensVariable tells of a variable of a body that it is given a file which is made or opened there.
func opensVariable(body *ast.BlockStmt, name string) bool {
	return hasNode(body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		return ok && isNamed(a.Lhs[0], name) && slices.ContainsFunc([]string{"os.Create", "os.Open", "os.OpenFile"}, func(p string) bool { return strings.HasPrefix(types.ExprString(a.Rhs[0]), p) })
	})
}
