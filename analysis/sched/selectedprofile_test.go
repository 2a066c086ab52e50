package sched

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
)

// regionTrace has two regions, one in the other, and waits that reach across
// their bounds: a goroutine is woken up by another, and runs some time later.
const regionTrace = `
Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
GoCreate dt=50 new_g=2 new_stack=main.b@main.go:40 stack=main.a@main.go:5
UserRegionBegin dt=100 name_string=outer stack=main.a@main.go:6
GoBlock dt=100 reason_string="chan receive" stack=runtime.chanrecv1@chan.go:5;main.a@main.go:7
GoStart dt=50 g=2 g_seq=1
GoUnblock dt=200 g=1 g_seq=1 stack=runtime.chansend1@chan.go:9;main.b@main.go:41
GoBlock dt=100 reason_string="sync" stack=sync.runtime_Lock@sema.go:1;main.b@main.go:42
GoStart dt=50 g=1 g_seq=2
UserRegionBegin dt=10 name_string=inner stack=main.a@main.go:8
GoSyscallBegin dt=100 p_seq=1 stack=syscall.read@asm.s:1;main.a@main.go:10
GoSyscallEnd dt=300
UserRegionEnd dt=100 name_string=inner stack=main.a@main.go:11
GoUnblock dt=100 g=2 g_seq=2 stack=main.a@main.go:12
UserRegionEnd dt=100 name_string=outer stack=main.a@main.go:13
GoBlock dt=10 reason_string="network" stack=internal/poll.wait@fd.go:1;main.a@main.go:14
GoStart dt=40 g=2 g_seq=3
UserRegionBegin dt=10 name_string=outer stack=main.b@main.go:43
GoUnblock dt=90 g=1 g_seq=3 stack=main.b@main.go:44
GoStop dt=10 reason_string="preempted" stack=main.b@main.go:45
GoStart dt=60 g=1 g_seq=4
GoStop dt=10 reason_string="preempted" stack=main.a@main.go:15
`

// spent maps the stacks of a profile to their counts and times.
func spent(p *StateProfile) map[string]Spent {
	out := map[string]Spent{}
	for i, id := range p.IDs {
		name := ""
		for _, f := range p.Stacks.Frames(id) {
			frame := p.Stacks.Frame(f)
			name += fmt.Sprintf("%s:%d ", frame.Func, frame.Line)
		}
		out[name] = Spent{Count: p.Counts[i], Time: time.Duration(p.Nanos[i])}
	}
	return out
}

// TestFilteredProfiles: the profiles that a filter of regions lets through are
// those that the profiler makes of the times in the regions.
func TestFilteredProfiles(t *testing.T) {
	tr, err := exectrace.Open(fixture.Trace(t, regionTrace), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, typ := range []string{"outer", "inner"} {
		pass := sweep.New(tr)
		spans := NewRegionSpans(func(re *Region) bool { return pass.Reader().Name(re.Name) == typ })
		s := NewSummarizer(pass.Goroutines(), Sink{Region: spans.Region}, SummaryOptions{})
		pass.Join(s)
		if err := pass.Run(nil); err != nil {
			t.Fatal(err)
		}
		s.Finish()
		pass = sweep.New(tr)
		p := NewStateProfiler(pass.Goroutines(), StateProfileOptions{Regions: spans})
		pass.Join(p)
		if err := pass.Run(nil); err != nil {
			t.Fatal(err)
		}
		p.Finish()
		for _, kind := range []ProfileKind{ProfileNet, ProfileSync, ProfileSyscall, ProfileSched} {
			filter, err := ParseFilter("region~^" + typ + "$")
			if err != nil {
				t.Fatal(err)
			}
			got, err := ProfileQuery{Kind: kind, Filter: filter}.Of(tr)
			if err != nil {
				t.Fatal(err)
			}
			want := spent(p.Profile(kind))
			all += len(want)
			if have := spent(got); !maps.Equal(have, want) {
				t.Errorf("%s in %s: %v, want %v", kind, typ, have, want)
			}
		}
	}
	if all < 5 {
		t.Errorf("%d stacks in all, want some of most kinds", all)
	}
}
