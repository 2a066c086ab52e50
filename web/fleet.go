package web

import (
	"context"
	"net/http"
	"time"
)

// Fleet is a store of the profiles of many services over time, as the pages ask it. Its
// methods may be called at the same time, and stop early when the context ends. What their
// errors of [NotThere] say is shown as it is.
type Fleet interface {
	// Services returns the services that a question selects, and what they cost.
	Services(ctx context.Context, q FleetQuestion) (*FleetServices, error)
	// Lines returns one type of profile over time, a line for each value of a label.
	Lines(ctx context.Context, q FleetQuestion) (*FleetLines, error)
	// Functions returns what the functions of a selection cost.
	Functions(ctx context.Context, q FleetQuestion) (*FleetFunctions, error)
	// Spread returns how much single spans, or single profiles, of a selection took.
	Spread(ctx context.Context, q FleetQuestion) (*FleetSpread, error)
	// Regressions returns what new versions of the selected services spend more on.
	Regressions(ctx context.Context, q FleetQuestion) (*FleetRegressions, error)
	// Targets returns the processes that are asked for profiles.
	Targets() *FleetTargets
	// Pins returns the selections that are kept in full for ever, Pin adds the selection of a
	// question to them, and Unpin takes one away.
	Pins(ctx context.Context) (*FleetPins, error)
	Pin(ctx context.Context, name, reason string, q FleetQuestion) error
	Unpin(ctx context.Context, name string) error
	// Incidents returns the moments at which alert rules have fired.
	Incidents() *FleetIncidents
	// Source returns what the profiles of a selection are as a source: the id is one
	// that an answer has named.
	Source(id string) (Source, error)
}

// NotThere is an error that a page shows as an answer: there is nothing of the kind, or it
// cannot be asked for so. The text is for people.
func NotThere(format string, args ...any) error { return nothing(format, args...) }

// FleetQuestion is what a view asks a [Fleet].
type FleetQuestion struct {
	// Select are labels as Prometheus selects them: {service_name="shop",pod=~"a|b"}.
	Select string
	// From and Until are the range. One without an end ends now, and goes back by Last.
	From, Until time.Time
	Last        time.Duration
	// Type is the id of a type of profile, and By the label that makes lines; "" for the
	// usual type, and for one line of all.
	Type, By string
}

// FleetRange is the range that an answer is about.
type FleetRange struct {
	From  int64 `json:"from_ms"` // since 1970
	Until int64 `json:"until_ms"`
	Step  int64 `json:"step_ms"` // from one value of a course to the next
}

// FleetServices are the services of a fleet.
type FleetServices struct {
	FleetRange
	Costs    []FleetCost    `json:"costs"`
	Services []FleetService `json:"services"`
	// Newest is when the newest profile of all began, in ms since 1970; 0 if there is none.
	Newest int64 `json:"newest_ms"`
}

// FleetCost is one thing that services cost.
type FleetCost struct {
	// Type is the id of the type of profile that it is counted by.
	Type string `json:"type"`
	Head string `json:"head"`
	// Means says what the figures are.
	Means string `json:"means"`
}

// FleetService is one service.
type FleetService struct {
	Name   string `json:"name"`
	Select string `json:"select"`
	// Source is the id of its profiles in the range, and Before that of the range of the
	// same length before it.
	Source string `json:"source"`
	Before string `json:"before"`
	// Costs has a figure for each cost of the fleet; one of a type that the service does
	// not have is null.
	Costs []*FleetFigure `json:"costs"`
}

// FleetFigure is one figure over time.
type FleetFigure struct {
	Shown string  `json:"shown"` // its mean over the range, with its unit
	Value float64 `json:"value"`
	// Before is the mean over the range of the same length before; "" without any.
	Before string `json:"before"`
	// Course has a value for each step, null where there is no profile.
	Course Numbers `json:"course"`
	// Profiled is the share of the time that was profiled, from which all of it was
	// concluded; 0 of a state.
	Profiled float64 `json:"profiled"`
}

