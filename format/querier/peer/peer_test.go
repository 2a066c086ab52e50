// Package peer_test holds flame graphs and differences against those that Pyroscope's own
// code makes of the same stacks.
package peer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/pkg/model"

	"loupe/format/querier"
)

// side is the same tree twice.
type side struct {
	theirs *model.Tree
	ours   *querier.Tree
}

// random makes a tree of few names, so that stacks share much; other is a name as well as
// what is too small to be drawn, and some values are none.
func random(r *rand.Rand) side {
	s := side{new(model.Tree), new(querier.Tree)}
	names := []string{"a", "b", "c", "d", "e", "other", "f.g"}
	for range r.IntN(40) {
		var stack []string
		for range 1 + r.IntN(6) {
			stack = append(stack, names[r.IntN(len(names))])
		}
		v := r.Int64N(100) - 3
		s.theirs.InsertStack(v, stack...)
		s.ours.Add(v, stack...)
	}
	return s
}

// draw shows levels with the names, which may be numbered in another order.
func draw[L any](names []string, levels []L, values func(L) []int64, step int) (out []string) {
	for i, l := range levels {
		for bar := range slices.Chunk(values(l), step) {
			out = append(out, fmt.Sprint(i, bar[:step-1], names[bar[step-1]]))
		}
	}
	return out
}

func theirs(l *querierv1.Level) []int64 { return l.Values }
func ours(l querier.Level) []int64      { return l.Values }

func TestFlameGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s, nodes := random(r), int64(r.IntN(30))
		want, got := model.NewFlameGraph(s.theirs, nodes), s.ours.FlameGraph(nodes)
		a, b := draw(want.Names, want.Levels, theirs, 4), draw(got.Names, got.Levels, ours, 4)
		if !slices.Equal(a, b) || want.Total != got.Total || want.MaxSelf != got.MaxSelf {
			t.Fatalf("%d bars: got %v, total %d, largest %d\nwant %v, %d, %d", nodes, b, got.Total, got.MaxSelf, a, want.Total, want.MaxSelf)
		}
	}
}

func TestDiff(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		left, right, nodes := random(r), random(r), int64(r.IntN(30))
		want, err := model.NewFlamegraphDiff(left.theirs, right.theirs, nodes)
		if err != nil {
			t.Fatal(err)
		}
		got := querier.Diff(left.ours, right.ours, nodes)
		a, b := draw(want.Names, want.Levels, theirs, 7), draw(got.Names, got.Levels, ours, 7)
		if !slices.Equal(a, b) || want.Total != got.Total || want.MaxSelf != got.MaxSelf || want.LeftTicks != got.LeftTicks || want.RightTicks != got.RightTicks {
			t.Fatalf("%d bars: got %v, %d %d %d %d\nwant %v, %d %d %d %d", nodes, b, got.Total, got.MaxSelf, got.LeftTicks, got.RightTicks, a, want.Total, want.MaxSelf, want.LeftTicks, want.RightTicks)
		}
	}
}
