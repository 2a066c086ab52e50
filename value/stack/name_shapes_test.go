package stack

import "testing"

// TestFoldShapes: the names that the compiler makes for shapes are not for people; what else is in brackets stays.
func TestFoldShapes(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		"a [list] of m[k], x[1]": "a [list] of m[k], x[1]",
		"in slices.Clone[go.shape.[]*example.com/a/b.Pod,go.shape.*uint8], which is inlined here": "in slices.Clone[...], which is inlined here",
		"append(go.shape.[]*example.com/a/b.Pod{}, slices.s...) escapes":                          "append([]*example.com/a/b.Pod{}, slices.s...) escapes",
		"stage.Map[go.shape.[24]uint8,go.shape.struct { A uint32; B []int }].func1 and m[k]":      "stage.Map[...].func1 and m[k]",
		"main.(*box[go.shape.int]).work":                                                          "main.(*box[...]).work",
		"a map[go.shape.string]go.shape.int, bitmap[go.shape.int]":                                "a map[string]int, bitmap[...]",
		"cut[go.shape.int":                     "cut[int",
		"main.F[int]":                          "main.F[int]",
		"go.shape.map[string]string and [...]": "map[string]string and [...]",
		"[go.shape.int]":                       "[int]",
	} {
		if got := FoldShapes(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
