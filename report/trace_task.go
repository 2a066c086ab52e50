package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/value/stack"
)

// TraceTask is one task: its tree, its regions, and what its time was spent
// on.
func TraceTask(h *sched.TaskHistory, top int) *Trace {
	r := h.Reader
	root := h.Tree[0]
	name := func(n exectrace.NameID) string { return r.Name(n) }
	facts := []Fact{
		{"id", "task", fmt.Sprint(root.ID)},
		{"name", "type", name(root.Name)},
		{"start_ns", "begins", time.Duration(h.Span.Start - h.Start)},
		{"time_ns", "takes", h.Span.Len()},
		{"complete", "whole", yes(root.Complete())},
		{"descendants", "tasks below it", len(h.Tree) - 1},
		{"goroutines", "goroutines", len(root.Goroutines)},
	}
	where := pathSheet(h, top)
	tree := &Sheet{Key: "tree", Title: "The task and those below it", Columns: []Column{{"task", "task"}, {"id", "id"}, {"at_ns", "at"}, {"time_ns", "took"}, {"regions", "regions"}, {"logs", "messages"}}}
	for _, k := range head(h.Tree, top) {
		var took any
		if k.Complete() {
			took = k.Duration()
		}
		tree.Rows = append(tree.Rows, []any{strings.Repeat("  ", k.Depth) + name(k.Name), fmt.Sprint(k.ID), since(k.Start, h.Span.Start), took, k.Regions, k.Logs})
	}
	tree.More(len(h.Tree)-top, "tasks")
	regions := &Sheet{Key: "regions", Title: "Regions", Columns: []Column{{"region", "region"}, {"task", "task"}, {"goroutine", "goroutine"}, {"at_ns", "at"}, {"time_ns", "took"}, {"exec_ns", "running"}, {"sched_wait_ns", "for a P"}, {"blocked_ns", "waiting"}, {"stack", "where"}}}
	for _, re := range head(h.Regions, top) {
		regions.Rows = append(regions.Rows, []any{name(re.Name), fmt.Sprint(re.Task), fmt.Sprint(re.G), since(re.Start, h.Span.Start), re.Total, re.Exec, re.SchedWait, re.Blocked.Sum(), StackOf(r, re.Stack)})
	}
	regions.More(len(h.Regions)-top, "regions")
	sheets := []*Sheet{where, tree}
	if len(h.Regions) > 0 {
		sheets = append(sheets, regions)
	}
	if len(h.Logs) > 0 {
		logs := &Sheet{Key: "logs", Title: "Messages", Columns: []Column{{"at_ns", "at"}, {"task", "task"}, {"goroutine", "goroutine"}, {"category", "category"}, {"message", "message"}}}
		for _, l := range head(h.Logs, top) {
			logs.Rows = append(logs.Rows, []any{time.Duration(l.At - h.Span.Start), fmt.Sprint(l.Task), fmt.Sprint(l.G), name(l.Category), l.Message})
		}
		sheets = append(sheets, logs.More(len(h.Logs)-top, "messages"))
	}
	return &Trace{Facts: facts, Sheets: sheets}
}

// pathSheet sums up the critical path by what was done where.
func pathSheet(h *sched.TaskHistory, top int) *Sheet {
	type key struct {
		name, reason exectrace.NameID
		state        exectrace.State
		stack        stack.ID
	}
	type sum struct {
		key
		n       int
		d       time.Duration
		longest sched.Step
	}
	sums, list := map[key]*sum{}, []*sum(nil) // in the order of the path where times are equal
	for _, s := range h.Path {
		k := key{s.Name, s.Reason, s.State, s.Stack}
		if s.State == exectrace.Running {
			k.reason = exectrace.NameNone
		}
		m := sums[k]
		if m == nil {
			m = &sum{key: k}
			sums[k], list = m, append(list, m)
		}
		m.n++
		m.d += s.Len()
		if s.Len() > m.longest.Len() {
			m.longest = s
		}
	}
	slices.SortStableFunc(list, func(a, b *sum) int { return cmp.Compare(b.d, a.d) })
	sheet := &Sheet{Key: "critical_path", Title: "What its time was spent on", Columns: []Column{{"time_ns", "time"}, {"share", "share"}, {"count", "stretches"}, {"state", "state"}, {"function", "in"}, {"stack", "where"}, {"max_ns", "longest"}, {"goroutine", "goroutine"}}}
	for _, s := range head(list, top) {
		state := reasonOf(h.Reader, s.state, s.reason)
		if s.state == exectrace.NotExist {
			state = "not there"
		}
		sheet.Rows = append(sheet.Rows, []any{s.d, Share(float64(s.d) / float64(max(1, h.Span.Len()))), s.n, state, nameOf(h.Reader, s.name), StackOf(h.Reader, s.stack), s.longest.Len(), fmt.Sprint(s.longest.G)})
	}
	sheet.Notes = append(sheet.Notes, "Where the task waited for another goroutine, what that goroutine did meanwhile is counted instead.")
	return sheet.More(len(list)-top, "places")
}
