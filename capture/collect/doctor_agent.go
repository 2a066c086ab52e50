package collect

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"loupe/format/dump"
	"loupe/format/godebug"
)

// CompareAgentOptions say how a program is held against itself.
type CompareAgentOptions struct {
	// Build says what is built; NoAgent is ignored.
	Build BuildOptions
	// Args are the program's, Env is added to its environment.
	Args, Env []string
	// For is how long a run may take; then its goroutines are asked for, and
	// it is killed.
	For time.Duration
}

// CompareAgent builds a program with the agent and without, runs both, and tells
// where they differ: in the exit code, in what they print, in their goroutines,
// in the order in which packages are initialized. Each is run twice, so that
// what differs by itself is not taken for a difference. An error means that the
// program cannot be built or started.
func CompareAgent(ctx context.Context, opt CompareAgentOptions) ([]Check, error) {
	plainOpt, agentOpt := opt.Build, opt.Build
	plainOpt.NoAgent, agentOpt.NoAgent = true, false
	plainOpt.Temp, agentOpt.Temp = filepath.Join(opt.Build.Temp, "plain"), filepath.Join(opt.Build.Temp, "agent")
	for _, dir := range []string{plainOpt.Temp, agentOpt.Temp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	with, err := Build(ctx, agentOpt)
	if err != nil {
		return nil, err
	}
	if !with.Agent {
		return []Check{{"agent", Caution, "nothing to compare: " + strings.Join(with.Notes, "; "), ""}}, nil
	}
	plain, err := Build(ctx, plainOpt)
	if err != nil {
		return nil, err
	}
	var a, b [2]*trial
	for i := range a {
		if a[i], err = plain.try(ctx, opt, plainOpt.Temp, ""); err != nil {
			return nil, err
		}
		if b[i], err = with.try(ctx, opt, agentOpt.Temp, ""); err != nil {
			return nil, err
		}
	}
	inits, err := plain.try(ctx, opt, plainOpt.Temp, "inittrace=1")
	if err != nil {
		return nil, err
	}
	initsWith, err := with.try(ctx, opt, agentOpt.Temp, "inittrace=1")
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return []Check{
		checkSame("exit", a, b, func(t *trial) string { return t.exit }),
		checkSame("stdout", a, b, func(t *trial) string { return t.settle(t.stdout.String()) }),
		checkSame("stderr", a, b, (*trial).words),
		checkSame("goroutines", a, b, (*trial).goroutines),
		checkInits(inits, initsWith),
	}, nil
}

// trial is one run.
type trial struct {
	stdout, stderr limitedBuffer
	exit           string // "" while it ran when its time was over
	folder         string // where the program was built
}

// maxTrial bounds what is kept of each stream of a run.
const maxTrial = 16 << 20

// limitedBuffer keeps the first maxTrial bytes.
type limitedBuffer struct{ bytes.Buffer }

// Write keeps what there is room for.
func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, maxTrial-b.Len()))])
	return len(p), nil
}

func (p *Program) try(ctx context.Context, opt CompareAgentOptions, temp, debug string) (*trial, error) {
	socket := ""
	if p.Agent {
		socket = filepath.Join(temp, fmt.Sprintf("agent-%d", time.Now().UnixNano()))
	}
	env, err := p.environment(LaunchOptions{Env: opt.Env, GODEBUG: debug}, temp, socket)
	if err != nil {
		return nil, err
	}
	t := &trial{folder: temp}
	cmd := exec.Command(p.Path, opt.Args...)
	cmd.Dir, cmd.Env = p.Dir, env
	cmd.Stdout, cmd.Stderr = &t.stdout, &t.stderr
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", p.name(), err)
	}
	stop := mind(cmd.Process.Pid)
	defer stop()
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
		t.exit = cmd.ProcessState.String()
		return t, nil
	case <-ctx.Done():
	case <-time.After(opt.For):
		askForStacks(cmd.Process)
		select {
		case <-done:
		case <-time.After(stopGrace[0].wait):
		}
	}
	signalGroup(cmd.Process, os.Kill)
	<-done
	return t, nil
}

