package web

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/dump"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var goroutineEndpoints = []endpoint{
	on("goroutines/shots", func(ctx context.Context, s *subject, q *query) ([]shotItem, error) { return shotsOf(ctx, s, q) }),
	on("goroutines/view", viewGoroutines),
	on("goroutines/group", viewGroup),
	on("goroutines/one", viewGoroutine),
	on("goroutines/range", goroutinesOver),
	on("goroutines/trends", goroutineTrends),
}

// goroutineView is a look at a shot.
type goroutineView struct {
	Of shotItem `json:"of"`
	// Against is the shot that changes are counted from; null for none.
	Against *shotItem `json:"against"`
	Total   int64     `json:"total"`  // goroutines that fit the filter
	Before  int64     `json:"before"` // in the other shot
	Groups  *table    `json:"groups"`
	// Rows says of each row of Groups what opens it.
	Rows     []goroutineRow `json:"rows"`
	States   *table         `json:"states"`
	Ages     []ageBar       `json:"ages"`
	Suspects []string       `json:"suspects"`
	Panic    *panicView     `json:"panic"` // null where nothing has failed
	Races    []raceView     `json:"races"`
	Notes    []string       `json:"notes"`
}

// goroutineRow is what a row of groups does not show.
type goroutineRow struct {
	// Key names the group in an address.
	Key    string `json:"key"`
	Leaked bool   `json:"leaked"`
	// Suspect says why the group is worth a look, "" for nothing.
	Suspect string `json:"suspect"`
	// Entry is the function that its goroutines began with.
	Entry string `json:"entry"`
}

type ageBar struct {
	Text  string `json:"text"`
	Count int64  `json:"count"`
}

// panicView is why a dump was printed.
type panicView struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Signal  string   `json:"signal"`
	Values  []string `json:"values"`
	// First is the goroutine that failed; null where it is not in the dump.
	First   *goroutineText `json:"first"`
	Threads []threadView   `json:"threads"`
}

type threadView struct {
	Title     string         `json:"title"`
	Registers []registerView `json:"registers"`
}

type registerView struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// raceView is a report of the race detector.
type raceView struct {
	Accesses []accessView `json:"accesses"`
}

type accessView struct {
	Title  string      `json:"title"`
	Frames []frameView `json:"frames"`
}

// goroutineText is one goroutine as it stands in a dump.
type goroutineText struct {
	ID     uint64      `json:"id"`
	Title  string      `json:"title"`
	Frames []frameView `json:"frames"`
}

