package cli

import (
	"io"
	"slices"

	"loupe/load"
	"loupe/loadlog"
	"loupe/report"
)

// traceForm is the form of -o that shows single requests.
const traceForm = "trace"

// untraced are the flags that say when requests are sent, or what is made of
// many of them.
var untraced = []string{"z", "q", "rate", "stages", "arrival", "think", "warmup", "fail", "find-max", "repeat", "against", "start", "record", "save", "template"}

// trace sends a few requests one after the other and draws their phases.
func (r *loadRun) trace(e *env, f *loadFlags, args []string, asJSON bool) error {
	n := 1
	if f.isGiven("n") {
		n = f.n
	}
	if i := slices.IndexFunc(untraced, f.isGiven); i >= 0 {
		return usagef("-o trace and -%s cannot both be given: requests are traced one after the other", untraced[i])
	}
	if n > load.MaxTraced {
		return usagef("-o trace draws each request, which is to be read: -n is at most %d (without -o there is a summary of any number)", load.MaxTraced)
	}
	c, err := f.config(args...)
	if err != nil {
		return usageError{err}
	}
	t, err := load.Trace(e.ctx, c, n)
	if err != nil {
		return refusal(err)
	}
	err = buffered(e.stdout, func(w io.Writer) error {
		if asJSON {
			return report.WriteJSON(w, t)
		}
		return report.WriteClientTrace(w, t, e.style())
	})
	if err != nil {
		return err
	}
	if s := traceSummary(t); s.Requests > 0 && s.Responses == 0 {
		return allFailed(&c, s)
	}
	return nil
}

// traceSummary counts requests and their answers; a request whose redirect
// failed has none.
func traceSummary(t *loadlog.ClientTrace) *loadlog.Summary {
	s := &loadlog.Summary{Errors: map[string]int{}}
	for i, x := range t.Exchanges {
		if i+1 < len(t.Exchanges) && t.Exchanges[i+1].Hop > 0 {
			continue // not the last one of its request
		}
		s.Requests++
		if x.Error != "" {
			s.Errors[x.Error]++
			continue
		}
		s.Responses++
	}
	return s
}
