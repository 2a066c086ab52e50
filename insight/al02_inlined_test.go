package insight

import (
	"testing"

	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestInlinedCall: what a library's function that was inlined allocates is told by its call, as the user has written it, and not by what it is made of.
func TestInlinedCall(t *testing.T) {
	const (
		clone  = "slices.Clone[go.shape.[]*shop.Pod,go.shape.*uint8]"
		grown  = "append grows the slice, whose memory cannot be on the stack (append(go.shape.[]*shop.Pod{}, slices.s...) escapes: kept in c, which outlives it)"
		copied = "a copy of a map (maps.clone)"
	)
	kept := &compiler.Diagnostic{Flow: []compiler.Flow{{Dst: "c"}}}
	for _, c := range []struct {
		name, line, inner string
		cause             why.Cause
		stale             bool
		want              string
	}{
		{"a copy", "c.Pods = slices.Clone(d.Pods)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, "slices.Clone(d.Pods) makes a copy that escapes: kept in c, which outlives it"},
		{"a list of values", "c.Keys = slices.Concat(d.Keys, more)", "slices.Concat[go.shape.[]int]", why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, "slices.Concat(d.Keys, more) makes a slice that escapes: kept in c, which outlives it"},
		{"a value", "c.Head = ring.New(3)", "container/ring.New", why.Cause{Mechanism: why.Object, Reason: "&Ring{} escapes: kept in c, which outlives it", Diagnostic: kept}, false, "ring.New(3) makes a value that escapes: kept in c, which outlives it"},
		{"by the runtime", "c.Env = maps.Clone(c.Env)", "maps.Clone[go.shape.map[string]string]", why.Cause{Mechanism: why.Call, Reason: copied}, false, copied + ", in maps.Clone(c.Env), which is inlined here"},
		{"compiled on its own", "c.Pods = slices.Clone(d.Pods)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept, Alone: true}, false, grown + ", in slices.Clone(d.Pods), which is inlined here"},
		{"a long call", "c.Pods = slices.Clone(d.Something.Longer.Than.AnyBody.Would.Write.In.One.Expression.Of.His)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, "slices.Clone(…) makes a copy that escapes: kept in c, which outlives it"},
		{"two of them", "c.Pods, c.Old = slices.Clone(d.Pods), slices.Clone(d.Old)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, grown + ", in " + clone + ", which is inlined here"},
		{"another source", "c.Pods = slices.Clone(d.Pods)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, true, grown + ", in " + clone + ", which is inlined here"},
		{"another call", "c.Pods = copied(d.Pods)", clone, why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, grown + ", in " + clone + ", which is inlined here"},
		{"one of the user's", "c.Pods = copied(d.Pods)", "shop.copied", why.Cause{Mechanism: why.Append, Reason: grown, Diagnostic: kept}, false, grown + ", in shop.copied, which is inlined here"},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package shop\n\nfunc (d *Device) copy(c *Device) {\n\t"+c.line+"\n}\n"))
		at := stack.Frame{Func: "shop.(*Device).copy", File: "/src/a.go", Line: 4}
		s := &allocSite{Site: &why.Site{Frames: []stack.Frame{{Func: c.inner, File: "/go/x.go", Line: 9}, at}, Causes: []why.Cause{c.cause}, Certainty: why.Exact, Stale: c.stale}, at: at}
		s.call = inlinedCall(newCode(session.New(r.Open())), s)
		if got := s.said(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestFoldedFindings: no finding names a shape, and commands list all instances.
func TestFoldedFindings(t *testing.T) {
	all := []Finding{{Title: "a", Summary: "in stage.Map[go.shape.int].func1", Advice: "in go.shape.[]int{}", Doubts: []string{"x.F[go.shape.int]"}, Evidence: []Evidence{{Text: "y.F[go.shape.int]", Function: "y.F[go.shape.int]"}}}}
	foldShapes(all)
	f := all[0]
	if f.Summary != "in stage.Map[...].func1" || f.Advice != "in []int{}" || f.Doubts[0] != "x.F[...]" || f.Evidence[0].Text != "y.F[...]" || f.Evidence[0].Function != "y.F[go.shape.int]" {
		t.Errorf("%+v", f)
	}
	for function, want := range map[string]string{
		"example.com/a/stage.Map[go.shape.[]example.com/b/c.T,go.shape.struct { A int }].func1": `'stage\.Map\[.*\]\.func1$'`,
		"example.com/a/stage.(*box[go.shape.int]).Run":                                          `'stage\.\(\*box\[.*\]\)\.Run$'`,
		"main.run": `'main\.run$'`,
	} {
		if got := Pattern(function); got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}
