package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"loupe/analysis/capacity"
	"loupe/value/unit"
)

// trialForm is a line of the table of trials.
const trialForm = "%10s  %10s  %9s  %9s  %9s  %7s"

// WriteTrialHead prints the head of a table of trials, which come one after the other.
func WriteTrialHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, trialForm+"\n", "asked", "answered", "p50", "p95", "p99", "errors")
	return err
}

// SearchText says what came of a search for the highest rate, with its doubt.
func SearchText(f *capacity.Search, wanted string, length time.Duration) string {
	var b strings.Builder
	a := f.Answer
	rate := func(r float64) string { return unit.Number(r) + "/s" }
	switch {
	case a.Rate == 0 && a.Limited != "":
		fmt.Fprintf(&b, "No answer: already at the first rate, %s.\n", a.Limited)
	case a.Rate == 0 && a.Unknown > 0 && a.TooFar > 0:
		fmt.Fprintf(&b, "Cannot tell: at %s it does not meet %s, and at %s a step was inconclusive: %s. Use longer steps (-z), or start at a higher rate (-rate).\n", rate(a.TooFar), wanted, rate(a.Unknown), a.Why)
	case a.Rate == 0 && a.Unknown > 0:
		fmt.Fprintf(&b, "Cannot tell whether it meets %s: all steps up to %s were inconclusive: %s. Use longer steps (-z), or start at a higher rate (-rate).\n", wanted, rate(a.Unknown), a.Why)
	case a.Rate == 0 && a.TooFar == 0:
		b.WriteString("No answer: no step was finished.\n")
	case a.Rate == 0:
		fmt.Fprintf(&b, "It does not meet %s at any rate: not even at %s.\n", wanted, rate(a.TooFar))
	default:
		fmt.Fprintf(&b, "It meets %s up to %s, in %d of %d runs of %s or more", wanted, rate(a.Rate), a.Met, a.Runs, length)
		if a.TooFar > 0 {
			fmt.Fprintf(&b, ", and not at %s: the limit lies between them (%s).\n", rate(a.TooFar), unit.Percent(a.TooFar/a.Rate-1))
		} else {
			b.WriteString(".\n")
		}
		if a.Met < a.Runs {
			b.WriteString("The runs disagree: use a lower rate, or longer steps (-z).\n")
		}
		if a.Unknown > a.Rate {
			fmt.Fprintf(&b, "It may handle more: at %s a step was inconclusive: %s.\n", rate(a.Unknown), a.Why)
		}
		if a.Limited != "" {
			fmt.Fprintf(&b, "The service may handle more: beyond that %s.\n", a.Limited)
		}
	}
	if full, ok := f.Full(); ok {
		fmt.Fprintf(&b, "The service saturates at about %s: at a load of %s it answered %s, and %s went from %s to %s.\n",
			rate(full.Last.Answered), rate(full.Beyond.Rate), rate(full.Beyond.Answered), full.Percentile, full.Before, full.After)
	}
	return b.String()
}

// WriteTrial prints a line of that table.
func WriteTrial(w io.Writer, s capacity.Trial) error {
	verdict := "met"
	switch {
	case s.Unknown:
		verdict = "cannot tell: " + s.Why
	case !s.Met:
		verdict = s.Why
	}
	if s.Limited != "" {
		verdict += " (" + s.Limited + ")"
	}
	_, err := fmt.Fprintf(w, trialForm+"  %s\n",
		unit.Number(s.Rate)+"/s", unit.Number(s.Answered)+"/s", s.P50, s.P95, s.P99, unit.Percent(s.Errors), verdict)
	return err
}
