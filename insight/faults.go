package insight

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// survives lets a report do without a rule that panics. Tests want the panic.
var survives = true

// check lets the rule look. A rule that panics has a mistake, and judges nothing: the report says so
// ([Input.Incomplete]), and what the other rules have to say of the recording is not lost for it.
func (r *Rule) check(in *Input) (all []Finding) {
	if survives {
		defer func() {
			if why := recover(); why != nil {
				all = []Finding{r.answer(NotApplicable, "the rule could not judge this recording, through a fault of loupe: %v", why)}
				in.faults = append(in.faults, fmt.Sprintf("rule %s could not judge this recording, through a fault of loupe (%v%s): please report that", r.ID, why, panicPlace()))
			}
		}()
	}
	return r.Check(r, in)
}

// panicPlace says where, for who is to mend it: the innermost of the calls above it that is loupe's own.
func panicPlace() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	below := false // what is deferred lies below the panic
	for {
		f, more := frames.Next()
		if below && strings.HasPrefix(f.Function, "loupe/") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		below = below || f.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}
