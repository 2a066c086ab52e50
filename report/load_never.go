package report

import (
	"fmt"
	"strings"
	"time"

	"loupe/format/loadlog"
	"loupe/value/unit"
)

// reply is a time of requests in a sheet, of which some may never have been
// answered: what is known of it for people, nothing for programs where it never
// came.
type reply struct{ took, least time.Duration }

// replyOf is a time of q.
func replyOf(d time.Duration, q *loadlog.Quantiles) reply { return reply{d, q.AtLeast} }

func (r reply) text() string {
	switch r.took {
	case 0:
		return "–"
	case loadlog.Never:
		return unanswered(r.least)
	}
	return unit.Duration(r.took)
}

func (r reply) plain() any {
	if r.took == 0 || r.took == loadlog.Never {
		return nil
	}
	return int64(r.took)
}

// Never is a time that never came as a value of a sheet, and else the time; 0 is
// one that is not told. least is what is known of a time that never came.
func Never(d, least time.Duration) any { return reply{d, least} }

// unanswered says what is known of a time that never came.
func unanswered(least time.Duration) string {
	if least == 0 {
		return "never"
	}
	return "≥ " + unit.Duration(least) + " (never)"
}

// tookText is a time of q in words, "n/a" for one that is not told.
func tookText(d time.Duration, q *loadlog.Quantiles) string {
	switch d {
	case 0:
		return "n/a"
	case loadlog.Never:
		return unanswered(q.AtLeast)
	}
	return unit.Duration(d)
}

// tookSecs is a time of q as [secs] prints it; where a program looks for a number,
// one that never came has none.
func tookSecs(d time.Duration, q *loadlog.Quantiles) string {
	if d != loadlog.Never {
		return secs(d)
	}
	if q.AtLeast == 0 {
		return "never answered"
	}
	return "≥ " + secs(q.AtLeast) + ", never answered"
}

// underWay says what was left out because the run was ended.
func underWay(s *loadlog.Summary) string {
	return fmt.Sprintf("%s more when the run ended; they had waited no longer than the slowest answer took, and are left out", unit.Count(s.UnderWay))
}

// neverAnswered says how many of the requests were not answered, and why.
func neverAnswered(s *loadlog.Summary) string {
	n := s.Unanswered()
	var parts []string
	timeouts := int64(s.Errors[loadlog.TimedOut])
	for _, p := range []struct {
		n    int64
		text string
	}{
		{timeouts, "timed out"}, {int64(s.Requests-s.Responses) - timeouts - s.GivenUp(), "failed"},
		{s.Unsent, "were due and never sent"}, {s.GivenUp(), "were " + loadlog.GivenUp},
	} {
		switch {
		case p.n == n:
			parts = []string{"all of them " + p.text}
		case p.n > 0:
			parts = append(parts, unit.Count(p.n)+" "+p.text)
		}
	}
	return fmt.Sprintf("%s of %s requests (%s)", unit.Count(n), unit.Count(s.Due()), strings.Join(parts, ", "))
}
