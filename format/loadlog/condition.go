package loadlog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"loupe/value/stats"
	"loupe/value/unit"
)

// Condition is something that is wanted of a load run, such as p99<50ms.
type Condition struct {
	text     string
	quantity string // in lower case: "p99", "service-mean", "errors", "5xx"
	kind     measure
	op       string
	limit    float64 // ns, a rate, a count, or a share when share is set
	share    bool
	q        float64 // of a percentile, 0 to 1
	service  bool    // since it was sent, not since it was due
	status   int     // the code, or its first digit
}

// measure is what kind of quantity a condition is about.
type measure uint8

const (
	percentileTime measure = iota
	average
	fastest
	slowest
	perSecond
	allRequests
	notAnswered // failed, or never sent
	notGood     // that, or answered with a status from 400 on
	neverSent
	statusCode
	statusClass
)

// quantities are the names without a number in them.
var quantities = map[string]measure{
	"mean": average, "avg": average, "min": fastest, "max": slowest, "rate": perSecond, "rps": perSecond, "requests": allRequests,
	"failed": notAnswered, "errors": notGood, "unsent": neverSent,
}

// conditionForm says what a condition looks like.
const conditionForm = "want a form like p99<50ms, errors<0.1%, 5xx=0 or rate>=990; there are p50 to p99.99, mean, min, max " +
	"(with service- before them since they were sent), rate, requests, failed, errors, unsent, and status codes like 404 and 5xx"

// ParseConditions reads conditions separated by commas.
func ParseConditions(s string) ([]Condition, error) {
	var out []Condition
	for part := range strings.SplitSeq(s, ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("cannot read condition %q: %w", strings.TrimSpace(part), err)
		}
		out = append(out, c)
	}
	return out, nil
}

func parseCondition(s string) (Condition, error) {
	at := strings.IndexAny(s, "<>=!")
	if at < 0 {
		return Condition{}, fmt.Errorf("%s", conditionForm)
	}
	end := at
	for end < len(s) && strings.IndexByte("<>=!", s[end]) >= 0 {
		end++
	}
	c := Condition{quantity: strings.ToLower(strings.TrimSpace(s[:at])), op: s[at:end]}
	switch c.op {
	case "<", "<=", ">", ">=", "=", "!=":
	case "==":
		c.op = "="
	case "=<", "=>":
		return c, fmt.Errorf("there is no %s, only %s", c.op, string([]byte{c.op[1], c.op[0]}))
	default:
		return c, fmt.Errorf("there is no %s, only < <= > >= = and !=", c.op)
	}
	value := strings.TrimSpace(s[end:])
	c.text = c.quantity + c.op + value
	if err := c.name(); err != nil {
		return c, err
	}
	return c, c.value(value)
}

// name finds out what the quantity is.
func (c *Condition) name() error {
	name := c.quantity
	if rest, ok := strings.CutPrefix(name, "service-"); ok {
		c.service, name = true, rest
	}
	if kind, ok := quantities[name]; ok && (!c.service || c.kindIsTime(kind)) {
		c.kind = kind
		return nil
	}
	if digits, ok := strings.CutPrefix(name, "p"); ok {
		if x, err := strconv.ParseFloat(digits, 64); err == nil && x > 0 && x < 100 && digits[0] != '+' {
			c.kind, c.q = percentileTime, x/100
			return nil
		}
		return fmt.Errorf("%q is not a percentile: want p50, p99, p99.9 and the like", c.quantity)
	}
	if len(name) == 3 && !c.service && name[0] >= '1' && name[0] <= '5' {
		if name[1:] == "xx" {
			c.kind, c.status = statusClass, int(name[0]-'0')
			return nil
		}
		if n, err := strconv.Atoi(name); err == nil {
			c.kind, c.status = statusCode, n
			return nil
		}
	}
	return fmt.Errorf("unknown quantity %q: %s", c.quantity, conditionForm)
}

func (c *Condition) kindIsTime(k measure) bool { return k <= slowest }

