package kept

import (
	"strings"
	"testing"

	"loupe/format/querier"
)

// TestWriteTop prints a ranking, and what it may lack.
func TestWriteTop(t *testing.T) {
	typ, err := querier.ParseProfileType("process_cpu:cpu:nanoseconds:cpu:nanoseconds")
	if err != nil {
		t.Fatal(err)
	}
	got := &querier.TopResponse{Total: 10e9, Others: 3, Functions: []querier.Function{
		{Name: "main.work", Self: 6e9, Total: 7e9}, {Name: "main.main", Self: 0, Total: 10e9},
	}}
	f := func(want string) {
		t.Helper()
		var b strings.Builder
		if err := WriteTop(&b, typ, got); err != nil || b.String() != want {
			t.Errorf("got\n%s%v, want\n%s", &b, err, want)
		}
	}
	const table = `Type: cpu
Showing nodes accounting for 6s, 60.00% of 10s total
Showing top 2 nodes out of 5
      flat  flat%   sum%        cum   cum%
        6s 60.00% 60.00%         7s 70.00%  main.work
         0     0% 60.00%        10s   100%  main.main
`
	f(table)
	got.Slack = 5e6
	f("Roll-ups of older profiles keep only the largest functions: each figure may be too low by 5ms\n" + table)
}
