package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Lost is a benchmark that one side alone has.
type Lost struct {
	Package, Name string
	// Side is the number of the side that has it.
	Side int
	// Silent tells that it ran there and gave no result: it was skipped, or what it prints
	// hides it.
	Silent bool
}

// Discover finds the benchmarks of packages, of which sides has one list for each side, by
// running each once: what a benchmark runs in turn only shows then. It returns what
// all sides have as cases, what one alone has, and joined errors of those that failed.
func (r *Runner) Discover(ctx context.Context, sides [][]*Package) (cases []*Case, lost []Lost, failed error) {
	for _, p := range sides[0] {
		packages := []*Package{p}
		for _, other := range sides[1:] {
			for _, q := range other {
				if q.Key == p.Key {
					packages = append(packages, q)
				}
			}
		}
		if len(packages) < len(sides) {
			lost = append(lost, Lost{Package: p.ImportPath})
			continue
		}
		more, alone, err := r.discover(ctx, packages)
		cases, lost, failed = append(cases, more...), append(lost, alone...), errors.Join(failed, err)
		if ctx.Err() != nil {
			return cases, lost, ctx.Err()
		}
	}
	for side, all := range sides {
		for _, p := range all {
			if side > 0 && !hasPackage(sides[0], p.Key) {
				lost = append(lost, Lost{Package: p.ImportPath, Side: side})
			}
		}
	}
	return cases, lost, failed
}

// Again gives each case one more side, the last: what its first one runs, in another build of the
// same packages. It errs where a package of a case is missing among them.
func (r *Runner) Again(cases []*Case, packages []*Package) error {
	for _, c := range cases {
		first := c.Sides[0].at
		at := slices.IndexFunc(packages, func(p *Package) bool { return p.Key == first.pkg.Key })
		if at < 0 {
			return fmt.Errorf("package %s was not built a second time", first.pkg.name())
		}
		again := *first
		again.pkg = packages[at]
		c.Sides = append(c.Sides, Side{run: r.once(again.pkg, again.found, again.times), at: &again})
	}
	return nil
}

func hasPackage(all []*Package, key string) bool {
	for _, p := range all {
		if p.Key == key {
			return true
		}
	}
	return false
}

// discover finds the benchmarks of one package, which has a binary for each side.
func (r *Runner) discover(ctx context.Context, packages []*Package) (cases []*Case, lost []Lost, failed error) {
	var names []string // in the order of the last side that has them
	has := map[string][]*found{}
	broken := map[string]bool{} // what runs them has failed: they may be there
	for side, p := range packages {
		tops, err := r.top(ctx, p)
		if err != nil {
			return nil, nil, fmt.Errorf("cannot list the benchmarks of %s: %w", p.name(), err)
		}
		for _, top := range tops {
			r.Progress("looking for what %s runs", top)
			all, err := r.find(ctx, p, top)
			if ctx.Err() != nil {
				return cases, lost, ctx.Err()
			}
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", p.name(), err))
				broken[top] = true
			} else if len(all) == 0 {
				lost = append(lost, Lost{Package: p.ImportPath, Name: top, Side: side, Silent: true})
			}
			for _, f := range all {
				if has[f.name] == nil {
					has[f.name] = make([]*found, len(packages))
					names = append(names, f.name)
				}
				has[f.name][side] = &f
			}
		}
	}
	for _, name := range names {
		c := &Case{Package: packages[0].ImportPath}
		var sides []found
		for side, f := range has[name] {
			if f != nil {
				sides = append(sides, *f)
				c.Name, c.Config = f.printed, f.config
			} else if top, _, _ := strings.Cut(name, "/"); !broken[top] {
				lost = append(lost, Lost{Package: c.Package, Name: name, Side: 1 - side})
			}
		}
		if len(sides) < len(packages) {
			continue
		}
		times := r.times(sides)
		for side, p := range packages {
			c.Sides = append(c.Sides, Side{run: r.once(p, sides[side], times), at: &place{p, sides[side], times}})
		}
		cases = append(cases, c)
	}
	return cases, lost, failed
}
