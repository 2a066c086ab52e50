package insight

import (
	"fmt"
	"math"
	"slices"

	"loupe/analysis/facts"
	"loupe/analysis/repetition"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Where many calls wait one after another and most of them ask what was asked before, those need not be made; what is left is worth making at once.

// mostAgain tells whether most of the calls of a function had arguments that had been there.
func mostAgain(x repetition.Call) bool {
	return float64(x.Inner.Again) >= halfOfAll*float64(x.Inner.Calls)
}

// fewLeft is from how many calls on in each of those around they are said to be left, where the others are not made: chosen.
const fewLeft = 5

// remaining says of calls that wait for others that those which are left do so one after another, where all of them come from one line in a loop and none
// asks for what another one has given.
func (r *repeatedCall) remaining(in *Input, f *Finding) {
	left := float64(r.Inner.Distinct) / float64(r.Inner.Around)
	outside := partOfRows(r.rows, func(row *facts.UnitRow) bool { return row.Kind.Outside() && row.Kind.Key() != "file_call" })
	if !f.again || left < fewLeft || outside < halfOfAll {
		return
	}
	path, way, ok := r.oneLoop(in)
	if !ok {
		return
	}
	if _, chained := chainedAround(in.code, path, ""); chained {
		return
	}
	about, ask := r.about(), "ask"
	if why := leftOrder(in.code, path, way); why != "" {
		ask = fmt.Sprintf("if they need not be made in order, and none needs an effect of an earlier one (%s), ask", why)
	}
	if r.Inner.Around > 1 {
		about = "about "
	}
	f.Advice += fmt.Sprintf(" The %s%s calls that are left then still wait one after another: %s for these at once (a batch, one query with many keys), or concurrently, with a limit.", about, unit.Count(int64(math.Round(left))), ask)
}

// leftOrder says what leaves open that none of the calls needs an effect of an earlier one: what they change at a peer, or anywhere else.
func leftOrder(c *code, path, way []stack.Frame) string {
	at := way[len(way)-1]
	if all, ok := closingOf(c, at, []int{at.Line}); ok && len(all[0].open) > 0 {
		return all[0].open[0].text()
	}
	return peerOrder(c, path, way)
}

// oneLoop is the way of the calls through the program, and the part of it up to the line in a loop which all of them come from: each function on it is
// called at one line of the sources only.
func (r *repeatedCall) oneLoop(in *Input) (path, way []stack.Frame, ok bool) {
	if path = r.way; r.Func.Caller != "" && len(path) > 0 {
		path = path[1:] // the function of a library that the line calls comes first
	}
	path = ownFrames(in, path)
	d := derivationsOf(in.code)
	for i, f := range path {
		if (i > 0 || r.Func.Caller != "") && len(loopsAround(in.code, f)) > 0 {
			return path, path[:i+1], true
		}
		at, known := d.at(f)
		if !known || at.lit != nil || len(callersTo(d, at.decl)) != 1 {
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// tellCountedAgain says of many calls along one way that a function on it was called again and again with the same arguments, as the run that counts calls has
// seen.
func tellCountedAgain(in *Input, frames []stack.Frame, f *Finding) {
	all, _, err := repetition.In(in.Session)
	if err != nil {
		return
	}
	for _, x := range all {
		if x.Func.Caller != "" || !mostAgain(x) || !slices.ContainsFunc(frames, func(f stack.Frame) bool { return isCounted(f.Func, x.Func.Name) }) {
			continue
		}
		if _, released := releasedResult(derivationsOf(in.code), x); released {
			continue // each needs one of its own
		}
		r, returned := repeatedCall{Call: x, unsure: x.Inner.Partial && !ofReceiver(in, x)}, "what those had returned"
		if x.Inner.Vague {
			returned = "what looks like what those had returned"
		}
		f.Doubts = append(f.Doubts, fmt.Sprintf("%s%s of %s of %s were %s, and returned %s (CP26): if answers may be kept for that long, ask once for each before all else, which leaves fewer calls to make at once",
			r.about(), unit.Count(x.Inner.Again), unit.Plural(x.Inner.Calls, "call"), stack.Short(x.Func.Name), r.hadBeenThere(), returned))
		return
	}
}
