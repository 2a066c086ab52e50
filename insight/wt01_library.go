package insight

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/value/stack"
	"loupe/value/unit"
)

// Waits that a library makes within a call of its own: the program has set no timer there, and has taken no lock. They are told as the call that the
// program's line makes.

// libraryCall is what a line of the program calls, where the wait is in it.
type libraryCall struct {
	kind, clause string // of the wait itself
	called       string // by the line of the program: "database/sql.(*DB).ExecContext"
	waits        string // the innermost function of a library: "modernc.org/sqlite.busyHandler"
	database     bool
	commits      bool
	writer       string // the package of a database that lets one connection write at a time; else empty
	word         string // that a statement begins with which changes rows; empty of another, or an unknown one
}

// libraryKind is that of such waits, in place of what the trace says of them.
const libraryKind = "library_call"

// setsTimers are parts of names of libraries and their functions that are there to pause: whoever calls one has set the timer.
var setsTimers = lazily(`(?i)timer|ticker|sleep|paus|throttl|limit|\brate\b|backoff|retr(y|ies)|clock|cron|sched|\bwait|poll|debounc|batch|bulk|flush|group|pool|semaphore|queue|worker|promise|future|event|watch|subscri|pubsub|chan`)

// busyNames are parts of names of functions that wait because another one has the database.
var busyNames = lazily(`(?i)busy|locked`)

// withinLibrary finds what a line of the program calls, where the wait is the library's: a pause or a lock of it, or in a statement of a
// database a channel as well. It is nil of other waits.
func withinLibrary(in *Input, t *traced, w *waiting) *libraryCall {
	if !slices.Contains([]string{"sleep", "timer", "lock", "channel", "cond"}, w.kind) || w.limit != nil {
		return nil
	}
	frames := t.Frames(w.site.Stack)
	own := slices.IndexFunc(frames, t.Scope.IsUser)
	if own <= 0 {
		return nil
	}
	inner := slices.IndexFunc(frames[:own], func(f stack.Frame) bool { return t.Scope.Of(f) == stack.Dependency })
	sql := slices.IndexFunc(frames[:own], func(f stack.Frame) bool { return strings.HasPrefix(f.Func, sqlPackage) })
	x := &libraryCall{kind: w.kind, clause: w.clause, called: frames[own-1].Func, database: sql >= 0, writer: oneWriterIn(frames[:own])}
	switch {
	case inner < 0, x.database && inner > sql: // no driver waits
		return nil
	case x.database:
	case w.kind != "sleep" && w.kind != "timer", slices.ContainsFunc(frames[:own], func(f stack.Frame) bool { return setsTimers.MatchString(f.Func) }):
		return nil
	}
	x.waits = frames[inner].Func
	x.commits = x.database && strings.HasSuffix(x.called, ".Commit")
	if x.database {
		x.word = statementChanging(in.code, ownFrames(in, frames[own:]))
	}
	return x
}

// tellPoolHolders makes a finding about waits for a connection to a database that lets one connection write at a time say what to do about them.
func tellPoolHolders(in *Input, t *traced, w *waiting, f *Finding) {
	if w.kind != "pool" || !slices.ContainsFunc(t.Frames(w.site.Stack), func(f stack.Frame) bool { return f.Func == poolWait }) {
		return
	}
	if of := oneWriterOf(in); of != "" {
		adviseOneWriter(in, of, w.rows, f)
	}
}

// begin makes the wait one of the library's, and says what its clause is.
func (x *libraryCall) begin(w *waiting) {
	what := "in a call of " + stack.Short(x.called)
	switch {
	case x.database && x.word != "":
		what = fmt.Sprintf("for %s of a database (%s)", anWord(x.word), stack.Short(x.called))
	case x.commits:
		what = fmt.Sprintf("for the commit of a transaction (%s)", stack.Short(x.called))
	case x.database:
		what = fmt.Sprintf("for a database (%s)", stack.Short(x.called))
	}
	w.kind, w.clause, w.causes = libraryKind, "waiting "+what, nil
}

// pauses tells of waits in a database that lets one connection write at a time that they pass until that one is done.
func (x *libraryCall) pauses() bool {
	return x.writer != "" && x.database && (x.kind == "sleep" || x.kind == "timer" || x.kind == "lock")
}