// varying is what differs from run to run in any dump: addresses, numbers of
// goroutines and processes, times.
var varying = regexp.MustCompile(`0x[0-9a-f]+|\bgoroutine \d+|\bin goroutine \d+|\d+(\.\d+)?(ns|µs|us|ms|s)\b`)

// settle takes out what varies, and the folder of the program.
func (t *trial) settle(text string) string {
	return varying.ReplaceAllString(strings.ReplaceAll(text, t.folder, "…"), "…")
}

// words is what the program itself printed to standard error, but for the dump
// that it was asked for.
func (t *trial) words() string {
	text := t.stderr.String()
	if t.exit == "" {
		text, _, _ = strings.Cut(text, "SIGQUIT: quit")
	}
	return t.settle(text)
}

// goroutines counts the goroutines of the dump by where they began. A dump after
// SIGQUIT has those of the runtime as well, and the agent's among them.
func (t *trial) goroutines() string {
	if t.exit != "" {
		return ""
	}
	f := dump.Parse(t.stderr.Bytes())
	count := map[string]int64{}
	for _, g := range f.Groups(nil) {
		begins := ""
		runtimes := false
		for _, id := range f.Stacks.Frames(g.Stack) {
			begins = f.Stacks.Frame(id).Func
			runtimes = runtimes || strings.HasPrefix(begins, "runtime.loupe")
		}
		if begins != "" && !runtimes {
			count[begins] += g.Count
		}
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		lines = append(lines, fmt.Sprintf("%d × %s", count[name], name))
	}
	return strings.Join(lines, "\n")
}

// checkSame holds what two runs without the agent told against two with it.
func checkSame(name string, a, b [2]*trial, of func(*trial) string) Check {
	c := Check{Name: name, Verdict: Good}
	was, is := of(a[0]), of(b[0])
	switch {
	case was == is || was == of(b[1]) || of(a[1]) == is:
		c.Found = "the same with the agent as without"
		if name == "exit" && is != "" {
			c.Found += ": " + is
		}
		if is == "" {
			c.Found = map[string]string{
				"exit": "both ran until they were stopped", "goroutines": "both ended by themselves: nothing to compare",
			}[name]
			if c.Found == "" {
				c.Found = "both printed nothing"
			}
		}
	case was != of(a[1]):
		c.Verdict, c.Found = Caution, "it differs between runs without the agent, too"
	default:
		c.Verdict, c.Found = Bad, difference(was, is)
		c.Advice = "Record without the agent: loupe run -no-agent. Please report this program: it should behave the same."
	}
	return c
}

// difference names the first line that is not the same.
func difference(was, is string) string {
	a, b := strings.Split(was, "\n"), strings.Split(is, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "nothing", "nothing"
		if i < len(a) {
			x = fmt.Sprintf("%.100q", a[i])
		}
		if i < len(b) {
			y = fmt.Sprintf("%.100q", b[i])
		}
		if x != y {
			return fmt.Sprintf("line %d is %s without the agent, %s with it", i+1, x, y)
		}
	}
	return "it differs"
}

// checkInits compares the order in which packages are initialized.
func checkInits(a, b *trial) Check {
	order := func(t *trial) (names []string) {
		for _, x := range godebug.Parse(t.stderr.Bytes()).Inits {
			names = append(names, x.Package)
		}
		return names
	}
	was, is := order(a), order(b)
	common := slices.DeleteFunc(slices.Clone(is), func(p string) bool { return !slices.Contains(was, p) })
	more := slices.DeleteFunc(slices.Clone(is), func(p string) bool { return slices.Contains(was, p) })
	c := Check{Name: "init order", Verdict: Good}
	switch {
	case len(was) == 0:
		c.Verdict, c.Found = Caution, "this version of Go does not report it (GODEBUG=inittrace=1 needs Go 1.16)"
	case !slices.Equal(was, common):
		c.Verdict, c.Found = Bad, difference(strings.Join(was, "\n"), strings.Join(common, "\n"))
	default:
		c.Found = fmt.Sprintf("the same for all %d packages that have something to initialize", len(was))
		if len(more) > 0 {
			c.Found += "; besides them " + strings.Join(more, ", ")
		}
	}
	return c
}
