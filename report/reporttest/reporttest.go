// Package reporttest finds numbers that cannot be in tables, for the tests of
// whoever makes some: shares beyond all there is, parts that are larger than what
// they are of, percentiles that are out of order, a peak above the count.
package reporttest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loupe/report"
)

// Check returns what is wrong with a table, in words; nothing when it may be
// true. It goes by the keys of the columns.
func Check(s *report.Sheet) (wrong []string) {
	for n, row := range s.Rows {
		if len(row) != len(s.Columns) {
			wrong = append(wrong, fmt.Sprintf("%s: row %d has %d cells for %d columns", s.Key, n, len(row), len(s.Columns)))
			continue
		}
		c := checker{sheet: s, row: row}
		c.cells()
		c.order()
		c.parts()
		for _, w := range c.wrong {
			wrong = append(wrong, fmt.Sprintf("%s: row %d (%v): %s", s.Key, n, row[0], w))
		}
	}
	return wrong
}

// CheckTrace is [Check] for facts and all tables beside them.
func CheckTrace(t *report.Trace) (wrong []string) {
	for _, f := range t.Facts {
		c := checker{sheet: &report.Sheet{Columns: []report.Column{{Key: f.Key, Head: f.Head}}}, row: []any{f.Value}}
		c.cells()
		for _, w := range c.wrong {
			wrong = append(wrong, "facts: "+w)
		}
	}
	for _, s := range t.Sheets {
		wrong = append(wrong, Check(s)...)
	}
	return wrong
}

type checker struct {
	sheet *report.Sheet
	row   []any
	wrong []string
}

func (c *checker) fail(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// percents are shares in a sentence.
var percents = regexp.MustCompile(`([0-9.,]+)\s?% of (?:the|that) time`)

// cells looks at each cell alone.
func (c *checker) cells() {
	for i, v := range c.row {
		key := c.sheet.Columns[i].Key
		switch v := v.(type) {
		case report.Share:
			if f := float64(v); math.IsNaN(f) || f < 0 || f > 1 {
				c.fail("%s is %.4g of all", key, f)
			}
		case time.Duration:
			if v < 0 {
				c.fail("%s is %v", key, v)
			}
		case report.Course:
			for _, n := range v.Values {
				if math.IsNaN(n) || n < 0 || v.Top > 0 && n > v.Top*1.000001 {
					c.fail("%s is %g of %g at a time", key, n, v.Top)
					break
				}
			}
		case string:
			for _, m := range percents.FindAllStringSubmatch(v, -1) {
				if f, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64); err == nil && f > 100 {
					c.fail("%s: %s", key, m[0])
				}
			}
		default:
			if f, ok := number(v); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
				c.fail("%s is %g", key, f)
			}
		}
	}
}

// ranks are the ends of keys in the order in which their values must be.
var ranks = []string{"min", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999", "p9999", "max"}

// order looks at quantiles of one thing: keys that differ in their rank alone.
func (c *checker) order() {
	type last struct {
		key   string
		value float64
	}
	seen := map[string]last{}
	for _, rank := range ranks {
		for i, col := range c.sheet.Columns {
			thing, ok := without(col.Key, rank)
			if !ok {
				continue
			}
			v, ok := number(c.row[i])
			if !ok {
				continue
			}
			if before, some := seen[thing]; some && v < before.value {
				c.fail("%s is %g, below %s, %g", col.Key, v, before.key, before.value)
			}
			seen[thing] = last{col.Key, v}
		}
	}
}

// without takes a word out of a key.
func without(key, word string) (rest string, ok bool) {
	words := strings.Split(key, "_")
	for i, w := range words {
		if w == word {
			return strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), "_"), true
		}
	}
	return "", false
}

// pairs are keys of a part and of what it is a part of.
var pairs = [][2]string{
	{"peak", "count"}, {"ended", "count"}, {"created", "count"}, {"incomplete", "count"},
	{"max_exec_ns", "exec_ns"}, {"exec_mean_ns", "exec_ns"}, {"max_ns", "total_ns"}, {"worst_delay_ns", "delay_ns"},
	{"paused_ns", "span_ns"}, {"ran_ns", "total_ns"},
}

// parts looks at parts and their wholes.
func (c *checker) parts() {
	values := map[string]float64{}
	for i, col := range c.sheet.Columns {
		if v, ok := number(c.row[i]); ok {
			values[col.Key] = v
		}
	}
	for _, p := range pairs {
		part, ok := values[p[0]]
		whole, some := values[p[1]]
		if ok && some && part > whole {
			c.fail("%s is %g, above %s, %g", p[0], part, p[1], whole)
		}
	}
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case time.Duration:
		return float64(v), true
	case report.Share:
		return float64(v), true
	}
	return 0, false
}