// frameView is one frame. The function of a go statement is the one that it is in.
type frameView struct {
	Function string `json:"function"`
	Args     string `json:"args"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Inlined  bool   `json:"inlined"`
	Created  bool   `json:"created"`
	PC       string `json:"pc"`
	// Params are what the words of Args are, and Why says why they are not told.
	Params []paramView `json:"params,omitempty"`
	Why    string      `json:"why,omitempty"`
}

// paramView is a parameter with its value as it was in the memory of the program.
type paramView struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Text string `json:"text"`
	// Sure tells that the value was alive; else Text says how far it is to be
	// believed.
	Sure bool `json:"sure"`
}

// look is what a question about goroutines is of.
type look struct {
	of, vs *shot
	by     string
	keep   func(g int) bool // of
	before func(g int) bool // vs
}

// lookOf reads what a question is of.
func lookOf(ctx context.Context, s *subject, q *query) (*look, error) {
	list, err := shotsOf(ctx, s, q)
	if err != nil {
		return nil, err
	}
	find := func(id string) (shotItem, error) {
		// A core is named by its file as well: it is one shot.
		if i := slices.IndexFunc(list, func(x shotItem) bool { return x.ID == id || x.Kind == "core" && x.Name == id }); i >= 0 {
			return list[i], nil
		}
		if rest, ok := strings.CutPrefix(id, "trace-"); ok && slices.ContainsFunc(list, func(x shotItem) bool { return x.Kind == "trace" }) {
			if at, err := strconv.ParseInt(rest, 10, 64); err == nil {
				return shotItem{id, "trace", "", "the trace at " + unit.Duration(time.Duration(at)), timeline.Time(at), -1}, nil
			}
		}
		return shotItem{}, nothing("there is no %q in this source", id)
	}
	of, err := find(cmp.Or(q.Get("of"), firstShot(list)))
	if err != nil {
		return nil, err
	}
	l := &look{by: cmp.Or(q.Get("by"), "stack")}
	if !slices.Contains([]string{"stack", "state", "creator", "function"}, l.by) {
		return nil, &refusal{http.StatusBadRequest, "group by stack, state, creator or function"}
	}
	if l.of, err = shotOf(ctx, s, of); err != nil {
		return nil, err
	}
	filter, err := dump.ParseFilter(shotFilter(q.Get("q")))
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	l.keep = l.of.chosen(filter)
	vs := cmp.Or(q.Get("vs"), otherShot(list, of))
	if vs == "none" || vs == of.ID {
		return l, nil
	}
	item, err := find(vs)
	if err != nil {
		return nil, err
	}
	if l.vs, err = shotOf(ctx, s, item); err != nil {
		return nil, err
	}
	l.before = l.vs.chosen(filter)
	return l, nil
}

// firstShot is what is shown until something else is chosen: the last dump of
// the file that is named first, else the end of the trace, else a profile.
func firstShot(list []shotItem) string {
	id := list[0].ID
	for _, x := range list {
		if x.Kind == list[0].Kind && (x.Kind == "trace" || (x.Kind == "dump" || x.Kind == "core") && x.Name == list[0].Name) {
			id = x.ID
		}
	}
	return id
}

// otherShot is what changes are counted from until something else is chosen:
// the first of the same kind, which is the beginning.
func otherShot(list []shotItem, of shotItem) string {
	for _, x := range list {
		if x.Kind == of.Kind && x.ID != of.ID && strings.HasPrefix(x.ID, "goroutineleak") == strings.HasPrefix(of.ID, "goroutineleak") {
			if x.At > of.At {
				return "none"
			}
			return x.ID
		}
	}
	return "none"
}

// chosen combines the goroutines of the shot with a filter.
func (x *shot) chosen(f *dump.Filter) func(g int) bool {
	if f == nil {
		return x.keep
	}
	fits := f.KeepAged(x.file, x.age)
	return func(g int) bool { return x.keep(g) && fits(g) }
}

var filterTerm = regexp.MustCompile(`^(?:[a-z]+(?:!=|!~|>=|<=|=|~|>|<).*|leaked|locked)$`)

// shotFilter turns what people type into a filter of loupe stacks: key:text is a
// part of a word in whatever case, g12 a goroutine, and all else a part of a
// function or file.
func shotFilter(text string) string {
	var terms []string
	for _, word := range words(text) {
		key, value, ok := strings.Cut(word, ":")
		switch _, err := strconv.ParseUint(strings.TrimPrefix(word, "g"), 10, 64); {
		case filterTerm.MatchString(word):
		case ok && value != "" && slices.Contains([]string{"state", "func", "creator", "label"}, key):
			word = key + "~(?i)" + regexp.QuoteMeta(value)
		case err == nil && strings.HasPrefix(word, "g"):
			word = "g=" + word[1:]
		default:
			word = "func~(?i)" + regexp.QuoteMeta(word)
		}
		quote := `"`
		if strings.Contains(word, quote) {
			quote = "'"
		}
		terms = append(terms, quote+word+quote)
	}
	return strings.Join(terms, " ")
}

// words cuts a text at blanks outside of quotation marks, which it takes off.
func words(text string) (list []string) {
	var b strings.Builder
	quoted := false
	flush := func() {
		if b.Len() > 0 {
			list = append(list, b.String())
		}
		b.Reset()
	}
	for _, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ' ' && !quoted:
			flush()
		default:
			b.WriteRune(r)
		}
	}
	flush()
	return list
}

// gathered is goroutines that have something in common.
type gathered struct {
	goroutineRow
	count, before int64
	state         string
	stack         stack.ID // of the first one
	file          *dump.File
	ages          []weighted
	suspect       int // its place among what is suspicious, from 1; 0 for none
}

