package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
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
	Said  string     `json:"said"` // Chosen, in a sentence
	// Figures are those of Chosen, each with its bounds and beside what was recorded; Grade
	// says how far they are to be trusted, or why there are none, which Refused tells.
	Figures *table `json:"figures"`
	Grade   string `json:"grade"`
	Refused bool   `json:"refused"`
	Knobs   []knob `json:"knobs"`
	// Advice says what to set in a container: the one that was named, or that of the
	// recording; nil when neither is.
	Advice *advised `json:"advice"`
}

// knob is a setting with the values of its slider, as the environment has them.
type knob struct {
	Name  string   `json:"name"` // the parameter of the question
	Label string   `json:"label"`
	Steps []string `json:"steps"`
	At    int      `json:"at"` // the step that is chosen
}

// advised is what loupe gc -advise recommends, in words and as values of the knobs, which are
// empty where it refuses.
type advised struct {
	Said      string `json:"said"`
	Container string `json:"container"`
	GOGC      string `json:"gogc"`
	Limit     string `json:"limit"`
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
	opt := figures.AdviceOptions(f, gc.AdviceOptions{Container: int64(container), Outside: -1})
	return whatIfOf(replay, round.Phase.Name, settings, opt), nil
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

func whatIfOf(r *gc.Replay, title string, chosen gc.Settings, opt gc.AdviceOptions) *whatIfPage {
	settings := []gc.Settings{chosen}
	for _, gogc := range gc.SweepGOGC {
		if s := (gc.Settings{GOGC: gogc}); s != chosen {
			settings = append(settings, s)
		}
	}
	var advice *gc.Advice
	if opt.Container > 0 {
		advice = gc.Advise(r, opt)
		if advice.Advised != nil && advice.Advised.Settings != chosen {
			settings = append(settings, advice.Advised.Settings)
		}
	}
	w := r.WhatIf(settings)
	p := &w.Predictions[0]
	page := &whatIfPage{
		Title: title, Table: tableOf(report.WhatIfSheet(w)), Chosen: tradeOffOf(p), Curve: []tradeOff{}, Said: report.PredictionText(p),
		Figures: tableOf(report.PredictionSheet(&w.Recorded, p)), Grade: report.GradeText(p), Refused: p.Refused != "",
		Knobs: []knob{gogcKnob(chosen.GOGC), limitKnob(r, chosen.Limit, opt.Container)},
	}
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
	if advice != nil {
		page.Advice = &advised{Said: report.AdviceText(advice), Container: unit.BytesOf(float64(opt.Container))}
		if advice.Advised != nil {
			page.Advice.GOGC, page.Advice.Limit = valuesOf(advice.Advised.Settings)
		}
	}
	return page
}

// valuesOf are the values of GOGC and GOMEMLIMIT, as the environment has them.
func valuesOf(s gc.Settings) (gogc, limit string) {
	limit = off
	for _, v := range strings.Fields(s.String()) {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "GOGC":
			gogc = value
		case "GOMEMLIMIT":
			limit = value
		}
	}
	return gogc, limit
}

// off is the last step of each slider.
const off = "off"

// gogcSteps are the values of the slider; the chosen one is put among them.
var gogcSteps = []int{25, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1600, gc.GOGCOff}

func gogcKnob(chosen int) knob {
	k := knob{Name: "gogc", Label: "GOGC"}
	steps, beyond := slices.Clone(gogcSteps), func(a, b int) int { return cmp.Compare(uint(a), uint(b)) } // off is -1, and the largest
	at, there := slices.BinarySearchFunc(steps, chosen, beyond)
	if !there {
		steps = slices.Insert(steps, at, chosen)
	}
	k.At = at
	for _, s := range steps {
		text, _ := valuesOf(gc.Settings{GOGC: s})
		k.Steps = append(k.Steps, text)
	}
	return k
}

// limitSteps is about how many limits the slider has.
const limitSteps = 14

// limitKnob goes from where a limit is too small for what lives, by steps of the same ratio, to
// the container, or where a limit no longer matters at GOGC=100; the chosen limit is put
// among the steps.
func limitKnob(r *gc.Replay, chosen, container int64) knob {
	k := knob{Name: "limit", Label: "GOMEMLIMIT"}
	need := max(1, float64(r.Choose(1).NeedMB))
	usual := r.Predict(gc.Settings{GOGC: 100})
	least, most := 0.8*need, max(1.5*float64(usual.MemoryMB.High), 3*need, float64(container)/(1<<20))
	var steps []int64
	for i := range limitSteps {
		mb := least * math.Pow(most/least, float64(i)/(limitSteps-1))
		digits := math.Pow(10, max(0, math.Floor(math.Log10(mb))-1)) // two of them
		steps = append(steps, int64(max(1, math.Round(mb/digits)*digits))<<20)
	}
	if chosen > 0 {
		steps = append(steps, chosen)
	}
	if container > 0 {
		steps = append(steps, container)
	}
	slices.Sort(steps)
	steps = append(slices.Compact(steps), gc.NoLimit)
	k.At = max(slices.Index(steps, chosen), 0)
	if chosen <= 0 {
		k.At = len(steps) - 1
	}
	for _, s := range steps {
		_, text := valuesOf(gc.Settings{GOGC: 100, Limit: s})
		k.Steps = append(k.Steps, text)
	}
	return k
}

func tradeOffOf(p *gc.Prediction) tradeOff {
	return tradeOff{p.Settings.String(), p.Settings.GOGC, float64(p.PeakHeapMB.Estimate), float64(p.GCPercent) / 100, string(p.Grade)}
}
