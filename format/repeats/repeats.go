// Package repeats reads which calls of a program repeat: that had the arguments of an
// earlier one, and returned what that had returned. loupe run counts them in a run of its
// own (docs/formats/repeats.md).
package repeats

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Schema names the format of the file.
const Schema = "loupe.repeats/1"

// Set is what was counted of a program.
type Set struct {
	Schema string `json:"schema"`
	// Loaded tells that a load was put on the program.
	Loaded bool `json:"loaded,omitempty"`
	// For is how long it was counted.
	For       time.Duration `json:"ns"`
	Functions []Func        `json:"functions"`
	Within    []Within      `json:"within"`
	// Files have how often their blocks were entered; recordings older than that have none.
	Files []File `json:"files,omitempty"`

	// Last tells of what [ReadCounts] has read that it was written when the program ended: otherwise calls may be missing.
	Last bool `json:"-"`
}

// Func is a function whose calls were counted.
type Func struct {
	// Name is that of its symbol, without type parameters; a function without a name has
	// that of the one around it, and ".func".
	Name string `json:"name"`
	// File is where it stands, Line where it begins.
	File string `json:"file"`
	Line int    `json:"line"`
	// Caller is the function around, where this is the call of a function of another module on Line: Name is then what the source calls. It is
	// empty of functions of the program's modules.
	Caller string `json:"caller,omitempty"`
	// Calls and Time are of all that were counted: Time without what counting took, and
	// without calls within calls of the same function.
	Calls int64         `json:"calls"`
	Time  time.Duration `json:"time_ns"`
	// Cut tells that it was counted no more from some moment on, as that took too long.
	Cut bool `json:"cut,omitempty"`
	// Together is how many calls began while others with the same arguments went on on other goroutines, where pointers and maps are the
	// same if they lead to one place; TogetherTime is what they took, Apart how many of them returned something else
	// than one of those, AtOnce the largest number that went on at once.
	Together     int64         `json:"together,omitempty"`
	TogetherTime time.Duration `json:"together_ns,omitempty"`
	Apart        int64         `json:"apart,omitempty"`
	AtOnce       int64         `json:"at_once,omitempty"`
	// Everywhere are its calls in the whole run, on all goroutines and whatever was around them; nil where none had the arguments of an
	// earlier one. Calls shorter than 4 µs on average are not followed so.
	Everywhere *Counts `json:"everywhere,omitempty"`
	// Recursion are its calls within its own; nil where none had the arguments of one that had ended.
	Recursion *Recursion `json:"recursion,omitempty"`
}

// Cut is how many functions were counted no more from some moment on.
func (s *Set) Cut() (n int64) {
	for _, f := range s.Functions {
		if f.Cut {
			n++
		}
	}
	return n
}

// Counts are what was counted of some calls of a function.
type Counts struct {
	// Calls took Time together. Distinct is how many different arguments they had, Again how many had those of an
	// earlier one, and AgainTime what these took: estimates where Sampled.
	Calls     int64         `json:"calls"`
	Time      time.Duration `json:"time_ns"`
	Distinct  int64         `json:"distinct"`
	Again     int64         `json:"again"`
	AgainTime time.Duration `json:"again_ns"`
	Sampled   bool          `json:"sampled,omitempty"`
	// Differ is how many of Again returned something else than the first with the same arguments.
	Differ int64 `json:"differ,omitempty"`
	Traits
}

// possible tells that counts do not contradict each other.
func (c *Counts) possible() bool {
	return sane(c.Calls, int64(c.Time), c.Distinct, c.Again, int64(c.AgainTime), c.Differ) && c.Distinct <= c.Calls && c.Again <= c.Calls && c.AgainTime <= c.Time
}