// weighted is an age, and how many goroutines have it.
type weighted struct {
	age   time.Duration
	count int64
}

// key is what a goroutine is grouped by.
func (l *look) key(f *dump.File, g int) string {
	id, state := f.StackIDs[g], f.State(g)
	switch l.by {
	case "state":
		return state.Name
	case "creator":
		_, at := madeAt(f, id)
		return at
	case "function":
		return entryOf(f, id)
	}
	var b strings.Builder
	b.WriteString(state.Name)
	if state.Leaked {
		b.WriteString(" leaked")
	}
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		fmt.Fprintf(&b, "\n%s %s:%d", r.Func, r.File, r.Line)
	}
	return b.String()
}

// hashed shortens a key for addresses.
func hashed(key string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // cannot fail
	return strconv.FormatUint(h.Sum64(), 36)
}

// keys returns the keys of the goroutines of a file: each stack and state is
// looked at once.
func (l *look) keys(f *dump.File) func(g int) string {
	type kind struct {
		stack stack.ID
		state dump.StateID
	}
	seen := map[kind]string{}
	return func(g int) string {
		k := kind{f.StackIDs[g], f.StateIDs[g]}
		key, ok := seen[k]
		if !ok {
			key = hashed(l.key(f, g))
			seen[k] = key
		}
		return key
	}
}

// gather groups the goroutines of both shots.
func (l *look) gather() []*gathered {
	at := map[string]*gathered{}
	var all []*gathered
	each := func(x *shot, keep func(int) bool, add func(*gathered, int, int64)) {
		key := l.keys(x.file)
		for g := range x.file.IDs {
			n := x.file.Count(g)
			if n == 0 || !keep(g) {
				continue
			}
			k := key(g)
			o := at[k]
			if o == nil {
				id := x.file.StackIDs[g]
				o = &gathered{goroutineRow: goroutineRow{Key: k, Leaked: x.file.State(g).Leaked, Entry: entryOf(x.file, id)}, state: x.file.State(g).Name, stack: id, file: x.file}
				at[k] = o
				all = append(all, o)
			}
			add(o, g, n)
		}
	}
	each(l.of, l.keep, func(o *gathered, g int, n int64) {
		o.count += n
		o.ages = append(o.ages, weighted{l.of.age(g), n})
	})
	if l.vs != nil {
		each(l.vs, l.before, func(o *gathered, _ int, n int64) { o.before += n })
	}
	return all
}

// quantile is the age that a share of a group has at most.
func (o *gathered) quantile(share float64) time.Duration {
	rest := int64(share * float64(o.count))
	for _, w := range o.ages {
		if rest -= w.count; rest < 0 {
			return w.age
		}
	}
	return o.ages[len(o.ages)-1].age
}

// maxGroups bounds a table of groups.
const maxGroups = 5000

func viewGoroutines(ctx context.Context, s *subject, q *query) (*goroutineView, error) {
	l, err := lookOf(ctx, s, q)
	if err != nil {
		return nil, err
	}
	v := &goroutineView{Of: l.of.shotItem, Rows: []goroutineRow{}, Ages: []ageBar{}, Suspects: []string{}, Races: []raceView{}, Notes: l.of.notes}
	if l.vs != nil {
		v.Against = &l.vs.shotItem
	}
	all := l.gather()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l.suspects(v, all)
	for _, o := range all {
		v.Total, v.Before = v.Total+o.count, v.Before+o.before
		slices.SortFunc(o.ages, func(a, b weighted) int { return cmp.Compare(a.age, b.age) })
	}
	// What is suspicious first, then what has grown most, then the largest.
	slices.SortStableFunc(all, func(a, b *gathered) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.suspect, 1<<30), cmp.Or(b.suspect, 1<<30)), cmp.Compare(b.count, a.count), cmp.Compare(b.before, a.before))
	})
	if len(all) > maxGroups {
		v.Notes = append(slices.Clone(v.Notes), fmt.Sprintf("%s more groups are not shown.", unit.Count(int64(len(all)-maxGroups))))
		all = all[:maxGroups]
	}
	sheet := l.sheet(all)
	v.Groups = tableOf(sheet)
	for _, o := range all {
		v.Rows = append(v.Rows, o.goroutineRow)
	}
	l.summary(v)
	v.Panic, v.Races = failure(l.of, !handedOn(ctx)), races(l.of)
	return v, nil
}

