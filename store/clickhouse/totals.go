package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"loupe/store"
)

// maxPoints is how many points an answer may have.
const maxPoints = 4_000_000

// Totals is that of [store.Engine].
func (e *Engine) Totals(ctx context.Context, q store.TotalsQuery) ([]store.TotalSeries, error) {
	way, err := q.Type.Resolve(q.Over)
	if err != nil {
		return nil, err
	}
	if q.Step < 0 || q.Step > 0 && q.Range.Start.IsZero() {
		return nil, errors.New("cannot divide the range: a step needs a start")
	}
	p, err := e.plan(ctx, q.Selection, store.Range{})
	if err != nil {
		return nil, err
	}
	where := p.selected()
	if where == "" {
		return nil, nil
	}
	group, labels, err := p.groups(q.By)
	if err != nil {
		return nil, err
	}
	t := totals{lines: make([]store.TotalSeries, len(labels)), start: q.Range.Start, step: q.Step}
	for i, l := range labels {
		t.lines[i].Labels = l
	}
	from := " FROM " + e.c.all("profiles") + " WHERE " + where
	value := "total" + p.times()
	end := fmt.Sprintf(" LIMIT %d", maxPoints+1)
	step := "toInt64(0)"
	if q.Step > 0 {
		step = fmt.Sprintf("intDiv(ts - %d, %d)", q.Range.Start.UnixNano(), int64(q.Step))
	}
	switch {
	case q.Step == 0:
		// What was thinned out may have several rows for one point.
		mean := "sum(" + value + ")"
		span := "sum(span)"
		if way != store.Sum {
			mean, span = meanOf("sum("+value+")", "sum(weight)"), "toInt64(0)"
		}
		err = t.ask(ctx, e.c, "SELECT "+group+" AS g, ts AS k, "+mean+", "+span+from+" GROUP BY g, series, unit, k, if(gen = 0, toString(id), '')"+end)
	case way == store.Sum:
		err = t.ask(ctx, e.c, "SELECT "+group+" AS g, "+step+" AS k, sum("+value+"), sum(span)"+from+" GROUP BY g, k"+end)
	case way == store.Mean:
		err = t.ask(ctx, e.c, "SELECT g, k, sum(m), toInt64(0) FROM (SELECT "+group+" AS g, "+step+" AS k, "+meanOf("sum("+value+")", "sum(weight)")+" AS m"+
			from+" GROUP BY g, series, unit, k) AS each GROUP BY g, k"+end)
	default:
		err = t.ask(ctx, e.c, "SELECT g, k, sum(last), toInt64(0) FROM (SELECT g, k, argMax(m, at) AS last FROM (SELECT "+group+" AS g, series, unit, "+step+" AS k, ts AS at, "+
			meanOf("sum("+value+")", "sum(weight)")+" AS m"+from+" GROUP BY g, series, unit, k, at) AS each GROUP BY g, series, unit, k) AS lasts GROUP BY g, k"+end)
	}
	if err != nil {
		return nil, err
	}
	return t.done(), nil
}

// totals puts the lines of an answer together.
type totals struct {
	lines []store.TotalSeries
	start time.Time
	step  time.Duration
	n     int
}

func (t *totals) ask(ctx context.Context, c *client, statement string) error {
	return c.ask(ctx, statement, func(r *rows) error {
		group, k, value, span := r.int64(), r.int64(), r.int64(), r.int64()
		if group < 0 || group >= int64(len(t.lines)) || r.err != nil {
			return r.err // a series that came in between
		}
		if t.n++; t.n > maxPoints {
			return store.TooMuch("points", maxPoints)
		}
		at := time.Unix(0, k)
		if t.step > 0 {
			at = t.start.Add(time.Duration(k) * t.step)
		}
		line := &t.lines[group]
		line.Points = append(line.Points, store.Point{Time: at, Value: value, Covered: time.Duration(span)})
		return nil
	})
}

func (t *totals) done() []store.TotalSeries {
	for i := range t.lines {
		slices.SortStableFunc(t.lines[i].Points, func(a, b store.Point) int { return a.Time.Compare(b.Time) })
	}
	return slices.DeleteFunc(t.lines, func(l store.TotalSeries) bool { return len(l.Points) == 0 })
}
