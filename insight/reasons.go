package insight

import (
	"errors"
	"fmt"

	"loupe/analysis/facts"
	"loupe/analysis/why"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// compiled returns what the compiler has said about the program, or why that
// is not known.
func (in *Input) compiled() (set *compiler.Set, missing string) {
	set, err := in.Session.Compiler()
	switch {
	case set != nil:
		return set, "" // what there is of it
	case errors.Is(err, session.ErrNone):
		return nil, facts.Compiled.Missing(in.Session.Manifest())
	}
	return nil, fmt.Sprintf("what the compiler says about the program cannot be read: %v", err)
}

// reasons are why the lines of the allocs profile allocate.
type reasons struct {
	// missing says why nothing is known; empty when something is.
	missing string
	// damaged tells that missing is a fault of the profile.
	damaged bool

	entry   recording.Entry
	profile *profile.Profile
	*why.Report
	// set is what the compiler has said; empty when that is not known.
	set *compiler.Set
	// bytes and objects are columns of the profile, counts the observations
	// behind each sample.
	bytes, objects, counts []int64
	sites                  []allocSite
	total                  allocated
	// effective are the sizes of the sample for shares of bytes and objects.
	effective [2]float64
	judged    *judged
}

// allocated is how much was.
type allocated struct{ bytes, objects, samples int64 }

func (a *allocated) add(b allocated) {
	a.bytes += b.bytes
	a.objects += b.objects
	a.samples += b.samples
}

// allocSite is one place that allocates, in code that was compiled into a
// function of the user's.
type allocSite struct {
	*why.Site
	// at is the user's line: the innermost frame that is the user's.
	at stack.Frame
	// call is the call there of the library's function that was inlined, as the source has it; empty where there is none, or several.
	call string
	allocated
}

// explain joins the allocs profile with what the compiler says.
func explain(in *Input) *reasons {
	from, err := in.Facts.Weights(facts.Allocations, "alloc_space")
	if err != nil {
		return &reasons{missing: err.Error(), damaged: !errors.Is(err, session.ErrNone)}
	}
	p, bytes, entry := from.Profile, from.Index, from.Entry
	objects, err := p.Index("alloc_objects")
	if err != nil {
		return &reasons{missing: fmt.Sprintf("%s: %v", entry.Path, err), damaged: true}
	}
	set, missing := in.compiled()
	calls, _ := in.Session.Calls()
	if set == nil && calls == nil {
		return &reasons{missing: missing}
	}
	if set == nil {
		set = &compiler.Set{}
	}
	opt := why.Options{Source: in.Session.Source}
	if calls != nil {
		opt.Callee = func(address uint64) string { return calls[address-1] }
	}
	r := &reasons{entry: entry, profile: p, set: set, Report: why.Explain(p, bytes, set, opt), bytes: p.Values[bytes], objects: p.Values[objects]}
	r.counts, _ = p.Observations(bytes)
	for i := range r.counts {
		r.total.add(r.of(i))
	}
	isUser, kept := in.Session.Scope().IsUser, facts.StillInUse(p)
	for i := range r.Sites {
		site := allocSite{Site: &r.Sites[i]}
		for _, f := range site.Frames {
			if isUser(f) {
				site.at = f
				break
			}
		}
		if site.at.Func == "" {
			continue // the library's own decision, or the runtime's
		}
		site.call = inlinedCall(in.code, &site)
		for _, n := range site.Samples {
			if !kept(int(n)) { // what is kept is no waste, and cannot be used again
				site.add(r.of(int(n)))
			}
		}
		r.sites = append(r.sites, site)
	}
	r.effective = [2]float64{effectiveSize(r.bytes, r.counts), effectiveSize(r.objects, r.counts)}
	r.judged = r.judge(in)
	return r
}

// of is what a sample of the profile stands for.
func (r *reasons) of(i int) allocated { return allocated{r.bytes[i], r.objects[i], r.counts[i]} }