// Within are the calls of one function during calls of another on the same goroutine, directly or
// through others.
type Within struct {
	// In and Call are the two functions, as indexes of Set.Functions.
	In   int `json:"in"`
	Call int `json:"call"`
	// Open tells that the calls around had not ended when the program did.
	Open bool `json:"open,omitempty"`
	// Around is how many calls there were around, and AroundTime what they took as long as
	// the calls in them were counted.
	Around     int64         `json:"around"`
	AroundTime time.Duration `json:"around_ns"`
	// WholeTime is what the calls around took, however long the calls in them were counted; 0 in files that do not have it.
	WholeTime time.Duration `json:"whole_ns,omitempty"`
	// Counts are of the calls in all of those around: Distinct and Again are counted in each of them, and summed up.
	Counts
	// Changed is how many of Again are of a result that was changed after it was returned, of
	// the few that were looked at again.
	Changed int64 `json:"changed,omitempty"`
	// Most is the largest number of calls in one call around, MostOne that of calls with the
	// same arguments.
	Most    int64 `json:"most"`
	MostOne int64 `json:"most_one"`
	// Same is how many calls around had the arguments of others, of which some made the call and some did not; Made is how many of them
	// made it. Only of functions whose calls went on together.
	Same int64 `json:"same,omitempty"`
	Made int64 `json:"made,omitempty"`
	// Course are the calls by their number within the call around: the first, the second and third, the next
	// four, and so on, each step with twice as many numbers. It is empty where there were few. Where a function is counted no
	// more, one call in 64 stands for all of them, in calls around that had begun before.
	Course []Step `json:"course,omitempty"`
}

// Step are calls with numbers that have as many binary digits.
type Step struct {
	Calls int64         `json:"calls"`
	Time  time.Duration `json:"time_ns"`
	// Size is how many elements texts, slices and maps had that they were given, together.
	Size int64 `json:"size,omitempty"`
	// Digits is the sum of the binary logarithms of the calls' times in ns, in thousandths: divided by the number of calls that of
	// their geometric mean, in which one call that had to wait for a CPU counts as one.
	Digits int64 `json:"digits,omitempty"`
}

// Typical is the geometric mean of the time of a call; 0 where there is none.
func (s Step) Typical() time.Duration {
	switch {
	case s.Calls == 0:
		return 0
	case s.Digits == 0: // a file that does not have it
		return s.Time / time.Duration(s.Calls)
	}
	return time.Duration(math.Exp2(min(62, float64(s.Digits)/1000/float64(s.Calls))))
}

// Traits are what some of the calls had, which limits what can be said of all.
type Traits struct {
	// Partial: arguments that could not be hashed as a whole.
	Partial bool `json:"partial,omitempty"`
	// Vague: the same of results.
	Vague bool `json:"vague,omitempty"`
	// Plain: nothing but numbers, truth values and errors were returned.
	Plain bool `json:"plain,omitempty"`
	// Writes: an argument has a method Write.
	Writes bool `json:"writes,omitempty"`
	// Alters: arguments were changed during the call.
	Alters bool `json:"alters,omitempty"`
	// Void: nothing, or an error alone, was returned.
	Void bool `json:"void,omitempty"`
	// Refers: results have pointers, slices or maps.
	Refers bool `json:"refers,omitempty"`
	// Fails: an error was returned.
	Fails bool `json:"fails,omitempty"`
	// Handles: results have what is the system's, as connections and files, channels or functions.
	Handles bool `json:"handles,omitempty"`
	// Maps: results have maps.
	Maps bool `json:"maps,omitempty"`
	// Large: arguments had more than is looked at; files of older versions do not tell.
	Large bool `json:"large,omitempty"`
	// First: of the partial ones, the first, which is the receiver of a method; Others: another one. Files of older versions do not tell.
	First  bool `json:"partial_first,omitempty"`
	Others bool `json:"partial_others,omitempty"`
	// Unknown: arguments lead to something that nothing shows: a reflect.Value, what a function has caught, an unsafe pointer. Files of older versions do not tell.
	Unknown bool `json:"unknown,omitempty"`
}

// traitsOf reads the bits that the counting code writes (capture/agent/repeats).
func traitsOf(bits int64) Traits {
	has := func(i uint) bool { return bits&(1<<i) != 0 }
	return Traits{Partial: has(0), Vague: has(1), Plain: has(2), Writes: has(3), Alters: has(4), Void: has(5), Refers: has(6), Fails: has(7), Handles: has(8), Maps: has(9), Large: has(10), First: has(11), Others: has(12), Unknown: has(13)}
}

