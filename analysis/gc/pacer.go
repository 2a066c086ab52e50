package gc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// GOGCOff is the GOGC with which the heap's growth starts no collection.
const GOGCOff = -1

// NoLimit is the memory limit of a program that was given none.
const NoLimit = 0

// Settings are the two knobs of the collector, which the environment variables
// GOGC and GOMEMLIMIT set.
type Settings struct {
	// GOGC is by how many percent of what marking has to do the heap grows
	// from one collection to the next; [GOGCOff] for not by growth at all.
	GOGC int `json:"gogc"`
	// Limit is the soft memory limit in bytes; [NoLimit] for none.
	Limit int64 `json:"memory_limit,omitempty"`
}

// String writes s as the environment has it.
func (s Settings) String() string {
	out := "GOGC=off"
	if s.GOGC >= 0 {
		out = fmt.Sprintf("GOGC=%d", s.GOGC)
	}
	if s.Limit > 0 {
		out += " GOMEMLIMIT=" + limitText(s.Limit)
	}
	return out
}

// Environ is s for the environment of a program. A limit that is not set is
// written too, so that one which is there does not count.
func (s Settings) Environ() []string {
	gogc, limit := "GOGC=off", "GOMEMLIMIT=off"
	if s.GOGC >= 0 {
		gogc = fmt.Sprintf("GOGC=%d", s.GOGC)
	}
	if s.Limit > 0 {
		limit = fmt.Sprintf("GOMEMLIMIT=%d", s.Limit)
	}
	return []string{gogc, limit}
}

// limitText writes a limit in the largest unit that holds it exactly.
func limitText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprint(n/u.size) + u.name
		}
	}
	return fmt.Sprint(n) + "B"
}

// ParseSettings reads "GOGC=200 GOMEMLIMIT=400MiB". What is not named is taken
// from base. Values are those that the runtime takes, and nothing else: a
// setting that it would not understand must not be predicted.
func ParseSettings(text string, base Settings) (Settings, error) {
	s := base
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return s, fmt.Errorf("cannot read the setting %q (write GOGC=200, GOGC=off or GOMEMLIMIT=400MiB)", word)
		}
		var err error
		switch name {
		case "GOGC":
			s.GOGC, err = parseGOGC(value)
		case "GOMEMLIMIT":
			s.Limit, err = ParseLimit(value)
		default:
			err = fmt.Errorf("cannot predict what %q does (only GOGC and GOMEMLIMIT)", name)
		}
		if err != nil {
			return s, err
		}
	}
	return s, nil
}

func parseGOGC(value string) (int, error) {
	if value == "off" {
		return GOGCOff, nil
	}
	// The runtime reads 32 bits; a negative number is off.
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("cannot read GOGC=%q (a percentage such as 200, or off)", value)
	}
	return int(max(n, GOGCOff)), nil
}

// ParseLimit reads a limit as GOMEMLIMIT has it: a number of bytes, KiB, MiB,
// GiB or TiB, or "off".
func ParseLimit(value string) (int64, error) {
	if value == "off" {
		return NoLimit, nil
	}
	number, scale := value, int64(1)
	for i, u := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if cut, ok := strings.CutSuffix(value, u); ok {
			number, scale = cut, 1<<(10*(i+1))
		}
	}
	if scale == 1 {
		number = strings.TrimSuffix(number, "B")
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/scale {
		return 0, fmt.Errorf("cannot read GOMEMLIMIT=%q (a number with B, KiB, MiB, GiB or TiB, or off)", value)
	}
	return n * scale, nil
}

// The constants of the pacer, of runtime/mgcpacer.go.
const (
	backgroundShare = 0.25    // gcBackgroundUtilization: of the Ps, for marking
	heapMinimum     = 4 << 20 // defaultHeapMinimum, at GOGC=100
	minRunway       = 64 << 10
	sweepDistance   = 1 << 20   // sweepMinHeapDistance
	lowTrigger      = 45.0 / 64 // minTriggerRatioNum / triggerRatioDen
	highTrigger     = 61.0 / 64 // maxTriggerRatioNum
	limitHeadroom   = 3.0 / 100 // memoryLimitHeapGoalHeadroomPercent, since Go 1.21
	limitSlack      = 1 << 20   // memoryLimitMinHeapGoalHeadroom
	consMarks       = 5         // how many cons/mark ratios the pacer remembers
	forcePeriod     = 120_000.0 // forcegcperiod, in ms
	limiterShare    = 0.5       // above which the CPU limiter stops assists
	limiterCapacity = 1000.0    // capacityPerProc, in ms of each P
	endless         = 1 << 50   // no heap gets as large
)

// HeapGoal is the size in bytes that the heap is to have at the end of the
// next collection, before a memory limit: gcControllerState.commit of
// runtime/mgcpacer.go, the same from Go 1.18 on. live is what the last
// collection marked, stacks and globals what of them it scans.
func HeapGoal(gogc int, live, stacks, globals float64) float64 {
	if gogc < 0 {
		return endless
	}
	percent := float64(gogc) / 100
	return min(endless, max(live+(live+stacks+globals)*percent, heapMinimum*percent))
}

// LimitGoal is the same for a memory limit: memoryLimitHeapGoal of
// runtime/mgcpacer.go. other is all memory that the runtime has mapped and that
// is not, and cannot become, objects on the heap.
//
// Note: the runtime also takes off by how much the limit is exceeded now. In a
// state that lasts that is zero; where it would not be, this goal is at the
// live heap already.
func LimitGoal(limit int64, live, other float64) float64 {
	if limit <= 0 {
		return endless
	}
	if other >= float64(limit) {
		return live
	}
	goal := float64(limit) - other
	headroom := max(goal*limitHeadroom, limitSlack)
	return max(live, goal-headroom, headroom)
}

// Trigger is the size of the heap at which the next collection begins:
// gcControllerState.trigger. runway is how much the program is expected to
// allocate while a collection marks.
func Trigger(live, goal, runway float64) float64 {
	if live >= goal {
		return goal
	}
	least := live + (goal-live)*lowTrigger
	most := max(live+(goal-live)*highTrigger, goal-heapMinimum, least)
	return min(max(goal-runway, least), most)
}
