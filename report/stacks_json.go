package report

import (
	"slices"

	"loupe/format/dump"
	"loupe/value/stack"
)

// stacksJSON is the JSON of loupe stacks.
type stacksJSON struct {
	Schema       string          `json:"schema"`
	File         string          `json:"file"`
	Goroutines   int64           `json:"goroutines"`
	Groups       []groupJSON     `json:"groups"`
	Unrecognised int64           `json:"unrecognised"`
	Odd          []oddJSON       `json:"unrecognised_lines,omitempty"`
	Cut          bool            `json:"cut"`
	Folded       *foldedJSON     `json:"folded,omitempty"` // what was not told apart
	Filter       string          `json:"filter,omitempty"`
	Dumps        []dumpJSON      `json:"dumps"`
	States       []stateJSON     `json:"states"`
	Ages         []ageJSON       `json:"ages"`
	Suspects     []suspectJSON   `json:"suspects"`
	Races        []raceJSON      `json:"races"`
	Binary       *binaryJSON     `json:"binary,omitempty"`
	Explained    []goroutineJSON `json:"explained,omitempty"` // the failed and the suspicious
	All          []goroutineJSON `json:"all,omitempty"`
}

type foldedJSON struct {
	Frames  int64 `json:"frames"`
	States  int64 `json:"states"`
	Dumps   int64 `json:"dumps"`
	Races   int64 `json:"races"`
	Threads int64 `json:"threads"`
}

type frameJSON struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Inlined  bool   `json:"inlined,omitempty"`
	Created  bool   `json:"created,omitempty"` // the go statement
}

type groupJSON struct {
	Count   int64       `json:"count"`
	State   string      `json:"state"`
	Leaked  bool        `json:"leaked"`
	MinWait int32       `json:"min_wait_minutes"`
	MaxWait int32       `json:"max_wait_minutes"`
	Locked  int64       `json:"locked_to_thread"`
	IDs     []uint64    `json:"ids"` // the first ones
	Stack   []string    `json:"stack"`
	Frames  []frameJSON `json:"frames"`
}