// Limits of what is read.
const (
	mostBytes  = 64 << 20
	mostWithin = 4_000
	mostFuncs  = 1 << 15
)

// pairFields are the numbers behind "p" in a line of the counting code.
const pairFields = 17

// ReadCounts reads what the counting code has written of functions, which it knows by
// their numbers. Of pairs it keeps those with calls that repeat, or that take a tenth of the calls
// around them, at most 4,000, those whose repeated calls took longest.
func ReadCounts(r io.Reader, funcs []Func, counted Counted) (*Set, error) {
	s := &Set{Schema: Schema, Functions: slices.Clone(funcs)}
	sc := bufio.NewScanner(io.LimitReader(r, mostBytes))
	ended := false
	at := counter{Set: s, rows: map[[2]int64]int{}, blocks: make([]int64, len(counted.Blocks)), loops: make([]Loop, len(counted.Loops))}
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if n == 1 {
			ns, ok := strings.CutPrefix(line, "loupe repeats 1 ")
			v, err := strconv.ParseInt(ns, 10, 64)
			if !ok || err != nil {
				return nil, fmt.Errorf("line 1 is %.40q, want loupe repeats 1 and a time", line)
			}
			s.For = time.Duration(v)
			continue
		}
		if ended = line == "end" || line == "end last"; ended {
			s.Last = line == "end last"
			break
		}
		if err := at.count(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if !ended {
		return nil, errors.New("it is cut: the last line is missing")
	}
	slices.SortFunc(s.Within, func(a, b Within) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(a.In, b.In), cmp.Compare(a.Call, b.Call))
	})
	s.Within = s.Within[:min(len(s.Within), mostWithin)]
	at.files(counted)
	return s, nil
}

// weight is what a row may have to say something about: the time of calls that repeat, and all of it where there is a course.
func (w *Within) weight() time.Duration {
	if len(w.Course) > 0 || w.Again == 0 {
		return max(w.Time, w.CourseTime())
	}
	return w.AgainTime
}

// CourseTime is what all calls of the course took, with those for which others stand.
func (w *Within) CourseTime() (sum time.Duration) {
	for _, x := range w.Course {
		sum += x.Time
	}
	return sum
}

// counter reads lines of counts into a set.
type counter struct {
	*Set
	kept bool             // the last pair is
	rows map[[2]int64]int // pairs whose calls around have ended, with their places in Within
	// By their numbers:
	blocks []int64
	loops  []Loop
}

