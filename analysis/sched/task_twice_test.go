package sched_test

import (
	"bytes"
	"context"
	"runtime/trace"
	"testing"
)

// TestTaskEndedTwice: a task keeps its name and its first end, however often it is
// ended.
func TestTaskEndedTwice(t *testing.T) {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Fatal(err)
	}
	_, task := trace.NewTask(context.Background(), "order")
	task.End()
	task.End()
	_, again := trace.NewTask(context.Background(), "order")
	again.End()
	task.End()
	trace.Stop()
	a := analyzed(t, out.Bytes(), nil)
	if len(a.Tasks) != 1 || a.Reader.Name(a.Tasks[0].Name) != "order" || a.Tasks[0].Count != 2 || a.Tasks[0].Incomplete != 0 {
		for _, g := range a.Tasks {
			t.Errorf("%d tasks %q, %d incomplete", g.Count, a.Reader.Name(g.Name), g.Incomplete)
		}
	}
}
