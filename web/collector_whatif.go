package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	figures "loupe/analysis/facts" // a page has facts of its own here
	"loupe/analysis/gc"
	"loupe/report"
	"loupe/value/unit"
)

// whatIfPage is what other settings would do to the program.
type whatIfPage struct {
	// Title is the phase whose collections are replayed.
	Title string `json:"title"`
	// Table is what loupe gc -what-if prints: recorded, chosen, and the usual
	// settings.
	Table *table `json:"table"`
	// Recorded is what was measured, Chosen the settings asked about.
	Recorded tradeOff `json:"recorded"`
	Chosen   tradeOff `json:"chosen"`
	// Curve goes through values of GOGC without a limit, from small to large.
	Curve []tradeOff `json:"curve"`
	// Choice says what to set in a container; empty when none was named.
	Choice string `json:"choice"`
	Said   string `json:"said"` // Chosen, in a sentence
}

// tradeOff is the memory that the collector's CPU time is traded for.
type tradeOff struct {
	Settings string  `json:"settings"`
	GOGC     int     `json:"gogc"`
	HeapMB   float64 `json:"heap_mb"`
	// Share is of the Ps' time.
	Share float64 `json:"share"`
	Grade string  `json:"grade"`
}

// curveGOGC are the points of the curve.
var curveGOGC = []int{25, 35, 50, 70, 100, 140, 200, 280, 400, 560, 800, 1130, 1600}

// fewest is how many collections a point of the curve has at least.
const fewest = 4

// collectorWhatIf replays the collections of the range under other settings:
// gogc and limit as in the environment, container as an amount of memory.
func collectorWhatIf(ctx context.Context, s *subject, q *query) (*whatIfPage, error) {
	settings, err := askedSettings(q)
	if err != nil {
		return nil, err
	}
	var container unit.Bytes
	if text := q.Get("container"); text != "" {
		if container, err = unit.ParseBytes(text); err != nil || container <= 0 {
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("container: %q is not an amount of memory (512MiB)", text)}
		}
	}
	f, err := s.factsIn(ctx, q)
	if err != nil {
		return nil, err
	}
	round := figures.MostCollections(f.Rounds)
	if round == nil {
		return nil, nothing(noCycles)
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	replay, err := round.Replay(in)
	if err != nil {
		return nil, nothing("What other settings would do cannot be told: %s.", strings.TrimPrefix(err.Error(), "cannot tell: "))
	}
	return whatIfOf(replay, round.Phase.Name, settings, int64(container)), nil
}

// askedSettings reads the two knobs of a question. Without one it is about
// twice the usual GOGC, which is the first that one would try.
func askedSettings(q *query) (gc.Settings, error) {
	s := gc.Settings{GOGC: 200}
	for _, knob := range [][2]string{{"gogc", "GOGC="}, {"limit", "GOMEMLIMIT="}} {
		text := strings.TrimSpace(q.Get(knob[0]))
		if text == "" {
			continue
		}
		if strings.ContainsAny(text, " ,\t") {
			return s, &refusal{http.StatusBadRequest, fmt.Sprintf("%s: %q is not a value", knob[0], text)}
		}
		var err error
		if s, err = gc.ParseSettings(knob[1]+text, s); err != nil {
			return s, &refusal{http.StatusBadRequest, err.Error()}
		}
	}
	return s, nil
}

func whatIfOf(r *gc.Replay, title string, chosen gc.Settings, container int64) *whatIfPage {
	settings := []gc.Settings{chosen}
	for _, gogc := range gc.SweepGOGC {
		if s := (gc.Settings{GOGC: gogc}); s != chosen {
			settings = append(settings, s)
		}
	}
	var choice *gc.Choice
	if container > 0 {
		c := r.Choose(container)
		choice = &c
		if c.Prediction != nil && c.Prediction.Settings != chosen {
			settings = append(settings, c.Prediction.Settings)
		}
	}
	w := r.WhatIf(settings)
	p := &w.Predictions[0]
	page := &whatIfPage{Title: title, Table: tableOf(report.WhatIfSheet(w)), Chosen: tradeOffOf(p), Curve: []tradeOff{}, Said: report.PredictionText(p)}
	page.Recorded = tradeOff{Settings: "recorded", HeapMB: float64(w.Recorded.PeakHeapMB), Share: float64(w.Recorded.GCPercent) / 100}
	if w.Recorded.Settings != nil {
		page.Recorded.Settings, page.Recorded.GOGC = w.Recorded.Settings.String(), w.Recorded.Settings.GOGC
	}
	for _, gogc := range curveGOGC {
		p := r.Predict(gc.Settings{GOGC: gogc})
		if p.Collections.Estimate < fewest {
			break // where the last one falls would draw the curve
		}
		page.Curve = append(page.Curve, tradeOffOf(&p))
	}
	if choice != nil {
		page.Choice = report.ChoiceText(choice)
	}
	return page
}

func tradeOffOf(p *gc.Prediction) tradeOff {
	return tradeOff{p.Settings.String(), p.Settings.GOGC, float64(p.PeakHeapMB.Estimate), float64(p.GCPercent) / 100, string(p.Grade)}
}