// count reads a line of counts.
func (s *counter) count(line string) error {
	kind, rest, _ := strings.Cut(line, " ")
	var v []int64
	for _, word := range strings.Fields(rest) {
		x, err := strconv.ParseInt(word, 10, 64)
		if err != nil || x < 0 {
			return fmt.Errorf("%.20q is no number", word)
		}
		v = append(v, x)
	}
	known := func(i int64) bool { return i < int64(len(s.Functions)) }
	switch {
	case kind == "f" && len(v) == 5 && known(v[0]):
		f := &s.Functions[v[0]]
		f.Calls, f.Time, f.Cut = v[1], time.Duration(v[2]), v[4] > 0
	case kind == "p" && len(v) == pairFields && known(v[0]) && known(v[1]):
		// Of pairs without one those are kept that show what a call consists of.
		if s.kept = v[8] > 0 || v[6] >= v[4]/10 || v[16] > v[4]; !s.kept { // the last: counting has ended before the calls around
			return nil
		}
		if v[2] == 0 {
			s.rows[[2]int64{v[0], v[1]}] = len(s.Within)
		}
		s.Within = append(s.Within, Within{
			In: int(v[0]), Call: int(v[1]), Open: v[2] > 0, Around: v[3], AroundTime: time.Duration(v[4]), WholeTime: time.Duration(v[16]),
			Counts: Counts{
				Calls: v[5], Time: time.Duration(v[6]), Distinct: v[7], Again: v[8], AgainTime: time.Duration(v[9]),
				Differ: v[10], Sampled: v[12] > 0, Traits: traitsOf(v[15]),
			},
			Changed: v[11], Most: v[13], MostOne: v[14],
		})
	case kind == "t" && len(v) == 5 && known(v[0]):
		f := &s.Functions[v[0]]
		f.Together, f.TogetherTime, f.Apart, f.AtOnce = v[1], time.Duration(v[2]), v[3], v[4]
	case kind == "e" && len(v) == 9 && known(v[0]):
		s.Functions[v[0]].Everywhere = &Counts{
			Calls: v[1], Time: time.Duration(v[2]), Distinct: v[3], Again: v[4], AgainTime: time.Duration(v[5]), Differ: v[6], Sampled: v[7] > 0, Traits: traitsOf(v[8]),
		}
	case kind == "r" && len(v) == recursionFields && known(v[0]):
		s.Functions[v[0]].Recursion = recursionOf(v[1:])
	case kind == "s" && len(v) == 4 && known(v[0]) && known(v[1]):
		if i, ok := s.rows[[2]int64{v[0], v[1]}]; ok {
			s.Within[i].Same, s.Within[i].Made = v[2], v[3]
		}
	case kind == "b" && len(v) > 1 && len(v) <= 1+mostInLine && v[0] <= mostBlocks:
		return s.blockCounts(v)
	case kind == "l" && len(v) == loopFields && v[0] < int64(len(s.loops)):
		s.loops[v[0]] = Loop{Entered: max(v[1], v[2]), // of which some are lost where goroutines begin it at once
			Looked: v[2], Size: v[3], Contents: v[4], Paired: v[5], Alike: v[6]}
	case kind == "c" && len(v) == 4:
		if s.kept && len(s.Within) > 0 {
			w := &s.Within[len(s.Within)-1]
			w.Course = append(w.Course, Step{v[0], time.Duration(v[1]), v[2], v[3]})
		}
		if len(s.Within) > 0 && len(s.Within[len(s.Within)-1].Course) > 64 {
			return errors.New("a course has more than 64 steps")
		}
	default:
		return fmt.Errorf("%.40q is neither a function, a pair, a block nor a loop of known ones", line)
	}
	return nil
}

// Encode writes the set as JSON, without functions that nothing is said of.
func (s *Set) Encode(w io.Writer) error {
	out := *s
	out.Functions, out.Within = nil, slices.Clone(s.Within)
	at := map[int]int{}
	place := func(i int) int {
		j, ok := at[i]
		if !ok {
			j = len(out.Functions)
			at[i] = j
			out.Functions = append(out.Functions, s.Functions[i])
		}
		return j
	}
	for i := range out.Within {
		p := &out.Within[i]
		p.In, p.Call = place(p.In), place(p.Call)
	}
	for i, f := range s.Functions {
		if f.Calls > 0 {
			place(i)
		}
	}
	return json.NewEncoder(w).Encode(&out)
}

