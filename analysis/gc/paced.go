package gc

import "loupe/format/godebug"

// Paced is what the pacer of one run did, by the lines of gcpacertrace=1.
type Paced struct {
	Run  int    `json:"run"`
	Name string `json:"name,omitempty"`
	// Rows are the collections that the lines are of.
	Rows []PacedRow `json:"rows"`
	// MeanUtilPercent is the mean over the collections of the share of the Ps that
	// marking took, TargetPercent what the pacer aims at.
	MeanUtilPercent Figure `json:"mean_util_percent"`
	TargetPercent   Figure `json:"target_percent"`
	// MeanAssist and MaxAssist are the mean and the highest assist ratio at the begin of
	// a collection.
	MeanAssist Figure `json:"mean_assist_ratio"`
	MaxAssist  Figure `json:"max_assist_ratio"`
	// Beyond counts the collections that ended above their goal, WorstBytes is by how
	// much at most.
	Beyond     int   `json:"beyond_goal"`
	WorstBytes int64 `json:"worst_beyond_bytes"`
	// ForecastRatio is the scan work over what was expected of it, all collections
	// together; unknown before Go 1.18.
	ForecastRatio Figure `json:"work_ratio"`
}

// PacedRow is what the lines say of one collection. What a line that is missing would
// have said is unknown. Sizes are in bytes; those of the first line have MiB resolution.
type PacedRow struct {
	Line int `json:"line"`
	// Trigger is the heap at which it began, Goal where it was to end, End where it did.
	Trigger Figure `json:"trigger_bytes"`
	Goal    Figure `json:"goal_bytes"`
	End     Figure `json:"end_bytes"`
	// AssistRatio is the scan work that allocating a byte costs, as it was at the begin.
	AssistRatio Figure `json:"assist_ratio"`
	// Workers is how many Ps mark alone, with the fraction of one more.
	Workers Figure `json:"workers"`
	// UtilPercent is the share of the Ps that marking took, TargetPercent what the
	// pacer aims at without assists.
	UtilPercent   Figure `json:"util_percent"`
	TargetPercent Figure `json:"target_percent"`
	// Work is what was scanned, Expected what the pacer had expected, which is unknown
	// before Go 1.18.
	Work     Figure `json:"work_bytes"`
	Expected Figure `json:"expected_bytes"`
	// ConsMark is the cost of allocating over that of marking, of Go 1.18 and later.
	ConsMark Figure `json:"cons_mark"`
	// SweptPages is how many pages were swept after it.
	SweptPages Figure `json:"swept_pages"`
}

// AnalysePacer puts the lines of each run together by collection.
func AnalysePacer(l *godebug.Log) (all []*Paced) {
	byRun(l.Pacers, func(run int, lines []godebug.Pacer) {
		p := &Paced{Run: run, Name: nameOf(l, run)}
		for i := range lines {
			p.add(&lines[i])
		}
		p.sum()
		all = append(all, p)
	})
	return all
}

// add takes one line. A collection has one of its begin, one of its end, and one when
// the sweeping that follows it is done.
func (p *Paced) add(x *godebug.Pacer) {
	switch x.Form {
	case godebug.PacerStart:
		r := p.open(x.Line)
		r.Trigger, r.Goal = Figure(x.HeapStart), Figure(x.Goal)
		r.AssistRatio = Figure(x.AssistRatio)
		r.Workers = Figure(float64(x.DedicatedWorkers) + x.FractionalWorkers)
	case godebug.PacerEnd, godebug.PacerEndOld:
		r := p.last()
		if r == nil || r.End.Known() || r.SweptPages.Known() {
			r = p.open(x.Line)
		}
		r.Trigger, r.End = Figure(x.HeapStart), Figure(x.HeapEnd)
		r.UtilPercent, r.TargetPercent = Figure(100*x.Utilisation), Figure(100*x.TargetUtilisation)
		r.Work, r.Goal = Figure(x.HeapWork), Figure(x.Goal)
		if x.Form == godebug.PacerEnd {
			r.Goal = Figure(x.HeapEnd - x.GoalMiss)
			r.Work = Figure(x.HeapWork + x.StackWork + x.GlobalsWork)
			r.Expected, r.ConsMark = Figure(x.ExpectedWork), Figure(x.ConsMark)
		}
	case godebug.PacerSweep:
		if r := p.last(); r != nil && !r.SweptPages.Known() {
			r.SweptPages = Figure(x.PagesSwept)
		}
	}
}

// open begins another collection.
func (p *Paced) open(line int) *PacedRow {
	u := Unknown()
	p.Rows = append(p.Rows, PacedRow{Line: line, Trigger: u, Goal: u, End: u, AssistRatio: u, Workers: u, UtilPercent: u, TargetPercent: u, Work: u, Expected: u, ConsMark: u, SweptPages: u})
	return p.last()
}

// last is the latest collection, nil before the first.
func (p *Paced) last() *PacedRow {
	if len(p.Rows) == 0 {
		return nil
	}
	return &p.Rows[len(p.Rows)-1]
}

// sum adds the collections up.
func (p *Paced) sum() {
	var util, target, assist, work, expected []Figure
	p.MaxAssist = Unknown()
	for i := range p.Rows {
		r := &p.Rows[i]
		util, target, assist = append(util, r.UtilPercent), append(target, r.TargetPercent), append(assist, r.AssistRatio)
		if r.AssistRatio.Known() && !(p.MaxAssist > r.AssistRatio) {
			p.MaxAssist = r.AssistRatio
		}
		if r.Expected.Known() {
			work, expected = append(work, r.Work), append(expected, r.Expected)
		}
		if by := r.End - r.Goal; by.Known() && by > 0 {
			p.Beyond++
			p.WorstBytes = max(p.WorstBytes, int64(by))
		}
	}
	p.MeanUtilPercent, p.TargetPercent, p.MeanAssist = mean(util), mean(target), mean(assist)
	p.ForecastRatio = mean(work) / mean(expected)
}

// mean is that of the figures that are known.
func mean(all []Figure) Figure {
	var sum, n Figure
	for _, f := range all {
		if f.Known() {
			sum += f
			n++
		}
	}
	if n == 0 {
		return Unknown()
	}
	return sum / n
}
