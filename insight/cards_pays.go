package insight

// pays tells whether the advice of the other finding saves at least half of the CPU time that the finding is about, where samples tell both: what costs more
// than that is a cause of its own, whatever else the two have in common. Of a remark that says only where time goes, a quarter that a warning explains is enough.
func (t two) pays() bool {
	ma, mb := t.c.marks[t.i], t.c.marks[t.j]
	if ma == nil || mb == nil {
		return true
	}
	enough := halfOfAll
	if t.a.Severity == Info && classOf(t.a) == general && t.warned() && classOf(t.b) == specific {
		enough = muchOfAll
	}
	return t.b.partOf(t.c.spent.share(mb)) >= enough*t.a.partOf(t.c.spent.share(ma))
}

// partOf is what of the share of its costs a finding is about.
func (f *Finding) partOf(share float64) float64 {
	if f.part > 0 {
		return f.part * share
	}
	return share
}

// mostly tells of the other finding that its advice saves most of what it is about.
func (t two) mostly() bool { return t.b.partOf(1) >= halfOfAll }

// ofWork tells of two findings that both are about work on the CPU, and that the one is none about what the collector and the allocator take together,
// which goes by what is allocated.
func (t two) ofWork() bool {
	return family(t.a.Rule) == "work" && family(t.b.Rule) == "work" && !ofGarbage(t.a)
}
