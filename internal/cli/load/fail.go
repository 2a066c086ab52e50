package load

import (
	"fmt"
	"strings"

	"loupe/capture/load"
	"loupe/format/loadlog"
	"loupe/internal/cli/command"
)

// failing is what a run must meet not to fail.
type failing struct{ wanted string }

func (f *failing) declare(fs *command.FlagSet) {
	fs.Func("fail", "exit with 3 if one of these `conditions` is not met: p99<50ms, errors<0.1%,\nrate>=990, 5xx=0; separated by commas. Also p50 to p99.99, mean, min and max\n(with the prefix service-: measured from when a request was sent); requests,\nfailed, unsent", func(s string) error {
		if f.wanted != "" {
			f.wanted += ","
		}
		f.wanted += s
		_, err := loadlog.ParseConditions(s)
		return err
	})
}

// noService are parts of the texts of failures that say that no service is
// there at all.
var noService = []string{
	"connection refused", "no such host", "no route to host", "network is unreachable", "host is down",
	"server misbehaving", "name resolution", "dial unix",
}

// allFailed is the error of a run in which nothing was answered: with exit code
// 4 when nothing answers at all.
func allFailed(c *load.Config, s *loadlog.Summary) error {
	common := s.CommonError()
	through := ""
	if c.Proxy != nil {
		through = " through proxy " + c.Proxy.Host
	}
	for _, text := range noService {
		if strings.Contains(common, text) {
			return command.Nothingf("cannot reach %s%s: %s", c.URL, through, common)
		}
	}
	if common == loadlog.GivenUp {
		return fmt.Errorf("no answer%s: %d requests were sent, most of which were %s", through, s.Requests, common)
	}
	return fmt.Errorf("every one of %d requests%s failed, most with: %s", s.Requests, through, common)
}

// verdict turns what a run came to into the error that picks the exit code:
// nothing was answered, or a condition is not met.
func verdict(e *command.Env, c *load.Config, s *loadlog.Summary) error {
	if s.Requests > 0 && s.Responses == 0 {
		return allFailed(c, s)
	}
	var missed []string
	for _, j := range s.Conditions {
		if !j.Met {
			missed = append(missed, j.String())
		}
	}
	if len(missed) > 0 {
		return command.Found(fmt.Errorf("not met:\n  %s", strings.Join(missed, "\n  ")))
	}
	for _, j := range s.Conditions {
		e.Progress(false)("met: %s", j)
	}
	return nil
}