// value reads the limit in the unit of the quantity.
func (c *Condition) value(s string) error {
	switch c.kind {
	case percentileTime, average, fastest, slowest:
		if _, err := strconv.ParseFloat(s, 64); err == nil && s != "0" {
			return fmt.Errorf("%s has no unit (want a time like 50ms or 1.5s)", s)
		}
		d, err := unit.ParseDuration(s)
		c.limit = float64(d)
		return err
	case perSecond:
		return c.number(strings.TrimSuffix(s, "/s"))
	case allRequests:
		return c.number(s)
	}
	if number, ok := strings.CutSuffix(s, "%"); ok {
		c.share = true
		if err := c.number(strings.TrimSpace(number)); err != nil {
			return err
		}
		if c.limit > 100 {
			return fmt.Errorf("%s is more than everything", s)
		}
		c.limit /= 100
		return nil
	}
	if err := c.number(s); err != nil {
		return err
	}
	if c.limit != math.Trunc(c.limit) {
		return fmt.Errorf("%s is not a whole number of requests (a share is written %v%%)", s, c.limit*100)
	}
	return nil
}

// number reads a plain number, with k and M.
func (c *Condition) number(s string) error {
	scale := 1.0
	if n := len(s) - 1; n > 0 {
		switch s[n] {
		case 'k', 'K':
			scale, s = 1e3, s[:n]
		case 'M':
			scale, s = 1e6, s[:n]
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%q is not a number", s)
	}
	c.limit = x * scale
	return nil
}

// OfTime tells whether the condition is about how long requests took.
func (c Condition) OfTime() bool { return c.kindIsTime(c.kind) }

// String returns the condition as it was written, without blanks.
func (c Condition) String() string { return c.text }

// MarshalText returns [Condition.String], for JSON.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.text), nil }

// Judgement is what a run says to a condition.
type Judgement struct {
	Condition Condition `json:"condition"`
	Met       bool      `json:"met"`
	// Got is what the run has, in words: "p99 is 61.2 ms".
	Got string `json:"got,omitempty"`
	// Doubt is not empty when the run is too short to tell; the condition
	// is not met then.
	Doubt string `json:"doubt,omitempty"`
}

// Judge tells whether a run meets the condition. s is the summary of l.
func (c Condition) Judge(l *Log, s *Summary) Judgement {
	j := Judgement{Condition: c}
	say := func(got float64, text string) Judgement {
		j.Met = c.holds(got)
		j.Got = c.quantity + " is " + text
		return j
	}
	switch c.kind {
	case percentileTime, average, fastest, slowest:
		return c.judgeTime(l, s)
	case perSecond:
		return say(s.RPS, unit.Number(s.RPS)+"/s")
	case allRequests:
		return say(float64(s.Requests), unit.Count(int64(s.Requests)))
	case neverSent:
		return c.judgeCount(s.Unsent, s.Due())
	}
	n, unknown := int64(0), int64(0)
	if c.kind == notAnswered || c.kind == notGood {
		n, unknown = s.Unanswered()-s.GivenUp(), s.GivenUp()
	}
	for status, count := range s.Status {
		if c.kind == notGood && status >= 400 || c.kind == statusCode && status == c.status || c.kind == statusClass && status/100 == c.status {
			n += int64(count)
		}
	}
	j = c.judgeCount(n, s.Due())
	if most := c.judgeCount(n+unknown, s.Due()); unknown > 0 && most.Met != j.Met && j.Doubt == "" {
		j.Met, j.Doubt = false, fmt.Sprintf("%s more were given up when the run was ended, and whether they would have failed is not known", unit.Count(unknown))
	}
	return j
}

// judgeCount judges n of so many requests.
func (c Condition) judgeCount(n, of int64) Judgement {
	j := Judgement{Condition: c, Got: fmt.Sprintf("%s is %s of %s", c.quantity, unit.Count(n), unit.Count(of))}
	got := float64(n)
	if c.share {
		if of == 0 {
			j.Got, j.Doubt = "", "nothing was sent"
			return j
		}
		got /= float64(of)
		j.Got += " (" + unit.Percent(got) + ")"
	}
	j.Met = c.holds(got)
	return j
}

// judgeTime judges a time of all requests that were due. Those that were never
// answered lie beyond all answers. What one that timed out would have taken is
// known to be more than it had waited: a condition that holds, or does not, whatever
// these would have taken, is decided, and else nobody can tell.
func (c Condition) judgeTime(l *Log, s *Summary) Judgement {
	j := Judgement{Condition: c}
	q, value, unsent := &s.Latency, (*Request).Latency, s.Unsent
	if c.service {
		q, value, unsent = &s.Service, service, 0
	}
	due := int64(s.Requests) + unsent
	if due == 0 {
		j.Doubt = "nothing was sent"
		return j
	}
	late := where(l, func(r *Request) bool { return r.Error == 0 || l.TimedOut(r) })
	high := observe(l.Answered(), value, q.Unanswered)
	low := high
	timeouts := 0
	if q.Unanswered > 0 {
		low = observe(late, value, 0)
		timeouts = low.due() - s.Responses
		low.beyond = q.Unanswered - timeouts
	}
	from, to := c.of(low), c.of(high)
	least := q.AtLeast
	if c.kind == average {
		least = q.MeanAtLeast
	}
	if from != Never {
		least = max(least, from)
	}
	j.Got = c.quantity + " is " + took(to, least)
	if q.Unanswered > 0 {
		j.Got += fmt.Sprintf(" (%s of %s were never answered)", unit.Count(int64(q.Unanswered)), unit.Count(due))
	}
	if c.kind == percentileTime && due < c.Answers() {
		// A percentile that is not told is not met; it can be missed by so
		// many that chance is no excuse.
		if missed, many := low.missed(c); many {
			j.Got = fmt.Sprintf("%s of %s requests took longer", unit.Count(int64(missed)), unit.Count(due))
			return j
		}
		slowest, _ := low.slowest()
		j.Got = fmt.Sprintf("the slowest of %s requests took %s", unit.Count(due), took(slowest, q.AtLeast))
		j.Doubt = fmt.Sprintf("%s needs %s requests", c.quantity, unit.Count(c.Answers()))
		return j
	}
	met := c.holds(float64(to))
	switch {
	case from == to, c.holds(float64(from)) == met && c.op[0] != '=' && c.op != "!=", float64(from) > c.limit:
		j.Met = met
	default:
		j.Doubt = fmt.Sprintf("%s timed out, and what they would have taken is not known", unit.Count(int64(timeouts)))
		if s.GivenUp() > 0 {
			j.Doubt = strings.Replace(j.Doubt, "timed out", "timed out or were given up", 1)
		}
	}
	return j
}

// of returns what a condition on a time is about.
func (c Condition) of(s *observed) time.Duration {
	switch c.kind {
	case average:
		if s.beyond > 0 {
			return Never
		}
		return time.Duration(math.Round(s.h.Mean()))
	case fastest:
		if s.h.Count() == 0 {
			return Never
		}
		return time.Duration(s.h.Min())
	case slowest:
		d, _ := s.slowest()
		return d
	}
	return s.at(c.q)[0]
}

// slowest is the longest time, and how many requests have it or one that is not
// known.
func (s *observed) slowest() (time.Duration, int) {
	if s.beyond > 0 {
		return Never, s.beyond
	}
	return time.Duration(s.h.Max()), 1
}

// byChance is how seldom chance alone may miss a percentile for it to be an excuse.
const byChance = 0.01

// missed returns how many requests miss a limit, and whether they are so many that a
// service that meets it would hardly have done so.
func (s *observed) missed(c Condition) (bad int, many bool) {
	if c.op[0] != '<' {
		return 0, false
	}
	n := s.due()
	bad = s.beyond
	for r := range s.rows {
		if !c.holds(float64(s.value(r))) {
			bad++
		}
	}
	return bad, bad > 0 && stats.BinomialTail(bad, n, 1-c.q) < byChance
}

// took is a time in words; of one that never came what is known of it.
func took(d, atLeast time.Duration) string {
	if d != Never {
		return unit.Duration(d)
	}
	if atLeast == 0 {
		return "never"
	}
	return "over " + unit.Duration(atLeast)
}

func (c Condition) holds(got float64) bool {
	switch c.op {
	case "<":
		return got < c.limit
	case "<=":
		return got <= c.limit
	case ">":
		return got > c.limit
	case ">=":
		return got >= c.limit
	case "!=":
		return got != c.limit
	}
	return got == c.limit
}

// String says in a line what was wanted and what came: "p99<50ms: p99 is 61.2
// ms".
func (j Judgement) String() string {
	text := j.Condition.text + ": "
	switch {
	case j.Doubt == "":
		return text + j.Got
	case j.Got == "":
		return text + "cannot tell, " + j.Doubt
	}
	return text + "cannot tell, " + j.Doubt + "; " + j.Got
}

// Answers returns how many requests it takes at least to judge the condition.
func (c Condition) Answers() int64 {
	if c.kind != percentileTime || c.q <= 0.5 {
		return 1
	}
	return int64(math.Ceil(Enough/(1-c.q) - 1e-6))
}
