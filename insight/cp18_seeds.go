package insight

import (
	"go/ast"
	"go/types"

	"loupe/value/stack"
)

// Where the seed of a source of random numbers comes from: a seed that is given asks for its
// sequence, and only one that is to differ each time can be left out.

// seeding is where a seed comes from.
type seeding int

const (
	seedUnknown seeding = iota
	seedDiffers         // it is made of the time, or is random itself
	seedFixed           // it is the same each time
	seedGiven           // it is another one, from what calls
)

// otherEachTime are calls, by their texts, whose results are to be others each time.
var otherEachTime = lazily(`\b(time\.(Now|Since)|rand\.(Int|Uint|Read|N\b)|maphash\.|os\.Getpid|uuid\.)`)

// seedOf finds the seed that the first line of a way gives to a source, and where it comes from.
func seedOf(c *code, way []stack.Frame) (kind seeding, text string) {
	for _, call := range c.lineCalls(way[0]) {
		if name := calledName(call); (name == "NewSource" || name == "Seed") && len(call.Args) == 1 {
			return seedFrom(c, call.Args[0], way, 0), types.ExprString(call.Args[0])
		}
	}
	return seedUnknown, ""
}

// seedFrom follows a seed in the function of the first frame of a way, and outward.
func seedFrom(c *code, x ast.Expr, way []stack.Frame, depth int) seeding {
	fn := c.scopeAt(way[0])
	if otherEachTime.MatchString(types.ExprString(x)) {
		return seedDiffers
	}
	if fn == nil || depth > 5 {
		return seedUnknown
	}
	differs := false
	ast.Inspect(x, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || differs {
			return !differs
		}
		if made := fn.made(id.Name); made != nil {
			differs = seedFrom(c, made, way, depth+1) == seedDiffers
		} else if i := fn.parameter(id.Name); i >= 0 && len(way) > 1 && fn.name != "" {
			for _, call := range c.lineCalls(way[1]) {
				if calledName(call) == fn.name && i < len(call.Args) {
					differs = differs || seedFrom(c, call.Args[i], way[1:], depth+1) == seedDiffers
				}
			}
		}
		return !differs
	})
	if differs {
		return seedDiffers
	}
	o := newOrigins(c)
	if call, ok := x.(*ast.CallExpr); ok && len(call.Args) == 1 && types.Universe.Lookup(calledName(call)) != nil {
		x = call.Args[0] // a conversion
	}
	if !o.fixed(x, fn, way) || o.ofOthers() {
		return seedGiven
	}
	for _, g := range o.from {
		if each, at := g.changing(c, way); each || at != "" {
			return seedGiven
		}
	}
	return seedFixed
}

// tellSeeds is what to do about sources that are seeded again and again.
func tellSeeds(c *code, way []stack.Frame, f *Finding) {
	const drawn = "Draw the numbers once and keep the result, and give a copy to each that changes it"
	switch kind, text := seedOf(c, way); kind {
	case seedFixed:
		f.Advice = "The seed is the same each time, and so is the sequence. " + drawn + "; or keep one source for each worker, if it does not matter which numbers come."
		f.Doubts = []string{"one source that goes on gives other numbers than one that is seeded anew each time (" + text + "): if the same are wanted, only the result can be kept"}
	case seedGiven:
		f.Severity, f.saves = Info, false
		f.Advice = "The seed is given, so its sequence may be wanted: keep the result by the seed, with a bound, if the same seeds come again. If it does not matter which numbers come, keep one source for each worker; " +
			"a source of math/rand/v2 (rand.NewPCG) takes next to no time to seed, but gives other numbers for the same seed."
		f.Doubts = []string{"if each seed (" + text + ") comes only once, and its numbers have to remain the same, this is the price"}
	case seedUnknown:
		f.Advice = "If the seed only has to differ each time, use the functions of math/rand/v2, which need no seed and no lock; or keep one source for each worker. If its sequence is wanted, as of a constant or a seed that is given: " + drawn + "."
	}
}
