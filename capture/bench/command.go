package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/capture/collect"
)

// Param is a parameter of commands: {name} in their words becomes each of the values.
type Param struct {
	Name   string
	Values []string
}

// maxValues bounds the values of a parameter, and the combinations of several.
const maxValues = 1000

// ParseParam reads "size=1,2,4", or "n=1..10" and "n=10..100:10" for numbers from one to
// another, with a step.
func ParseParam(text string) (Param, error) {
	name, list, ok := strings.Cut(text, "=")
	if !ok || name == "" || list == "" || strings.ContainsAny(name, "{} \t/") {
		return Param{}, fmt.Errorf("%q: want NAME=VALUE,VALUE… or NAME=FROM..TO or NAME=FROM..TO:STEP", text)
	}
	p := Param{Name: name}
	from, rest, ranged := strings.Cut(list, "..")
	to, by, stepped := strings.Cut(rest, ":")
	if !ranged {
		p.Values = strings.Split(list, ",")
		return p, nil
	}
	if !stepped {
		by = "1"
	}
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	step, err3 := strconv.Atoi(by)
	if err := errors.Join(err1, err2, err3); err != nil || step < 1 || last < first || (last-first)/step >= maxValues {
		return Param{}, fmt.Errorf("%q: want whole numbers FROM..TO:STEP, ascending, %d at most", text, maxValues)
	}
	for v := first; v <= last; v += step {
		p.Values = append(p.Values, strconv.Itoa(v))
	}
	return p, nil
}

// CommandOptions say how commands are run.
type CommandOptions struct {
	Params []Param
	// Shell runs each command, its words with blanks between, by -c; "" runs them
	// without one.
	Shell string
	// Prepare is run by sh -c before each run, and is not measured.
	Prepare string
	// Warmup is how often each is run before it is measured.
	Warmup int
	// Ignore are exit codes that are no failure beside 0; IgnoreAll takes all.
	Ignore    []int
	IgnoreAll bool
	// Input is the file that is standard input, "" the null device.
	Input string
	// Show is where standard output goes; nil throws it away.
	Show *os.File
	// Timeout bounds the time of one run; 0 does not.
	Timeout time.Duration
	// Temp is a private directory.
	Temp string
}

// Units of commands. The time is that from the start of the process until its end.
const (
	UserTime   = "user-ns/op"
	SystemTime = "sys-ns/op"
	PeakRSS    = "peak-rss-B"
)

