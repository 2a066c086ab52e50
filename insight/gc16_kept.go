package insight

import (
	"fmt"

	"loupe/analysis/facts"
	"loupe/value/stack"
	"loupe/value/unit"
)

var gc16 = &Rule{
	ID: "GC16", Title: "One line keeps most of the live heap",
	About: "What is in use in a heap profile is what the program holds on to: a cache, an index, a queue, or what it has forgotten to let go. " +
		"Where most of it was allocated at one line, that line decides how much memory the program needs. How much is allocated in all is another question, " +
		"which profiles of allocations answer.",
	Asks: []facts.Question{facts.Kept},
	Params: []Param{
		{"share", 0.5, "share of what is in use", "chosen: most of it"},
		{"least", 16, "MB", "chosen: what all is in use; less is no reason to look"},
		{"samples", 20, "samples", "chosen: below this a share is an accident"},
	},
	Check: checkKept,
}

func checkKept(r *Rule, in *Input) []Finding {
	kept, err := in.Facts.Kept()
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if kept.Bytes == 0 {
		return []Finding{r.answer(TooLittle, "%s has nothing in use: it tells what survived the last collection, of objects that were sampled", kept.Entry.Path)}
	}
	lines := kept.Lines()
	if len(lines) == 0 {
		return []Finding{r.answer(Fine, "of %s in use in %s the program's code has allocated nothing", unit.BytesOf(float64(kept.Bytes)), kept.Entry.Path)}
	}
	top := lines[0]
	share := float64(top.Weight) / float64(max(1, kept.Bytes))
	text := fmt.Sprintf("of %s in use, %s were allocated at %s:%d in %s", unit.BytesOf(float64(kept.Bytes)), unit.Percent(share), baseName(top.At.File), top.At.Line, stack.Short(top.At.Func))
	switch {
	case float64(kept.Bytes) < r.param("least")*(1<<20) || share < r.param("share"):
		return []Finding{r.answer(Fine, "%s, at others less", text)}
	case float64(kept.Samples) < r.param("samples"):
		return []Finding{r.answer(TooLittle, "%s, which rests on %d samples, %g are needed", text, kept.Samples, r.param("samples"))}
	}
	f := r.answer(Found, "%s", text)
	f.Severity, f.Score = Info, score(share*float64(kept.Bytes), 64<<20, 1<<30)
	f.Impact = exactly(share, "share of what is in use")
	for _, l := range lines[:min(3, len(lines))] {
		if l == top || float64(l.Weight) >= float64(kept.Bytes)/20 {
			f.Evidence = append(f.Evidence, in.fileAt(kept.Entry, l.At, l.Frames, "%s in use were allocated here", unit.BytesOf(float64(l.Weight))))
		}
	}
	f.Advice = "Decide whether it is meant to be kept. A cache or a queue wants a bound; what is kept for good can be smaller (no copies, no pointers where an index does)."
	f.Verify = "Take a heap profile at the same point again: loupe compare OLD NEW says what has become less."
	f.Doubts = []string{"one profile is one moment: whether it grows a second one some time later tells (record with -phases growth)"}
	return []Finding{f}
}
