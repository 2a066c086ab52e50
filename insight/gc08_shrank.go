package insight

import "slices"

// oneOfHeap settles what GC08 and GC09 say of one heap, which cannot both go on growing and have shrunk again. What survives collections that were asked for
// decides; else what was seen last does.
func oneOfHeap(all []Finding) {
	found := func(rule string) int {
		return slices.IndexFunc(all, func(f Finding) bool { return f.Rule == rule && f.State == Found })
	}
	grows, shrank := found("GC08"), found("GC09")
	if grows < 0 || shrank < 0 {
		return
	}
	no, why := &all[grows], "; but it shrank again later (GC09)"
	if no.lasts {
		no, why = &all[shrank], "; but what survives collections goes on growing (GC08)"
	}
	*no = Finding{Rule: no.Rule, Title: no.Title, State: Fine, Summary: no.Summary + why}
}
