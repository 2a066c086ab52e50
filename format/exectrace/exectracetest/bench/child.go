package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/source/system"
)

// child reads a trace in one of our ways, and prints how many events it has
// and the most memory beyond the file.
func child(o *options, args []string) error {
	if len(args) != 1 {
		return errors.New("-child wants one FILE")
	}
	data, _, err := system.Map(args[0]) // as long as the process lives
	if err != nil {
		return err
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	t, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		return err
	}
	var events, beyond int64
	switch o.child {
	case "read":
		r := t.Reader()
		for r.Next() {
			if events++; events%often == 0 {
				beyond = max(beyond, anonymous())
			}
		}
		beyond, err = max(beyond, anonymous()), r.Err()
	case "summarize":
		pass := sweep.New(t)
		goroutines, regions, tasks := 0, 0, 0
		s := sched.NewSummarizer(pass.Goroutines(), sched.Sink{
			Goroutine: func(*sched.Goroutine) { goroutines++ },
			Region:    func(*sched.Region) { regions++ },
			Task:      func(*sched.Task) { tasks++ },
		}, sched.SummaryOptions{})
		pass.Join(s)
		err = pass.Run(func() bool {
			beyond = max(beyond, anonymous())
			return false
		})
		events, beyond = pass.Events(), max(beyond, anonymous())
		s.Finish()
	case "analyze":
		var a *sched.Analysis
		if a, err = sched.Analyze(t, sched.AnalyzeOptions{}); err == nil {
			events, beyond = a.Info.Events, anonymous()
		}
	case "page":
		events, beyond, err = firstPage(t)
	default:
		err = fmt.Errorf("there is no -child=%s", o.child)
	}
	if err == nil {
		fmt.Println(events, beyond)
	}
	return err
}

// firstPage reads what the first page of a trace waits for, as the pages do: the analysis
// and the timeline in one pass, ahead where there are Ps for it.
func firstPage(t *exectrace.Trace) (events, beyond int64, err error) {
	timeline := sweep.Want[int]{Key: "timeline", Begin: func(p *sweep.Pass) (func() (int, error), error) {
		older, err := tiles.FindOlder(t)
		if err != nil {
			return nil, err
		}
		b := tiles.NewBuilder(p.Reader(), tiles.Options{Older: older})
		p.Join(b)
		return func() (int, error) { return b.Finish().Len(), nil }, nil
	}}
	desk := sweep.NewDesk(t)
	if err := desk.Prepare(context.Background(), nil, sched.Whole, timeline); err != nil {
		return 0, 0, err
	}
	a, err := sweep.Get(context.Background(), desk, nil, sched.Whole)
	if err != nil {
		return 0, 0, err
	}
	return a.Info.Events, anonymous(), nil
}

// often is after how many events to look at the memory.
const often = 1 << 18

// anonymous returns the resident memory of this process that belongs to no
// file, as Linux counts it; 0 elsewhere.
func anonymous() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(status, []byte("RssAnon:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	kilobytes, _ := strconv.ParseInt(string(number), 10, 64)
	return kilobytes << 10
}
