package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"loupe/analysis/compare/comparetest"
	"loupe/capture/bench"
	"loupe/capture/collect"
	"loupe/value/stats"
)

// benchmarks are what is measured in a row, by package and name.
var benchmarks = []struct{ name, pkg, bench string }{
	{"stream-one", "./labs/stream", "AlgorithmOne$"},
	{"stream-two", "./labs/stream", "AlgorithmTwo$"},
	{"gzippool", "./labs/gzippool", "EncodeWithPool$"},
	{"strings", "strings", "Fields$/^ASCII$/^65536$"},
	{"json", "encoding/json", "CodeMarshal$"},
	{"sort", "sort", "SortString1K$"},
}

// work is how much the sides of a planted series do: real work, counted in messages and
// requests.
var work = []float64{1, 1.01, 1.02, 1.03, 1.05}

// recorder records series into files.
type recorder struct {
	temp   string
	rounds int
	length time.Duration
	herd   collect.Herd
	// instructions are counted, too.
	instructions bool
}

func progress(format string, args ...any) {}

// record records all series of the names and writes them.
func record(ctx context.Context, o *options) error {
	temp, err := os.MkdirTemp("", "aa")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r := &recorder{temp: temp, rounds: o.rounds, length: o.length, instructions: o.instructions}
	defer r.herd.Close()
	if !o.quiet {
		defer disturb(ctx)()
	}
	var all []comparetest.Series
	add := func(name string, take func() ([]comparetest.Series, error)) error {
		if !strings.Contains(name, o.only) {
			return nil
		}
		start := time.Now()
		got, err := take()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, time.Since(start).Round(time.Second))
		all = append(all, got...)
		return write(o.record, all)
	}
	for _, b := range benchmarks {
		err = errors.Join(err, add(b.name, func() ([]comparetest.Series, error) { return r.benchmark(ctx, b.name, b.pkg, b.bench) }))
	}
	err = errors.Join(err, add("program", func() ([]comparetest.Series, error) { return r.program(ctx) }))
	return errors.Join(err, add("server", func() ([]comparetest.Series, error) { return r.server(ctx) }))
}

func write(name string, all []comparetest.Series) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(comparetest.Write(f, all), f.Close())
}

// benchmark measures one benchmark in a row.
func (r *recorder) benchmark(ctx context.Context, name, pkg, pattern string) ([]comparetest.Series, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	packages, err := bench.Build(ctx, bench.Tree{Dir: dir}, bench.BuildOptions{Patterns: []string{pkg}, Temp: filepath.Join(r.temp, name), Progress: progress})
	if err != nil {
		return nil, err
	}
	p, err := bench.ParsePattern(pattern)
	if err != nil {
		return nil, err
	}
	run := &bench.Runner{Bench: p, For: r.length, Timeout: time.Minute, Progress: progress}
	defer run.Close()
	units := []string{"ns/op", "cpu-ns/op"}
	if r.instructions {
		if err := run.CountInstructions(); err != nil {
			return nil, err
		}
		units = append(units, bench.Instructions)
	}
	cases, _, err := run.Discover(ctx, [][]*bench.Package{packages})
	if err != nil || len(cases) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%d benchmarks match %s", len(cases), pattern))
	}
	err = bench.Measure(ctx, bench.Plan{Rounds: r.rounds, Progress: progress}, cases)
	var out []comparetest.Series
	for _, unit := range units {
		s := comparetest.Series{Name: name, Unit: unit, Work: []float64{1}, Rounds: make([][]float64, 1)}
		for _, result := range cases[0].Sides[0].Results {
			if v, ok := result.Value(s.Unit); ok {
				s.Rounds[0] = append(s.Rounds[0], v)
			}
		}
		out = append(out, s)
	}
	return out, errors.Join(err, cases[0].Failed)
}

// build builds a program of the repository.
func (r *recorder) build(pkg string) (string, error) {
	out := filepath.Join(r.temp, filepath.Base(pkg))
	text, err := exec.Command("go", "build", "-o", out, pkg).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return out, nil
}

// planted measures sides that do more and more work, in blocks of random order.
func (r *recorder) planted(name string, round func(work float64) (wall, cpu time.Duration, err error)) ([]comparetest.Series, error) {
	out := []comparetest.Series{
		{Name: name, Unit: "ns/op", Work: work, Rounds: make([][]float64, len(work))},
		{Name: name, Unit: "cpu-ns/op", Work: work, Rounds: make([][]float64, len(work))},
	}
	order := stats.Order{Seed: rand.Uint64()}
	for block := range r.rounds / 4 {
		for _, side := range order.Block(block, len(work)) {
			wall, cpu, err := round(work[side])
			if err != nil {
				return nil, err
			}
			out[0].Rounds[side] = append(out[0].Rounds[side], float64(wall))
			out[1].Rounds[side] = append(out[1].Rounds[side], float64(cpu))
		}
	}
	return out, nil
}

// program measures the stream lab, which handles so many messages more.
func (r *recorder) program(ctx context.Context) ([]comparetest.Series, error) {
	path, err := r.build("./labs/stream")
	if err != nil {
		return nil, err
	}
	return r.planted("program", func(work float64) (wall, cpu time.Duration, err error) {
		ran, err := r.herd.Run(ctx, collect.Launch{Path: path, Args: []string{"-mode", "two", "-messages", fmt.Sprint(int(400_000 * work))}})
		return ran.Wall, ran.User + ran.System, err
	})
}

// server measures the lab sendjson, started afresh for each round, which answers so many
// requests more.
func (r *recorder) server(ctx context.Context) ([]comparetest.Series, error) {
	path, err := r.build("./labs/sendjson")
	if err != nil {
		return nil, err
	}
	return r.planted("server", func(work float64) (wall, cpu time.Duration, err error) {
		return serve(ctx, path, int(1000*work))
	})
}

// serve starts a server, sends requests one after the other, and ends it.
func serve(ctx context.Context, path string, requests int) (wall, cpu time.Duration, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, 0, err
	}
	addr := l.Addr().String()
	l.Close()
	cmd := exec.CommandContext(ctx, path, "-addr", addr)
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	for range 500 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	transport := &http.Transport{}
	client := &http.Client{Transport: transport}
	start := time.Now()
	for range requests {
		answer, err := client.Post("http://"+addr+"/sendjson", "", nil)
		if err != nil {
			break
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if err != nil {
			break
		}
	}
	wall = time.Since(start)
	transport.CloseIdleConnections()
	cmd.Process.Kill()
	cmd.Wait() // it was killed
	return wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}
