package report

import (
	"encoding/json"
	"fmt"

	"loupe/format/exectrace"
)

// eventJSON is one event of a trace as JSON. Fields that mean nothing for the
// event's kind are left out.
type eventJSON struct {
	Time      int64    `json:"time_ns"`
	Kind      string   `json:"kind"`
	G         int64    `json:"g"`
	P         int64    `json:"p"`
	M         int64    `json:"m"`
	Goroutine *int64   `json:"goroutine,omitempty"`
	Proc      *int64   `json:"proc,omitempty"`
	From      string   `json:"from,omitempty"`
	To        string   `json:"to,omitempty"`
	Name      string   `json:"name,omitempty"`
	Message   string   `json:"message,omitempty"`
	Task      *uint64  `json:"task,omitempty"`
	Parent    *uint64  `json:"parent,omitempty"`
	Value     *uint64  `json:"value,omitempty"`
	Args      []uint64 `json:"args,omitempty"`
	Stack     []string `json:"stack,omitempty"`
	Subject   []string `json:"subject_stack,omitempty"`
}

// AppendEvent appends the reader's current event as one JSON object.
func AppendEvent(b []byte, r *exectrace.Reader) []byte {
	e := r.Event()
	j := eventJSON{Time: int64(e.Time), Kind: e.Kind.String(), G: int64(e.G), P: int64(e.P), M: int64(e.M), Name: r.Name(e.Name),
		Stack: frames(r, e.Stack), Subject: frames(r, e.SubjectStack)}
	number := func(v uint64) *uint64 { return &v }
	switch e.Kind {
	case exectrace.KindGoTransition, exectrace.KindProcTransition:
		j.From, j.To = e.From.String(), e.To.String()
		if j.Goroutine = &e.Subject; e.Kind == exectrace.KindProcTransition {
			j.Goroutine, j.Proc = nil, &e.Subject
		}
	case exectrace.KindRangeBegin, exectrace.KindRangeActive, exectrace.KindRangeEnd:
		switch e.Scope() {
		case exectrace.ScopeGoroutine:
			j.Goroutine = &e.Subject
		case exectrace.ScopeProc:
			j.Proc = &e.Subject
		}
		if e.Name == exectrace.NameSweep && e.Kind == exectrace.KindRangeEnd {
			j.Args = []uint64{e.Swept(), e.Reclaimed()}
		}
	case exectrace.KindTaskBegin, exectrace.KindTaskEnd:
		j.Task = number(uint64(e.Task()))
		if e.Parent() != exectrace.NoTask {
			j.Parent = number(uint64(e.Parent()))
		}
	case exectrace.KindRegionBegin, exectrace.KindRegionEnd:
		j.Task = number(uint64(e.Task()))
	case exectrace.KindLog:
		j.Task, j.Message = number(uint64(e.Task())), r.Message()
	case exectrace.KindMetric, exectrace.KindSync:
		j.Value = number(e.Value())
	case exectrace.KindExperimental:
		j.Args = e.Experiment()
	}
	text, err := json.Marshal(j)
	if err != nil {
		return fmt.Appendf(b, `{"error":%q}`, err)
	}
	return append(b, text...)
}