// Commands are cases of commands: one for each combination of parameters, with a side for
// each command. Herd runs them.
func Commands(herd *collect.Herd, commands [][]string, opt CommandOptions) ([]*Case, error) {
	combinations := [][]string{nil} // values in the order of the parameters
	for _, p := range opt.Params {
		var more [][]string
		for _, have := range combinations {
			for _, v := range p.Values {
				more = append(more, append(slices.Clip(have), v))
			}
		}
		if combinations = more; len(combinations) > maxValues {
			return nil, fmt.Errorf("there are more than %d combinations of parameters", maxValues)
		}
		if !slices.ContainsFunc(commands, func(words []string) bool { return strings.Contains(strings.Join(words, " "), "{"+p.Name+"}") }) &&
			!strings.Contains(opt.Prepare, "{"+p.Name+"}") {
			return nil, fmt.Errorf("no command has {%s} in it, for which there are values", p.Name)
		}
	}
	var cases []*Case
	for _, values := range combinations {
		name := "BenchmarkCommand"
		var pairs []string
		for i, v := range values {
			name += "/" + opt.Params[i].Name + "=" + strings.Join(strings.Fields(v), "_")
			pairs = append(pairs, "{"+opt.Params[i].Name+"}", v)
		}
		c := &Case{Name: name, Config: machine()}
		fill := strings.NewReplacer(pairs...)
		for _, words := range commands {
			one := &commandRun{herd: herd, opt: opt, prepare: fill.Replace(opt.Prepare)}
			for _, w := range words {
				one.words = append(one.words, fill.Replace(w))
			}
			if opt.Shell != "" {
				one.words = []string{opt.Shell, "-c", strings.Join(one.words, " ")}
			}
			if _, err := exec.LookPath(one.words[0]); err != nil {
				if strings.Contains(one.words[0], " ") {
					return nil, fmt.Errorf("cannot run %q: %w: write a command and its arguments as words (-- %s), or let a shell run it (-shell sh)", one.words[0], errors.Unwrap(err), one.words[0])
				}
				return nil, fmt.Errorf("cannot run %s: %w", one.words[0], errors.Unwrap(err))
			}
			c.Sides = append(c.Sides, Side{run: one.run})
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// commandRun is a command that is run again and again.
type commandRun struct {
	herd    *collect.Herd
	opt     CommandOptions
	words   []string
	prepare string
	warm    bool
}

// run measures the command once. Before its first round it is run as often as was asked for
// to warm up.
func (c *commandRun) run(ctx context.Context) (Result, error) {
	for i := 0; !c.warm && i < c.opt.Warmup; i++ {
		if _, err := c.once(ctx); err != nil {
			return Result{}, fmt.Errorf("warming up: %w", err)
		}
	}
	c.warm = true
	r, err := c.once(ctx)
	if err != nil {
		return Result{}, err
	}
	out := Result{Iterations: 1, Noise: noiseOf(r)}
	out.Values = []Value{
		{"ns/op", float64(r.Wall)}, {CPU, float64(r.User + r.System)}, {UserTime, float64(r.User)}, {SystemTime, float64(r.System)},
	}
	if r.Peak > 0 && !r.AtMost {
		out.Values = append(out.Values, Value{PeakRSS, float64(r.Peak)})
	}
	return out, nil
}

// once prepares and runs the command.
func (c *commandRun) once(ctx context.Context) (collect.Ran, error) {
	if c.prepare != "" {
		r, said, err := c.launch(ctx, []string{"sh", "-c", c.prepare}, "")
		if err == nil && r.Code != 0 {
			err = fmt.Errorf("%s%s", r.State, said)
		}
		if err != nil {
			return r, fmt.Errorf("-prepare %s: %w", c.prepare, err)
		}
	}
	r, said, err := c.launch(ctx, c.words, c.opt.Input)
	line := strings.Join(c.words, " ")
	switch {
	case err != nil:
		return r, fmt.Errorf("%s: %w", line, err)
	case r.TimedOut:
		return r, fmt.Errorf("%s: took longer than %v (-timeout)", line, c.opt.Timeout)
	case r.Code != 0 && !c.opt.IgnoreAll && !slices.Contains(c.opt.Ignore, r.Code):
		return r, fmt.Errorf("%s: %s%s", line, r.State, said)
	}
	return r, nil
}

// launch runs words. Its standard error goes into a file: a pipe would have to be read while
// it is measured. What it said is returned for an error.
func (c *commandRun) launch(ctx context.Context, words []string, input string) (r collect.Ran, said string, err error) {
	stderr, err := os.CreateTemp(c.opt.Temp, "stderr")
	if err != nil {
		return r, "", err
	}
	defer func() {
		stderr.Close()
		os.Remove(stderr.Name())
	}()
	l := collect.Launch{Path: words[0], Args: words[1:], Stderr: stderr, Timeout: c.opt.Timeout}
	if c.opt.Show != nil {
		l.Stdout = c.opt.Show
	}
	if input != "" {
		in, err := os.Open(input)
		if err != nil {
			return r, "", err
		}
		defer in.Close()
		l.Stdin = in
	}
	r, err = c.herd.Run(ctx, l)
	if err == nil && r.Code != 0 {
		said = lastLines(stderr)
	}
	return r, said, err
}

// lastLines are the last ones that a program has written to a file, each after a new line.
func lastLines(f *os.File) string {
	const most = 2048
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	from := max(0, info.Size()-most)
	text, _ := io.ReadAll(io.NewSectionReader(f, from, most))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	lines = lines[max(0, len(lines)-5):]
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return "\n\t" + strings.Join(lines, "\n\t")
}
