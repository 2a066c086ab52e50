package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Instructions is the unit of how many instructions the processor executes in an operation, in user
// space, without those of the garbage collector. Neighbours on the machine do not change it, and
// caches, branches and system calls do not count.
const Instructions = "instr/op"

// valgrindFlags make valgrind count instructions and nothing else.
var valgrindFlags = []string{"--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"}

// steady is what the runtime has to leave off under valgrind: signals that interrupt goroutines
// make it crash now and then.
const steady = "asyncpreemptoff=1"

// counted is how long the operations take, without valgrind, whose instructions are counted; it makes
// them some twenty-five times as long.
const counted = 20 * time.Millisecond

// CountInstructions makes the runner count the instructions of each benchmark in each round, by two
// more runs under valgrind. It errs where there is none.
func (r *Runner) CountInstructions() error {
	path, err := exec.LookPath("valgrind")
	if err != nil {
		return fmt.Errorf("cannot count instructions without valgrind: %w (install the package valgrind)", err)
	}
	r.valgrind = path
	return nil
}

// instructions counts those of an operation: two runs that do not do as many have the start of
// the program, and what the benchmark prepares, in common.
func (r *Runner) instructions(ctx context.Context, p *Package, f found) (float64, error) {
	many := max(10, operations(counted, 10, []found{f}))
	if f.perOp > float64(counted) {
		many = 2
	}
	few := many / 2
	if many > 100 {
		few = many / 10
	}
	first, err := r.refs(ctx, p, f, few)
	if err != nil {
		return 0, err
	}
	second, err := r.refs(ctx, p, f, many)
	if err != nil {
		return 0, err
	}
	if second <= first {
		return 0, errors.New("more operations did not take more instructions")
	}
	return float64(second-first) / float64(many-few), nil
}

// refs counts the instructions of one run. One that crashes is run once more.
func (r *Runner) refs(ctx context.Context, p *Package, f found, times int64) (n int64, err error) {
	for range 2 {
		var out ran
		out, err = r.runUnder(ctx, append([]string{r.valgrind}, valgrindFlags...), p, "-test.bench="+Exactly(f.name), fmt.Sprintf("-test.benchtime=%dx", times))
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err != nil {
			continue
		}
		if n, err = refsOf(out.stderr); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("valgrind: %w", err)
}

// refsLine is where cachegrind says how many instructions there were; the last such line is its own.
var refsLine = regexp.MustCompile(`(?m)^==\d+== I\s+refs:\s+([\d,]+)\s*$`)

// refsOf reads what cachegrind says at the end.
func refsOf(text string) (int64, error) {
	all := refsLine.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0, errors.New("it does not say how many instructions there were")
	}
	return strconv.ParseInt(strings.ReplaceAll(all[len(all)-1][1], ",", ""), 10, 64)
}

// steadyEnv is the environment of a program under valgrind. The collector is off, up to a
// limit, and there is one P: how much its workers do, and how long Ps spin while they look for work,
// depends on who gets a processor when, and varies by more than what is looked for. Of the benchmark of
// the lab stream a run took 9 to 138 million instructions with two Ps and 4.0 to 4.1 with one.
func steadyEnv() []string {
	debug := steady
	if already := os.Getenv("GODEBUG"); already != "" {
		debug = already + "," + steady
	}
	return append(os.Environ(), "GODEBUG="+debug, "GOMAXPROCS=1", "GOGC=off", "GOMEMLIMIT=1GiB")
}