type oddJSON struct {
	Line   int64  `json:"line"`
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

type dumpJSON struct {
	Kind       string      `json:"kind"`
	Goroutines int64       `json:"goroutines"`
	Message    string      `json:"message,omitempty"`
	Panics     []panicJSON `json:"panics,omitempty"`
	Signal     string      `json:"signal,omitempty"`
	Offset     int64       `json:"offset"`
	Prefix     string      `json:"prefix,omitempty"`
	Threads    int         `json:"threads"`
}

type panicJSON struct {
	Value      string `json:"value"`
	Recovered  bool   `json:"recovered"`
	Repanicked bool   `json:"repanicked"`
	Goexit     bool   `json:"goexit"`
}

type stateJSON struct {
	State   string `json:"state"`
	Count   int64  `json:"count"`
	Waited  int64  `json:"waited_a_minute"`
	MaxWait int32  `json:"max_wait_minutes"`
}

type ageJSON struct {
	From  int32  `json:"from_minutes"`
	To    *int32 `json:"to_minutes"`
	Count int64  `json:"count"`
}

type suspectJSON struct {
	Concern string   `json:"concern"`
	Count   int64    `json:"count"`
	MaxWait int32    `json:"max_wait_minutes"`
	Text    string   `json:"text"`
	Address uint64   `json:"address,omitempty"`
	Holders []uint64 `json:"holders,omitempty"`
	// Cycle are goroutines that wait for each other, Proven tells that the runtime says so.
	Cycle  []waitJSON `json:"cycle,omitempty"`
	Proven bool       `json:"proven,omitempty"`
}

type waitJSON struct {
	Waiter   uint64 `json:"waiter"`
	Holder   uint64 `json:"may_hold"`
	Lock     uint64 `json:"lock,omitempty"`
	Owner    uint64 `json:"struct,omitempty"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Through  string `json:"through"`
}

type raceJSON struct {
	Offset   int64        `json:"offset"`
	Accesses []accessJSON `json:"accesses"`
}

type accessJSON struct {
	What    string      `json:"what"`
	Address uint64      `json:"address"`
	By      string      `json:"by"`
	Frames  []frameJSON `json:"frames"`
}

type goroutineJSON struct {
	ID      uint64     `json:"id"`
	State   string     `json:"state"`
	Wait    int32      `json:"wait_minutes"`
	Creator uint64     `json:"creator,omitempty"`
	Object  uint64     `json:"waits_for,omitempty"`
	Labels  string     `json:"labels,omitempty"`
	Doubt   bool       `json:"doubtful,omitempty"`
	Calls   []callJSON `json:"calls"`
}

type callJSON struct {
	frameJSON
	Args   string      `json:"args,omitempty"`
	Offset uint64      `json:"offset,omitempty"`
	PC     uint64      `json:"pc,omitempty"`
	From   string      `json:"explained_from,omitempty"` // binary, source
	Why    string      `json:"not_explained,omitempty"`
	Params []paramJSON `json:"params,omitempty"`
}

// StacksJSON is what [WriteJSON] prints of a dump, with its schema.
func StacksJSON(v *Stacks) any {
	f, keep := v.File, v.Chosen()
	out := stacksJSON{
		Schema: StacksSchema, File: v.Name, Unrecognised: f.Unrecognised, Cut: f.Cut, Filter: v.Filter,
		Groups: []groupJSON{}, Dumps: []dumpJSON{}, States: []stateJSON{}, Ages: []ageJSON{}, Suspects: []suspectJSON{}, Races: []raceJSON{},
	}
	for _, l := range f.Odd {
		out.Odd = append(out.Odd, oddJSON{l.Number, l.Offset, l.Text})
	}
	for _, x := range f.Groups(keep) {
		out.Goroutines += x.Count
		g := groupJSON{Count: x.Count, State: x.State, Leaked: x.Leaked, MinWait: x.MinWait, MaxWait: x.MaxWait, Locked: x.Locked, IDs: []uint64{}, Stack: []string{}}
		for _, m := range x.Members {
			g.IDs = append(g.IDs, f.IDs[m])
		}
		g.Frames = framesJSON(f, x.Stack)
		for _, r := range g.Frames {
			name := r.Function
			if r.Created {
				name = dump.CreatedBy + name
			}
			g.Stack = append(g.Stack, name)
		}
		out.Groups = append(out.Groups, g)
	}
	for i, d := range f.Dumps {
		j := dumpJSON{Kind: d.Kind.String(), Goroutines: dumpCount(f, i), Message: d.Message, Signal: d.SignalLine, Offset: d.Offset, Prefix: d.Prefix, Threads: len(d.Threads)}
		for _, p := range d.Panics {
			j.Panics = append(j.Panics, panicJSON(p))
		}
		out.Dumps = append(out.Dumps, j)
	}
	for _, x := range f.StateCounts(keep) {
		out.States = append(out.States, stateJSON{x.State, x.Count, x.Waited, x.MaxWait})
	}
	for _, a := range f.AgeCounts(keep) {
		j := ageJSON{From: a.From, Count: a.Count}
		if a.To > 0 {
			j.To = &a.To
		}
		out.Ages = append(out.Ages, j)
	}
	for _, x := range dump.Suspects(f, keep) {
		j := suspectJSON{Concern: x.Concern.String(), Count: x.Count, MaxWait: x.MaxWait, Text: suspectText(f, &x)}
		if x.Lock != nil {
			j.Address = x.Lock.Address
			for _, g := range x.Lock.Holders {
				j.Holders = append(j.Holders, f.IDs[g])
			}
		}
		if x.Cycle != nil {
			j.Proven = x.Cycle.Proven
			for _, e := range x.Cycle.Edges {
				j.Cycle = append(j.Cycle, waitJSON{f.IDs[e.Waiter], f.IDs[e.Holder], e.Lock, e.Owner, e.Caller, e.File, e.Line, e.Through})
			}
		}
		out.Suspects = append(out.Suspects, j)
	}
	for _, r := range f.Races {
		j := raceJSON{Offset: r.Offset}
		for _, a := range r.Accesses {
			j.Accesses = append(j.Accesses, accessJSON{a.What, a.Address, a.By, framesJSON(f, a.Stack)})
		}
		out.Races = append(out.Races, j)
	}
	if f.Folded.Any() {
		folded := foldedJSON(f.Folded)
		out.Folded = &folded
	}
	out.Binary = fitJSON(v.Explained)
	if v.Full {
		out.All = allJSON(v, keep)
	} else if v.Explained != nil {
		for _, g := range v.explained(keep) {
			if j := oneGoroutine(v, g); slices.ContainsFunc(j.Calls, func(c callJSON) bool { return len(c.Params) > 0 }) {
				out.Explained = append(out.Explained, j)
			}
		}
	}
	return out
}

func framesJSON(f *dump.File, id stack.ID) []frameJSON {
	out := []frameJSON{}
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		j := frameJSON{Function: r.Func, File: r.File, Line: r.Line, Inlined: r.Inlined}
		if len(r.Func) > len(dump.CreatedBy) && r.Func[:len(dump.CreatedBy)] == dump.CreatedBy {
			j.Function, j.Created = r.Func[len(dump.CreatedBy):], true
		}
		out = append(out, j)
	}
	return out
}

func allJSON(v *Stacks, keep func(int) bool) (all []goroutineJSON) {
	for g := range v.File.IDs {
		if keep(g) && v.File.Flags[g]&dump.Again == 0 {
			all = append(all, oneGoroutine(v, g))
		}
	}
	return all
}

// oneGoroutine is a goroutine with its calls.
func oneGoroutine(v *Stacks, g int) goroutineJSON {
	f := v.File
	s := f.State(g)
	j := goroutineJSON{ID: f.IDs[g], State: s.Name, Wait: f.Waits[g], Creator: f.Creators[g], Object: f.Objects[g], Labels: s.Labels, Doubt: f.Flags[g]&dump.Doubtful != 0, Calls: []callJSON{}}
	calls, err := f.Calls(g)
	for _, c := range calls {
		j.Calls = append(j.Calls, callJSON{frameJSON: frameJSON{c.Func, c.File, c.Line, c.Inlined, c.Created}, Args: c.Args, Offset: c.Offset, PC: c.PC})
	}
	if err != nil || len(calls) == 0 {
		for _, r := range framesJSON(f, f.StackIDs[g]) {
			j.Calls = append(j.Calls, callJSON{frameJSON: r})
		}
		return j
	}
	explainedJSON(v, g, j.Calls)
	return j
}