// text says what the library does meanwhile.
func (x *libraryCall) text(w *waiting) string {
	each := w.time / time.Duration(max(1, w.count))
	text := fmt.Sprintf("; meanwhile the library is %s in %s, %s at a time", x.clause, stack.Short(x.waits), unit.Duration(each))
	switch {
	case x.pauses() && busyNames.MatchString(x.waits):
		text += ", and then tries again: by its name, because another connection has the database locked"
	case x.pauses() && x.kind != "lock":
		text += ": this database lets one connection write at a time"
	}
	return text
}

// advice is what to do about it.
func (x *libraryCall) advice() string {
	switch {
	case x.pauses():
		return "The library sets this timer, not the program: the database (" + x.writer + ") lets one connection write at a time, and the others pause and try again. Write less often, and hold the database for a shorter time: several statements in one transaction, none that waits for something else before it ends. More connections only let more of them wait."
	case x.database:
		return "The wait is in the driver of the database, not the program: look at what its statements wait for there (a lock of another transaction, a limit of the driver), make fewer of them, or hold transactions for a shorter time."
	}
	return "The timer is set in the library, not in the program: look at what the call waits for (its documentation, a setting), make fewer of these calls, or make them where nobody waits for them."
}

// Words about writes in requests.
const (
	readWritesTitle  = "Requests that only read write to the database"
	readWritesAdvice = "Do not write in these requests: gather what they note in memory, and write it at intervals, all of it in one transaction and outside of the requests; or write only where the value has changed by enough (a time of last use that is minutes old). " +
		"Both only if nobody needs what is written as soon as the request is answered, and some of it may be lost when the program ends at once: that suits counts and times of last use, not money, orders or sessions."
	writeWritesAdvice = "Where a request makes several statements, have them in one transaction; and where many requests write at once, gather those of a few milliseconds into one transaction, and answer when that has been committed."
)

// tellLibrary makes a finding say of a wait in a library what it is, and of one for a database which requests write to it.
func tellLibrary(in *Input, r *Rule, t *traced, w *waiting, f *Finding) {
	x := w.library
	if x == nil {
		tellPinged(in, t, w, f)
		tellPeerWriting(in, r, t, w, f)
		return
	}
	f.Summary += x.text(w)
	f.Advice = x.advice()
	if w.group.Unit.String() == "request" && x.kind == "timer" && !x.database && w.each().Seconds() < r.param("window") {
		f.Severity = Info
		f.Doubts = append(f.Doubts, "the timer may be the window in which the library gathers a batch")
	}
	if x.pauses() {
		f.Doubts = append(f.Doubts, "other processes that have the database open may be who writes meanwhile")
	}
	tellWriting(in, w, x.word, f)
}

// tellWriting says of a finding about waits for a statement that changes rows which requests make it, and what helps there.
func tellWriting(in *Input, w *waiting, word string, f *Finding) {
	if word == "" || w.group.Unit.String() != "request" {
		return
	}
	methods, reads := loadOnlyReads(in)
	if !reads {
		if w.kind == libraryKind {
			f.Advice += " " + writeWritesAdvice
		}
		return
	}
	f.Title = readWritesTitle
	f.Summary += fmt.Sprintf("; the requests that were sent only read (%s), and these write: %s is what the line executes, going by the source", methods, anWord(word))
	f.Advice = readWritesAdvice
	f.Doubts = append(f.Doubts, "a GET may be meant to change something (a ticket that it takes): then the write belongs to it")
}

// anWord is a word with its article.
func anWord(word string) string {
	if strings.ContainsAny(word[:1], "AEIOU") {
		return "an " + word
	}
	return "a " + word
}

// tellPeerWriting is tellWriting of waits for the answer of a database that is a server.
func tellPeerWriting(in *Input, r *Rule, t *traced, w *waiting, f *Finding) {
	frames := t.Frames(w.site.Stack)
	own := slices.IndexFunc(frames, t.Scope.IsUser)
	if own < 0 || w.kind != "network" || w.calls() >= r.param("calls") || !slices.ContainsFunc(frames[:own], func(f stack.Frame) bool { return strings.HasPrefix(f.Func, sqlPackage) }) {
		return // or the driver is the program's own
	}
	tellWriting(in, w, statementChanging(in.code, ownFrames(in, frames[own:])), f)
}