// Decode reads what Encode has written. It errs where data is not that, or speaks of functions that it
// does not have.
func Decode(data []byte) (*Set, error) {
	if len(data) > mostBytes {
		return nil, fmt.Errorf("it has %d MB, at most %d are read", len(data)>>20, mostBytes>>20)
	}
	s := &Set{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	switch {
	case s.Schema != Schema:
		return nil, fmt.Errorf("its schema is %.40q, want %s", s.Schema, Schema)
	case len(s.Functions) > mostFuncs:
		return nil, fmt.Errorf("it has %d functions, at most %d are read", len(s.Functions), mostFuncs)
	}
	for i, f := range s.Functions {
		if f.Name == "" || len(f.Name) > mostName || len(f.File) > mostName || len(f.Caller) > mostName || f.Line < 0 || f.Line > mostLine || !f.possible() {
			return nil, fmt.Errorf("function %d: no such function is possible", i)
		}
	}
	if len(s.Within) > mostWithin {
		return nil, fmt.Errorf("it has %d rows, at most %d are read", len(s.Within), mostWithin)
	}
	if len(s.Files) > mostFiles {
		return nil, fmt.Errorf("it has %d files, at most %d are read", len(s.Files), mostFiles)
	}
	for i := range s.Files {
		if !s.Files[i].possible() {
			return nil, fmt.Errorf("blocks of file %d: no such counts are possible", i)
		}
	}
	type row struct {
		in, call int
		open     bool
	}
	seen := map[row]bool{}
	for _, p := range s.Within {
		at := row{p.In, p.Call, p.Open}
		if seen[at] || !s.possible(p) {
			return nil, fmt.Errorf("calls of function %d within function %d: no such counts are possible", p.Call, p.In)
		}
		if err := s.fits(p); err != nil {
			return nil, err
		}
		seen[at] = true
	}
	if s.total() > mostInAll {
		return nil, errors.New("its counts and times are more together than a program can have")
	}
	return s, nil
}

// fits errs where a row contradicts what the set has of its two functions, as far as all of their calls were counted: each call around had one
// that is counted in it.
func (s *Set) fits(p Within) error {
	in, call := &s.Functions[p.In], &s.Functions[p.Call]
	var wrong string
	switch {
	case !call.Cut && p.Calls > call.Calls:
		wrong = fmt.Sprintf("%d calls, of the %d that there were", p.Calls, call.Calls)
	case !call.Cut && p.Around > p.Calls:
		wrong = fmt.Sprintf("%d calls within %d", p.Calls, p.Around)
	case !in.Cut && !p.Open && p.Around > in.Calls:
		wrong = fmt.Sprintf("within %d calls, of the %d that there were", p.Around, in.Calls)
	case p.Calls == 0 && p.Time > 0:
		wrong = fmt.Sprintf("no calls, which took %v", p.Time)
	default:
		return nil
	}
	return fmt.Errorf("calls of %.100q within %.100q: %s are not possible", call.Name, in.Name, wrong)
}

// total is what all counts and times are together, as far as somebody may add them up.
func (s *Set) total() (sum float64) {
	add := func(all ...int64) {
		for _, n := range all {
			sum += float64(n)
		}
	}
	for _, f := range s.Functions {
		add(f.Calls, int64(f.Time), int64(f.TogetherTime))
	}
	for _, w := range s.Within {
		add(w.Around, int64(w.AroundTime), int64(w.WholeTime), w.Calls, int64(w.Time))
		for _, x := range w.Course {
			add(x.Calls, int64(x.Time), x.Size, x.Digits)
		}
	}
	for _, f := range s.Files {
		for _, b := range f.Blocks {
			add(b.Count)
		}
		for _, l := range f.Loops {
			add(l.Entered, l.Size)
		}
	}
	return sum
}

// What a file may say.
const (
	mostName  = 4 << 10
	mostLine  = 1 << 24
	mostCount = 1 << 53
	mostSteps = 64
	mostInAll = 1 << 62
)

// sane tells that counts and times are such.
func sane(all ...int64) bool {
	return !slices.ContainsFunc(all, func(n int64) bool { return n < 0 || n > mostCount })
}

// possible tells that what is said of a function does not contradict itself.
func (f *Func) possible() bool {
	if f.Everywhere != nil && !f.Everywhere.possible() || f.Recursion != nil && !f.Recursion.possible() {
		return false
	}
	if e := f.Everywhere; e != nil && !f.Cut && e.Calls > f.Calls {
		return false
	}
	return sane(f.Calls, int64(f.Time), f.Together, int64(f.TogetherTime), f.Apart, f.AtOnce) && f.Together <= f.Calls && f.Apart <= f.Together && (f.Calls > 0 || f.Time == 0)
}

// possible tells that a row does not contradict itself.
func (s *Set) possible(p Within) bool {
	if p.In < 0 || p.Call < 0 || p.In >= len(s.Functions) || p.Call >= len(s.Functions) || p.In == p.Call || len(p.Course) > mostSteps {
		return false
	}
	for _, x := range p.Course {
		if !sane(x.Calls, int64(x.Time), x.Size, x.Digits) {
			return false
		}
	}
	return p.Around >= 1 && p.Counts.possible() && sane(p.Around, int64(p.AroundTime), int64(p.WholeTime), p.Changed, p.Most, p.MostOne, p.Same, p.Made) &&
		p.Made <= p.Same && p.Most <= p.Calls && p.MostOne <= p.Calls
}
