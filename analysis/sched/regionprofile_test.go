package sched_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/fixture"
	"loupe/format/exectrace/sweep"
	"loupe/format/profile"
)

// viewTrace serves a trace as go tool trace does, and returns the address.
func viewTrace(t *testing.T, name string) string {
	t.Helper()
	// The go command would leave the tool behind when it is killed.
	out, err := exec.Command("go", "tool", "-n", "trace").Output()
	if err != nil {
		t.Fatalf("cannot build cmd/trace: %v", err)
	}
	tool, _, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	cmd := exec.Command(tool, "-http=127.0.0.1:0", name)
	cmd.Env = append(os.Environ(), "BROWSER=true") // the command, which opens nothing
	words, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot run cmd/trace: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var said strings.Builder
	for lines := bufio.NewScanner(words); lines.Scan(); {
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go io.Copy(io.Discard, words)
			return strings.TrimSpace(address)
		}
		fmt.Fprintln(&said, lines.Text())
	}
	t.Fatalf("go tool trace serves nothing: %s", &said)
	return ""
}

// downloadProfile gets one of the profiles that go tool trace serves.
func downloadProfile(t *testing.T, address string) byText {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", address, resp.Status, data)
	}
	official, err := profile.Decode(data, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := byText{}
	for i, id := range official.StackIDs {
		out.add(stackText(official.Stacks, id), official.Values[0][i], official.Values[1][i])
	}
	return out
}

// TestRegionProfiles compares the profiles of regions with those that the web
// pages of go tool trace have links to.
func TestRegionProfiles(t *testing.T) {
	nested := filepath.Join(t.TempDir(), "nested.trace")
	if err := os.WriteFile(nested, fixture.Trace(t, nestedRegions), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ownTrace(t), nested} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if len(data) > 10<<20 {
				t.Skipf("%d bytes are too many for go tool trace", len(data))
			}
			address := viewTrace(t, name)
			for _, typ := range regionTypes(t, data) {
				spans := regionSpans(t, data, typ)
				p := profileStates(t, data, sched.StateProfileOptions{Compat: true, Regions: spans}, sched.Sink{})
				for path, kind := range map[string]sched.ProfileKind{"io": sched.ProfileNet, "block": sched.ProfileSync, "syscall": sched.ProfileSyscall, "sched": sched.ProfileSched} {
					want := downloadProfile(t, address+"/region"+path+"?raw=1&type="+url.QueryEscape(typ))
					got := p.Profile(kind)
					t.Logf("region %q, %v: %d stacks, %v", typ, kind, len(got.IDs), got.Total())
					sameProfile(t, typ+" "+path, textOf(got), want)
				}
			}
		})
	}
}

// regionTypes are the names of a trace's regions.
func regionTypes(t *testing.T, data []byte) (types []string) {
	eachRegion(t, data, func(typ string, _ *sched.Region) {
		if !slices.Contains(types, typ) {
			types = append(types, typ)
		}
	})
	slices.SortFunc(types, cmp.Compare[string])
	if len(types) < 2 {
		t.Fatalf("the regions are %q, want more types", types)
	}
	return types
}

// regionSpans are the times in the regions of one type.
func regionSpans(t *testing.T, data []byte, want string) *sched.RegionSpans {
	spans := sched.NewRegionSpans(func(*sched.Region) bool { return true })
	eachRegion(t, data, func(typ string, r *sched.Region) {
		if typ == want {
			spans.Region(r)
		}
	})
	return spans
}

func eachRegion(t *testing.T, data []byte, visit func(string, *sched.Region)) {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pass := sweep.New(tr)
	r := pass.Reader()
	s := sched.NewSummarizer(pass.Goroutines(), sched.Sink{Region: func(re *sched.Region) { visit(r.Name(re.Name), re) }}, sched.SummaryOptions{})
	pass.Join(s)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	s.Finish()
}

// nestedRegions has what a recorded trace has by chance only: regions of one
// type in each other, one that has begun before the trace, one that ends behind
// it, and waits that reach across the bounds of regions.
const nestedRegions = `
Trace Go1.26
EventBatch m=1 time=1000
ProcStatus dt=1 p=0 pstatus=running
GoStatus dt=1 g=1 m=1 gstatus=running
UserRegionEnd dt=100 name_string=old stack=main.a@main.go:5
UserRegionBegin dt=100 name_string=outer stack=main.a@main.go:6
GoBlock dt=100 reason_string="chan receive" stack=runtime.chanrecv1@chan.go:5;main.a@main.go:7
ProcStop dt=1
EventBatch m=2 time=1200
ProcStatus dt=1 p=1 pstatus=running
GoStatus dt=1 g=2 m=2 gstatus=running
GoCreate dt=50 new_g=3 new_stack=main.c@main.go:40 stack=main.b@main.go:20
GoUnblock dt=200 g=1 g_seq=1 stack=runtime.chansend1@chan.go:9;main.b@main.go:21
GoBlock dt=100 reason_string="sleep" stack=time.Sleep@sleep.go:1;main.b@main.go:22
GoStart dt=50 g=1 g_seq=2
UserRegionBegin dt=10 name_string=inner stack=main.a@main.go:8
UserRegionBegin dt=10 name_string=outer stack=main.a@main.go:9
GoSyscallBegin dt=100 p_seq=1 stack=syscall.read@asm.s:1;main.a@main.go:10
GoSyscallEnd dt=300
UserRegionEnd dt=100 name_string=outer stack=main.a@main.go:11
GoBlock dt=100 reason_string="sync" stack=sync.runtime_Lock@sema.go:1;main.a@main.go:12
GoStart dt=10 g=3 g_seq=1
UserRegionBegin dt=10 name_string=inner stack=main.c@main.go:41
GoUnblock dt=300 g=1 g_seq=3 stack=main.c@main.go:42
GoBlock dt=10 reason_string="network" stack=internal/poll.wait@fd.go:1;main.c@main.go:43
GoStart dt=90 g=1 g_seq=4
UserRegionEnd dt=10 name_string=inner stack=main.a@main.go:13
GoUnblock dt=200 g=3 g_seq=2 stack=main.a@main.go:14
UserRegionEnd dt=50 name_string=outer stack=main.a@main.go:15
UserRegionBegin dt=50 name_string=open stack=main.a@main.go:16
GoBlock dt=50 reason_string="select" stack=main.a@main.go:17
GoStart dt=50 g=3 g_seq=3
UserRegionEnd dt=10 name_string=inner stack=main.c@main.go:44
GoUnblock dt=90 g=1 g_seq=5 stack=main.c@main.go:45
GoBlock dt=10 reason_string="chan send" stack=main.c@main.go:46
GoStart dt=40 g=1 g_seq=6
GoStop dt=100 reason_string="preempted" stack=main.a@main.go:18
GoStart dt=70 g=1 g_seq=7
`