// FleetLines are the lines of one type of profile.
type FleetLines struct {
	FleetRange
	// Types are those that the selection has, Labels the names of its labels.
	Types  []FleetCost `json:"types"`
	Labels []string    `json:"labels"`
	Type   string      `json:"type"`
	By     string      `json:"by"`
	// Unit is that of the values: "CPUs", "at once", "B", "B/s", "/s" or "" for a number.
	Unit  string      `json:"unit"`
	Lines []FleetLine `json:"lines"`
	// Others is how many smaller lines are left out.
	Others int `json:"others"`
	// Source and Before are the ids of all of the selection in the range, and before it.
	Source string `json:"source"`
	Before string `json:"before"`
}

// FleetLine is one line.
type FleetLine struct {
	// Name is the value of the label; "" where series have none.
	Name   string `json:"name"`
	Select string `json:"select"`
	Source string `json:"source"`
	FleetFigure
}

// FleetTargets are the processes that are asked for profiles.
type FleetTargets struct {
	Targets []FleetTarget `json:"targets"`
	// Asks tells that there are ways to find targets; a server may have none.
	Asks bool `json:"asks"`
}

// FleetTarget is one of them.
type FleetTarget struct {
	URL     string `json:"url"`
	Service string `json:"service"`
	Taken   int64  `json:"taken"` // profiles
	// Last is when one came last, in ms since 1970; 0 for never.
	Last  int64  `json:"last_ms"`
	Every string `json:"every"` // how often a round of profiles is taken
	Cost  string `json:"cost"`  // CPU time of a round, at most
	Error string `json:"error"` // what is wrong with a profile that does not come
}

// FleetPins are the selections that are kept in full for ever.
type FleetPins struct {
	Pins []FleetPin `json:"pins"`
}

// FleetPin is one of them.
type FleetPin struct {
	Name   string `json:"name"`
	Select string `json:"select"`
	From   int64  `json:"from_ms"` // since 1970; 0 for an open begin
	Until  int64  `json:"until_ms"`
	Reason string `json:"reason"`
}

// FleetPinPaths are the ends of the addresses at which pins are changed, below api/.
var FleetPinPaths = []string{"fleet/pin", "fleet/unpin"}

// FleetFunctions are the functions of a selection.
type FleetFunctions struct {
	FleetRange
	Costs     []FleetCost     `json:"costs"`
	Functions []FleetFunction `json:"functions"` // those that cost most, by the first cost
	// Others is how many are left out. Exact tells that roll-ups have dropped nothing of those that are listed.
	Others int  `json:"others"`
	Exact  bool `json:"exact"`
}

// FleetFunction is one function.
type FleetFunction struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Costs has a share for each cost of the answer; null where the function has none of it.
	Costs []*FleetShare `json:"costs"`
}

// FleetShare is what a function costs, in the unit of the cost: itself, and with what it calls.
type FleetShare struct {
	Self       float64 `json:"self"`
	Total      float64 `json:"total"`
	SelfShown  string  `json:"self_shown"`
	TotalShown string  `json:"total_shown"`
}

// FleetSpread is how much single spans, or single profiles where samples carry no ids of
// spans, took of one type: a heat map over time, and the largest of them.
type FleetSpread struct {
	FleetRange
	Type string `json:"type"`
	Head string `json:"head"`
	// Unit is that of the values as profiles have it: "nanoseconds", "bytes", "count".
	Unit string `json:"unit"`
	// Of is "span" or "profile", Count how many there are.
	Of    string `json:"of"`
	Count int    `json:"count"`
	// RolledUp is how many profiles are not among them, since only their sum is kept.
	RolledUp int64 `json:"rolled_up"`
	// Cells are the counts, Columns of them for each of Rows rows, the smallest values first:
	// those of a row begin at Low × Growth^row. Most is the largest count.
	Columns int            `json:"columns"`
	Rows    int            `json:"rows"`
	Low     float64        `json:"low"`
	Growth  float64        `json:"growth"`
	Most    int32          `json:"most"`
	Cells   []int32        `json:"cells"`
	Largest []FleetLargest `json:"largest"`
}

