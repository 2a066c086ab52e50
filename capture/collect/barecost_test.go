//go:build unix

package collect

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"loupe/capture/load"
	"loupe/recording"
	"loupe/value/stats"
)

// bareLoad is what one round of BenchmarkBarePhase sends: the load of the
// seeds, to the lab in its slow form, which collects garbage all the time.
var bareLoad = load.Config{
	URL: "http://127.0.0.1:39419/search?term=topic&cnn=on&bbc=on&nyt=on", Method: "POST", Requests: 5000, Concurrency: 100,
}

// BenchmarkBarePhase measures what the bare phase of a recording costs the
// program: the same binary under the same load, started plainly and by loupe,
// in rounds that take turns. It reports the change of requests a second and
// of the program's CPU time a request with their intervals, in percent. Run it
// alone on a quiet machine:
//
//	go test -run '^$' -bench BarePhase -benchtime 12x ./capture/collect
func BenchmarkBarePhase(b *testing.B) {
	temp := b.TempDir()
	prog, err := Build(b.Context(), BuildOptions{Target: "../../labs/newssearch", Temp: temp})
	if err != nil {
		b.Fatal(err)
	}
	var rps, cpu [2][]float64
	for round := 0; b.Loop(); round++ {
		for turn := range 2 {
			recorded := (round+turn)%2 == 1 // ABBA
			r, c := bareRound(b, prog, temp, fmt.Sprint(round), recorded)
			arm := 0
			if recorded {
				arm = 1
			}
			rps[arm], cpu[arm] = append(rps[arm], r), append(cpu[arm], c)
		}
	}
	for name, arms := range map[string][2][]float64{"rps": rps, "cpu/req": cpu} {
		r := stats.Compare(stats.Side{Values: arms[0]}, stats.Side{Values: arms[1]}, 0.95)
		b.ReportMetric(100*(r.Estimate-1), name+"-%")
		b.ReportMetric(100*(r.Low-1), name+"-low-%")
		b.ReportMetric(100*(r.High-1), name+"-high-%")
	}
}

// bareRound runs the load once and returns requests a second and the
// program's CPU time for one request in ns.
func bareRound(b *testing.B, prog *Program, temp, round string, recorded bool) (rps, cpu float64) {
	b.Helper()
	args := []string{"-addr", "127.0.0.1:39419"}
	if !recorded {
		cmd := exec.Command(prog.Path, args...)
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		for portFree(TCP("127.0.0.1:39419")) == nil {
			time.Sleep(5 * time.Millisecond)
		}
		l, err := load.Run(b.Context(), bareLoad)
		if err != nil {
			b.Fatal(err)
		}
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		return l.Summary().RPS, float64(ru.Utime.Nano()+ru.Stime.Nano()) / float64(l.Len())
	}
	w, err := recording.Create(filepath.Join(temp, "rec"+round), recording.Manifest{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{Temp: temp, Launch: LaunchOptions{Args: args, GODEBUG: RuntimeDebug}})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	sent := func(ctx context.Context, _ Demand) error {
		l, err := load.Run(ctx, bareLoad)
		if err == nil {
			rps, n = l.Summary().RPS, l.Len()
		}
		return err
	}
	plan := Plan{Phases: []Phase{{Name: "bare"}}, Load: sent, WaitFor: []Endpoint{TCP("127.0.0.1:39419")}}
	if err := r.Record(b.Context(), plan); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	run := w.Manifest().Target.Runs[0]
	return rps, float64(run.User+run.System) / float64(n)
}

// churnCycles is how many collections a round of BenchmarkCollection has.
const churnCycles = 1000

// BenchmarkCollection measures what the bare phase costs a program for each of
// its collections, in microseconds of CPU time: gctrace prints a line then, and
// loupe reads it. The program does nothing but collect, so that the cost
// stands out from the noise; multiply by the collections a second of a real
// one. System time is told apart, because that is where the cost lies and the
// noise of marking does not.
//
//	go test -run '^$' -bench Collection -benchtime 40x ./capture/collect
func BenchmarkCollection(b *testing.B) {
	temp := b.TempDir()
	prog, err := Build(b.Context(), BuildOptions{Target: "./testdata/churn", Temp: temp})
	if err != nil {
		b.Fatal(err)
	}
	var all, system [2][]float64
	for round := 0; b.Loop(); round++ {
		for turn := range 2 {
			arm := (round + turn) % 2 // ABBA
			var run recording.Run
			if arm == 0 {
				run = plainChurn(b, prog)
			} else {
				run = recordedChurn(b, prog, temp, fmt.Sprint("churn", round))
			}
			all[arm] = append(all[arm], float64((run.User+run.System).Microseconds())/churnCycles)
			system[arm] = append(system[arm], float64(run.System.Microseconds())/churnCycles)
		}
	}
	for name, arms := range map[string][2][]float64{"all": all, "system": system} {
		r := stats.Compare(stats.Side{Values: arms[0]}, stats.Side{Values: arms[1]}, 0.95)
		plain := stats.Median(arms[0])
		b.ReportMetric(plain, name+"-plain-µs/gc")
		b.ReportMetric(plain*(r.Estimate-1), name+"-cost-µs/gc")
		b.ReportMetric(plain*(r.Low-1), name+"-cost-low-µs/gc")
		b.ReportMetric(plain*(r.High-1), name+"-cost-high-µs/gc")
	}
}

func plainChurn(b *testing.B, prog *Program) recording.Run {
	b.Helper()
	cmd := exec.Command(prog.Path, fmt.Sprint(churnCycles))
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return recording.Run{User: cmd.ProcessState.UserTime(), System: cmd.ProcessState.SystemTime()}
}

func recordedChurn(b *testing.B, prog *Program, temp, name string) recording.Run {
	b.Helper()
	w, err := recording.Create(filepath.Join(temp, name), recording.Manifest{})
	if err != nil {
		b.Fatal(err)
	}
	r, err := NewRecorder(w, prog, RecorderOptions{Temp: temp, Launch: LaunchOptions{Args: []string{fmt.Sprint(churnCycles)}, GODEBUG: RuntimeDebug}})
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Record(b.Context(), Plan{Phases: []Phase{{Name: "bare", For: time.Hour}}}); err != nil {
		b.Fatal(err)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	return w.Manifest().Target.Runs[0]
}
