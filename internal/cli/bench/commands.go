package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/internal/cli/record"
	"loupe/report"
	"loupe/value/secret"
	"loupe/value/stats"
)

// commandFlags are the flags of commands.
type commandFlags struct {
	warmup                        int
	params                        []bench.Param
	prepare, shell, ignore, input string
	show                          bool
}

// commandFlagNames are those that do nothing for packages.
var commandFlagNames = []string{"warmup", "param", "prepare", "shell", "ignore-exit", "input", "show"}

func (f *flags) declareCommands(fs *command.FlagSet) {
	c := &f.commands
	fs.IntVar(&c.warmup, "warmup", 0, "run each command `number` times before it is measured")
	fs.Func("param", "replace {NAME} with each of `NAME=a,b,c`, or NAME=1..8, NAME=0..100:10\n(repeatable: all combinations)", func(s string) error {
		p, err := bench.ParseParam(s)
		c.params = append(c.params, p)
		return err
	})
	fs.StringVar(&c.prepare, "prepare", "", "run this `command` by sh before each run; it is not measured")
	fs.StringVar(&c.shell, "shell", "", "run the commands in this `shell`, whose startup is measured too: sh, bash")
	fs.StringVar(&c.ignore, "ignore-exit", "", "exit `codes` that are not failures: 1,2 or all")
	fs.StringVar(&c.input, "input", "", "`file` to use as their standard input")
	fs.BoolVar(&c.show, "show", false, "print their output on standard error")
}

// runCommands measures commands.
func (f *flags) runCommands(e *command.Env, words []string) error {
	commands, err := f.split(words)
	if err != nil {
		return err
	}
	for _, name := range []string{"bench", "benchtime", "build", "profile", "recording", "bisect", "instructions"} {
		if f.set.Given(name) {
			return command.Usagef("-%s is for benchmarks of packages, not for commands", name)
		}
	}
	if len(commands) < 2 && f.set.Given("fail") {
		return command.Usagef("-fail has no effect with one command: there is nothing to compare it with")
	}
	if len(commands) < 2 && f.floor {
		return command.Usagef("-floor has no effect with one command: there is nothing to compare it with")
	}
	file, err := f.createOutput()
	if err != nil {
		return err
	}
	return e.WithTemp(func(temp string) error {
		opt, err := f.commandOptions(temp)
		if err != nil {
			return err
		}
		m := &measurement{flags: f}
		for i, c := range commands {
			m.titles = append(m.titles, secret.Text(strings.Join(c, " ")))
			m.sides = append(m.sides, fmt.Sprintf("command%d", i+1))
		}
		herd := &collect.Herd{}
		defer herd.Close()
		if f.floor {
			m.again = len(commands)
			m.sides, commands = append(m.sides, againSide), append(commands, commands[0])
		}
		if m.cases, err = bench.Commands(herd, commands, opt); err != nil {
			return err
		}
		keeper, err := f.keeper(e, temp, false)
		if err != nil {
			return err
		}
		if err := m.take(e, file, nil); err != nil {
			return err
		}
		m.keep(e, keeper)
		return m.conclude(e, report.CommandSheet(m.lines()))
	})
}

// split makes commands of the words behind --, with that of -vs as the first.
func (f *flags) split(words []string) (commands [][]string, err error) {
	if f.vs != "" {
		commands = append(commands, record.SplitFlags(f.vs))
	}
	start := 0
	for i := 0; i <= len(words); i++ {
		if i == len(words) || words[i] == "--" {
			commands, start = append(commands, words[start:i]), i+1
		}
	}
	if slices.ContainsFunc(commands, func(c []string) bool { return len(c) == 0 || c[0] == "" }) {
		return nil, command.Usagef("the command after -- is missing")
	}
	return commands, nil
}

// commandOptions are those of the flags.
func (f *flags) commandOptions(temp string) (bench.CommandOptions, error) {
	c := &f.commands
	opt := bench.CommandOptions{
		Params: c.params, Shell: c.shell, Prepare: c.prepare, Warmup: c.warmup, Input: c.input, Timeout: f.limit, Temp: temp,
	}
	if c.warmup < 0 {
		return opt, command.Usagef("-warmup: want 0 or more")
	}
	for code := range strings.SplitSeq(c.ignore, ",") {
		n, err := strconv.Atoi(code)
		switch {
		case code == "all":
			opt.IgnoreAll = true
		case code != "" && err != nil:
			return opt, command.Usagef("-ignore-exit: %q is not an exit code: want 1,2 or all", code)
		case code != "":
			opt.Ignore = append(opt.Ignore, n)
		}
	}
	if c.input != "" {
		if _, err := os.Stat(c.input); err != nil {
			return opt, fmt.Errorf("-input: %w", err)
		}
	}
	if c.show {
		opt.Show = os.Stderr
	}
	return opt, nil
}

// lines are the rows of the table of commands.
func (m *measurement) lines() (lines []report.CommandLine) {
	fastest := time.Duration(0)
	for _, c := range m.cases {
		params := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(c.Name, "BenchmarkCommand"), "/"), "/", " ")
		for side, s := range c.Sides[:len(m.titles)] {
			wall := figuresOf(s.Results, "ns/op")
			if len(wall) == 0 {
				continue
			}
			median := func(unit string) time.Duration { return time.Duration(stats.Median(figuresOf(s.Results, unit))) }
			l := report.CommandLine{
				Name: m.titles[side], Params: params, Rounds: len(wall), Median: median("ns/op"),
				Low: time.Duration(slices.Min(wall)), High: time.Duration(slices.Max(wall)),
				User: median(bench.UserTime), System: median(bench.SystemTime),
			}
			if peak := figuresOf(s.Results, bench.PeakRSS); len(peak) == len(wall) {
				l.Peak = int64(stats.Median(peak))
			}
			if fastest == 0 || l.Median < fastest {
				fastest = l.Median
			}
			lines = append(lines, l)
		}
	}
	for i := range lines {
		lines[i].Ratio = float64(lines[i].Median) / float64(cmp.Or(fastest, 1))
	}
	return lines
}

// figuresOf are the figures of a unit in all rounds that have it.
func figuresOf(results []bench.Result, unit string) (out []float64) {
	for _, r := range results {
		if x, ok := r.Value(unit); ok {
			out = append(out, x)
		}
	}
	return out
}