// FleetLargest is one of the largest spans or profiles.
type FleetLargest struct {
	At     int64   `json:"at_ms"` // when its first profile began, since 1970
	Value  float64 `json:"value"`
	Shown  string  `json:"shown"`
	Labels string  `json:"labels"`
	// Span and Trace are ids, "" for a profile.
	Span  string `json:"span"`
	Trace string `json:"trace"`
	// Source is the id of its samples.
	Source string `json:"source"`
}

// FleetRegressions are the versions that have appeared in a range, and what functions take
// more and less since then.
type FleetRegressions struct {
	FleetRange
	// Type is the id of the type of profile, Of what the shares are of: "all CPU".
	Type string `json:"type"`
	Of   string `json:"of"`
	// Releases are the newest of each service; Services is how many were looked at, and Left how
	// many were not: there are too many.
	Releases []FleetRelease `json:"releases"`
	Services int            `json:"services"`
	Left     int            `json:"left"`
}

// FleetRelease is a version that has appeared.
type FleetRelease struct {
	Service string `json:"service"`
	// Label is what tells versions apart: "version", or "build_id" where that is the same.
	Label string `json:"label"`
	// Old and New are its values, At when the new one appeared, in ms since 1970.
	Old string `json:"old"`
	New string `json:"new"`
	At  int64  `json:"at_ms"`
	// Beside tells that both ran at the same time and are compared over that; otherwise the
	// new one is held against the time before it.
	Beside bool `json:"beside"`
	// Before and After are the ids of what was compared, as sources.
	Before string `json:"before"`
	After  string `json:"after"`
	// Judged is how many functions there were enough data of, More and Less those that take more or
	// less beyond chance, the greatest change first; Others is how many are left out.
	Judged int           `json:"judged"`
	More   []FleetChange `json:"more"`
	Less   []FleetChange `json:"less"`
	Others int           `json:"others"`
	// Note says why nothing was judged, or what a verdict rests on.
	Note string `json:"note"`
}

// FleetChange is how much more or less a function takes than before, as a share of all that
// the service took before.
type FleetChange struct {
	Function string  `json:"function"`
	Change   float64 `json:"change"`
	Low      float64 `json:"low"` // of 95 %
	High     float64 `json:"high"`
	Old      float64 `json:"old"`
	New      float64 `json:"new"`
	// False is the share of false alarms among all functions that changed as much.
	False float64 `json:"false"`
	Shown string  `json:"shown"` // "+3.10 % [2.40, 3.90]"
}

// FleetIncidents are the moments at which alert rules have fired for targets.
type FleetIncidents struct {
	// Watches tells that there are rules.
	Watches   bool            `json:"watches"`
	Rules     []FleetRule     `json:"rules"`
	Incidents []FleetIncident `json:"incidents"` // the newest first
}

// FleetRule is a rule that is in force.
type FleetRule struct {
	Rule string `json:"rule"`
	// Targets is how many it is for, Known how many of those tell the figure that it is of: for
	// the others it cannot fire.
	Targets int `json:"targets"`
	Known   int `json:"known"`
}

// FleetIncident is one of the moments.
type FleetIncident struct {
	At      int64  `json:"at_ms"` // since 1970
	Service string `json:"service"`
	Target  string `json:"target"`
	Rule    string `json:"rule"`
	Why     string `json:"why"`
	// Again counts how often the rule has fired again soon after.
	Again int `json:"again"`
	// Source is the id of its recording, "" for none; Note says why there is none, or not all of it.
	Source string `json:"source"`
	Note   string `json:"note"`
	Size   string `json:"size"`
	// Folder is where the recording lies on the machine of the server, or its name in the bucket that has it.
	Folder string `json:"folder"`
	// Download is the path on the server where it can be downloaded, packed.
	Download string `json:"download"`
}