// sheet is the table of groups.
func (l *look) sheet(all []*gathered) *report.Sheet {
	sheet := &report.Sheet{Key: "goroutines", Columns: []report.Column{{Key: "count", Head: "count"}}}
	column := func(key, head string) { sheet.Columns = append(sheet.Columns, report.Column{Key: key, Head: head}) }
	if l.vs != nil {
		column("change", "change")
	}
	if l.by == "stack" || l.by == "state" {
		column("state", "state")
	}
	column("age_p50_ns", "age p50")
	column("age_max_ns", "longest")
	if l.by != "state" {
		if l.by != "creator" {
			column("function", "function")
		}
		column("created", "made at")
	}
	for _, o := range all {
		row := []any{o.count}
		if l.vs != nil {
			row = append(row, report.Change(o.count-o.before))
		}
		if l.by == "stack" || l.by == "state" {
			row = append(row, o.state)
		}
		row = append(row, l.ages(o)...)
		if l.by != "state" {
			where := report.StackPlace(o.file, o.stack)
			if l.by == "function" {
				where = cmp.Or(o.Entry, "not told")
			}
			if l.by != "creator" {
				row = append(row, where)
			}
			_, made := madeAt(o.file, o.stack)
			row = append(row, cmp.Or(made, "not told"))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	if len(all) == 0 {
		sheet.Notes = append(sheet.Notes, "No goroutine fits the filter.")
	}
	return sheet
}

// ages are the cells with the ages of a group.
func (l *look) ages(o *gathered) []any {
	if len(o.ages) == 0 || o.ages[len(o.ages)-1].age < 0 {
		return []any{nil, nil}
	}
	p50, longest := o.quantile(0.5), o.ages[len(o.ages)-1].age
	if l.of.ages == nil {
		return []any{report.Minutes(p50 / time.Minute), report.Minutes(longest / time.Minute)}
	}
	return []any{p50, longest}
}

// suspects marks the groups that loupe stacks names first.
func (l *look) suspects(v *goroutineView, all []*gathered) {
	at := map[string]*gathered{}
	for _, o := range all {
		at[o.Key] = o
	}
	key := l.keys(l.of.file)
	for i, x := range dump.Suspects(l.of.file, l.keep) {
		text := report.SuspectText(l.of.file, &x)
		v.Suspects = append(v.Suspects, text)
		mark := func(k string) {
			if o := at[k]; o != nil && o.suspect == 0 {
				o.suspect, o.Suspect = i+1, text
			}
		}
		switch {
		case x.Group != nil:
			mark(key(x.Group.Members[0]))
		case x.Lock != nil:
			for g, id := range l.of.file.StackIDs {
				if id == x.Lock.Stack && l.keep(g) && l.of.file.Count(g) > 0 {
					mark(key(g))
					break
				}
			}
		}
	}
}

// summary adds the tables of states and ages.
func (l *look) summary(v *goroutineView) {
	states := &report.Sheet{Key: "states", Columns: []report.Column{{Key: "count", Head: "goroutines"}, {Key: "state", Head: "state"}, {Key: "waited", Head: "waited a minute"}, {Key: "max_ns", Head: "longest"}}}
	for _, x := range l.of.file.StateCounts(l.keep) {
		states.Rows = append(states.Rows, []any{x.Count, x.State, x.Waited, report.Minutes(x.MaxWait)})
	}
	if l.of.ages != nil { // they are told by the groups
		states.Columns = states.Columns[:2]
		for i := range states.Rows {
			states.Rows[i] = states.Rows[i][:2]
		}
	}
	v.States = tableOf(states)
	if l.of.ages != nil {
		return
	}
	for _, a := range l.of.file.AgeCounts(l.keep) {
		if a.Count > 0 {
			v.Ages = append(v.Ages, ageBar{report.AgeText(a), a.Count})
		}
	}
}
