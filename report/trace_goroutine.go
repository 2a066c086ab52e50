package report

import (
	"fmt"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
)

// TraceGoroutine is the life of one goroutine: figures, where its time went,
// whom it had to do with, and what it did in order.
func TraceGoroutine(h *sched.History, top int) *Trace {
	r := h.Reader
	facts := []Fact{
		{"id", "goroutine", fmt.Sprint(h.ID)},
		{"function", "function", nameOf(r, h.Name)},
		{"created_by", "made by", goroutineOf(h.CreatedBy)},
		{"creator", "at", StackOf(r, h.Creator)},
		{"created_ns", "first seen", time.Duration(h.Created - h.Start)},
		{"started_ns", "first ran", since(h.Started, h.Start)},
		{"ended_ns", "ended", since(h.Ended, h.Start)},
		{"total_ns", "in the trace for", h.Total},
		{"exec_ns", "running", h.Exec},
		{"sched_wait_ns", "for a P", h.SchedWait},
		{"syscall_ns", "in system calls", h.Syscall},
		{"syscall_block_ns", "of which without a P", h.SyscallBlock},
		{"blocked_ns", "waiting", h.Blocked.Sum()},
	}
	for name, d := range h.Ranges.All() {
		facts = append(facts, Fact{r.Name(name), r.Name(name), d})
	}
	places := &Sheet{Key: "where", Title: "Where its time went", Columns: []Column{{"state", "state"}, {"count", "count"}, {"total_ns", "in all"}, {"max_ns", "longest"}, {"stack", "where"}}}
	for _, p := range head(h.Where(), top) {
		places.Rows = append(places.Rows, []any{reasonAt(r, p.State, p.Reason, p.Stack), p.Count, p.Time, p.Longest, StackOf(r, p.Stack)})
	}
	stays := &Sheet{Key: "stays", Title: "What it did", Columns: []Column{{"at_ns", "at"}, {"length_ns", "for"}, {"state", "state"}, {"p", "P"}, {"stack", "where"}, {"by", "ended by"}, {"by_stack", "from"}}}
	for _, i := range head(h.Stays, top) {
		var p any = ""
		if i.P != exectrace.NoProc {
			p = fmt.Sprint(i.P)
		}
		var by, from any = "", Stack{}
		if i.State == exectrace.Waiting || i.State == exectrace.Runnable && i.By != exectrace.NoGoroutine {
			by = goroutineOf(i.By)
		}
		if i.ByStack != 0 {
			from = StackOf(r, i.ByStack)
		}
		stays.Rows = append(stays.Rows, []any{time.Duration(i.Start - h.Start), i.Len(), reasonAt(r, i.State, i.Reason, i.Stack), p, StackOf(r, i.Stack), by, from})
	}
	stays.More(len(h.Stays)+h.More-top, "periods in a state")
	sheets := []*Sheet{places}
	for _, c := range []struct {
		key, title string
		list       []sched.Contact
	}{{"woken_by", "Goroutines that woke it", h.WokenBy}, {"woke", "Goroutines that it woke", h.Woke}} {
		if len(c.list) > 0 {
			sheets = append(sheets, contactSheet(r, c.key, c.title, c.list, top))
		}
	}
	if len(h.Regions) > 0 {
		s := &Sheet{Key: "regions", Title: "Its regions", Columns: []Column{{"region", "region"}, {"task", "task"}, {"at_ns", "at"}, {"total_ns", "took"}, {"exec_ns", "running"}, {"sched_wait_ns", "for a P"}, {"blocked_ns", "waiting"}}}
		for _, re := range head(h.Regions, top) {
			s.Rows = append(s.Rows, []any{r.Name(re.Name), fmt.Sprint(re.Task), since(re.Start, h.Start), re.Total, re.Exec, re.SchedWait, re.Blocked.Sum()})
		}
		sheets = append(sheets, s.More(len(h.Regions)-top, "regions"))
	}
	return &Trace{Facts: facts, Sheets: append(sheets, stays)}
}

func contactSheet(r *exectrace.Reader, key, title string, list []sched.Contact, top int) *Sheet {
	s := &Sheet{Key: key, Title: title, Columns: []Column{{"goroutine", "goroutine"}, {"function", "function"}, {"count", "times"}, {"waited_ns", "waited"}}}
	for _, c := range head(list, top) {
		s.Rows = append(s.Rows, []any{fmt.Sprint(c.G), nameOf(r, c.Name), c.Count, c.Time})
	}
	return s.More(len(list)-top, "goroutines")
}

// head is the first n of a list.
func head[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// goroutineOf names a goroutine; the runtime for none.
func goroutineOf(g exectrace.GoID) string {
	if g == exectrace.NoGoroutine {
		return "the runtime"
	}
	return fmt.Sprint(g)
}

// since is a time counted from the trace's start, nil for one that the trace
// has not seen.
func since[T ~int64](at, start T) any {
	if at == 0 {
		return nil
	}
	return time.Duration(at - start)
}
