package loadlog

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"loupe/unit"
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
	notAnswered // failed requests
	notGood     // failed, or answered with a status from 400 on
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
		return fmt.Errorf("%q is no percentile: want p50, p99, p99.9 and the like", c.quantity)
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
		return fmt.Errorf("%s is no whole number of requests (a share is written %v%%)", s, c.limit*100)
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
		return fmt.Errorf("%q is no number", s)
	}
	c.limit = x * scale
	return nil
}

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
		return c.judgeCount(s.Unsent, int64(s.Requests)+s.Unsent)
	}
	n, of := int64(0), int64(s.Responses)
	switch c.kind {
	case notAnswered, notGood:
		n, of = int64(s.Requests-s.Responses), int64(s.Requests)
	}
	for status, count := range s.Status {
		if c.kind == notGood && status >= 400 || c.kind == statusCode && status == c.status || c.kind == statusClass && status/100 == c.status {
			n += int64(count)
		}
	}
	return c.judgeCount(n, of)
}

// judgeCount judges n of so many requests.
func (c Condition) judgeCount(n, of int64) Judgement {
	j := Judgement{Condition: c, Got: fmt.Sprintf("%s is %s of %s", c.quantity, unit.Count(n), unit.Count(of))}
	got := float64(n)
	if c.share {
		if of == 0 {
			j.Got, j.Doubt = "", "nothing was answered"
			return j
		}
		got /= float64(of)
		j.Got += " (" + unit.Percent(got) + ")"
	}
	j.Met = c.holds(got)
	return j
}

// judgeTime judges a time of answered requests. A percentile that fewer than
// ten requests lie beyond is not told; but when the slowest request meets the
// condition, so does every percentile.
func (c Condition) judgeTime(l *Log, s *Summary) Judgement {
	j := Judgement{Condition: c}
	if s.Responses == 0 {
		j.Doubt = "nothing was answered"
		return j
	}
	q, value := &s.Latency, (*Request).Latency
	if c.service {
		q, value = &s.Service, func(r *Request) time.Duration { return r.Service }
	}
	var got time.Duration
	switch c.kind {
	case average:
		got = q.Mean
	case fastest:
		got = q.Min
	case slowest:
		got = q.Max
	default:
		if c.q > 0.5 && int64(s.Responses) < c.Answers() {
			j.Met = c.op[0] == '<' && c.holds(float64(q.Max)) || c.op[0] == '>' && c.holds(float64(q.Min))
			j.Got = fmt.Sprintf("the slowest of %s answers took %s", unit.Count(int64(s.Responses)), unit.Duration(q.Max))
			if !j.Met {
				j.Doubt = fmt.Sprintf("%s needs %s answers", c.quantity, unit.Count(c.Answers()))
			}
			return j
		}
		got = Exact(l.Answered(), value, c.q)[0]
	}
	j.Met = c.holds(float64(got))
	j.Got = c.quantity + " is " + unit.Duration(got)
	return j
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

// Answers returns how many answers it takes at least to judge the condition.
func (c Condition) Answers() int64 {
	if c.kind != percentileTime || c.q <= 0.5 {
		return 1
	}
	return int64(math.Ceil(Enough/(1-c.q) - 1e-6))
}
