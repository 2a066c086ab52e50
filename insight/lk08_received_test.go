package insight

import (
	"testing"

	"loupe/analysis/sched"
	"loupe/value/stack"
)

// TestReceivedAt: the waits that one line ended are counted over all stacks at it.
func TestReceivedAt(t *testing.T) {
	lines := map[stack.ID]int{1: 64, 2: 64, 3: 70, 4: 71}
	site := func(id stack.ID) stack.Frame {
		return stack.Frame{Func: "main.run", File: "/src/sink.go", Line: lines[id]}
	}
	for _, row := range []struct {
		name  string
		by    []sched.Waker
		id    stack.ID
		count int64
	}{
		{"one stack of the receiver, seen from each of the senders", []sched.Waker{{Stack: 1, Count: 16}, {Stack: 1, Count: 15}, {Stack: 1, Count: 13}}, 1, 44},
		{"two stacks at one line", []sched.Waker{{Stack: 3, Count: 9}, {Stack: 1, Count: 6}, {Stack: 2, Count: 7}}, 2, 13},
		{"two lines", []sched.Waker{{Stack: 3, Count: 9}, {Stack: 4, Count: 8}}, 3, 9},
		{"the runtime ended most", []sched.Waker{{Stack: 0, Count: 9}, {Stack: 1, Count: 8}}, 0, 0},
		{"the runtime ended less than all at the line", []sched.Waker{{Stack: 0, Count: 9}, {Stack: 1, Count: 8}, {Stack: 2, Count: 8}}, 1, 16},
		{"nobody", nil, 0, 0},
	} {
		if id, n := receivedAt(row.by, site); id != row.id || n != row.count {
			t.Errorf("%s: stack %d, %d, want %d, %d", row.name, id, n, row.id, row.count)
		}
	}
}