var fleetEndpoints = []endpoint{
	all("fleet/services", fleetAnswer(Fleet.Services)),
	all("fleet/lines", fleetAnswer(Fleet.Lines)),
	all("fleet/functions", fleetAnswer(Fleet.Functions)),
	all("fleet/spread", fleetAnswer(Fleet.Spread)),
	all("fleet/regressions", fleetAnswer(Fleet.Regressions)),
	all("fleet/targets", func(_ context.Context, s *Server, _ *query) (*FleetTargets, error) {
		if s.opts.Fleet == nil {
			return nil, errNoFleet
		}
		return s.opts.Fleet.Targets(), nil
	}),
	all("fleet/pins", func(ctx context.Context, s *Server, _ *query) (*FleetPins, error) {
		if s.opts.Fleet == nil {
			return nil, errNoFleet
		}
		return s.opts.Fleet.Pins(ctx)
	}),
	post(all(FleetPinPaths[0], func(ctx context.Context, s *Server, q *query) (bool, error) {
		if s.opts.Fleet == nil {
			return false, errNoFleet
		}
		question, err := fleetQuestion(q)
		if err == nil {
			err = s.opts.Fleet.Pin(ctx, q.Get("name"), q.Get("reason"), question)
		}
		return err == nil, err
	})),
	post(all(FleetPinPaths[1], func(ctx context.Context, s *Server, q *query) (bool, error) {
		if s.opts.Fleet == nil {
			return false, errNoFleet
		}
		err := s.opts.Fleet.Unpin(ctx, q.Get("name"))
		return err == nil, err
	})),
	all("fleet/incidents", func(_ context.Context, s *Server, _ *query) (*FleetIncidents, error) {
		if s.opts.Fleet == nil {
			return nil, errNoFleet
		}
		return s.opts.Fleet.Incidents(), nil
	}),
}

var errNoFleet = nothing("There is no store of profiles here: loupe serve has one.")

// fleetAnswer asks the fleet of a server.
func fleetAnswer[T any](ask func(Fleet, context.Context, FleetQuestion) (T, error)) func(context.Context, *Server, *query) (T, error) {
	return func(ctx context.Context, s *Server, q *query) (T, error) {
		var none T
		if s.opts.Fleet == nil {
			return none, errNoFleet
		}
		question, err := fleetQuestion(q)
		if err != nil {
			return none, err
		}
		return ask(s.opts.Fleet, ctx, question)
	}
}

// usualFleetRange is how long a question goes back that says nothing of it, and
// maxFleetRange the most that one may.
const (
	usualFleetRange = time.Hour
	maxFleetRange   = 10 * 365 * 24 * time.Hour
)

// fleetQuestion reads the parameters of a question: from and until in ms since 1970, or
// last in ms, select, type and by.
func fleetQuestion(q *query) (FleetQuestion, error) {
	out := FleetQuestion{Select: q.Get("select"), Type: q.Get("type"), By: q.Get("by"), Last: usualFleetRange}
	from, err := q.number("from", 0)
	if err != nil {
		return out, err
	}
	until, err := q.number("until", 0)
	if err != nil {
		return out, err
	}
	last, err := q.number("last", usualFleetRange.Milliseconds())
	if err != nil {
		return out, err
	}
	if last <= 0 || last > maxFleetRange.Milliseconds() || from < 0 || until < 0 || until > 0 && (until <= from || until-from > maxFleetRange.Milliseconds()) {
		return out, &refusal{http.StatusBadRequest, "the range has no length, or one of more than ten years"}
	}
	out.Last = time.Duration(last) * time.Millisecond
	if until > 0 {
		out.From, out.Until = time.UnixMilli(from), time.UnixMilli(until)
	}
	return out, nil
}
