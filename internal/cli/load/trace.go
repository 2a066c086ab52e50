package load

import (
	"io"
	"slices"

	"loupe/capture/load"
	"loupe/internal/cli/command"
	"loupe/internal/cli/loadflags"
	"loupe/report"
)

// traceForm is the form of -o that shows single requests.
const traceForm = "trace"

// untraced are the flags that say when requests are sent, or what is made of
// many of them.
var untraced = []string{"z", "q", "rate", "stages", "arrival", "think", "warmup", "fail", "find-max", "repeat", "against", "start", "record", "save", "template"}

// trace sends a few requests one after the other and draws their phases.
func (r *loadRun) trace(e *command.Env, f *loadflags.Flags, args []string, asJSON bool) error {
	n := 1
	if f.IsGiven("n") {
		n = f.N
	}
	if i := slices.IndexFunc(untraced, f.IsGiven); i >= 0 {
		return command.Usagef("-o trace and -%s cannot both be given: requests are traced one after the other", untraced[i])
	}
	if n > load.MaxTraced {
		return command.Usagef("-o trace draws each request: -n is at most %d (without -o there is a summary of any number)", load.MaxTraced)
	}
	c, err := f.Config(args...)
	if err != nil {
		return command.Usage(err)
	}
	t, err := load.Trace(e.Ctx, c, n)
	if err != nil {
		return refusal(err)
	}
	err = command.Buffered(e.Stdout, func(w io.Writer) error {
		if asJSON {
			return report.WriteJSON(w, t)
		}
		return report.WriteClientTrace(w, t, e.Style())
	})
	if err != nil {
		return err
	}
	if s := t.Summary(); s.Requests > 0 && s.Responses == 0 {
		return allFailed(&c, s)
	}
	return nil
}
