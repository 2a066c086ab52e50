package recordingtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

func TestFacts(t *testing.T) {
	r := recordingtest.New(`
		title two words
		start 2026-05-01T00:00:00Z
		target package ./shop -port 8080 module=example.com/shop env="GOGC=off GOMAXPROCS=2"
		host os=linux cpus=4 quota=1.5 cpu="Big Iron"
		run 0s..2s pid=7 user=1s rss=1048576 exit="exit status 3"
		phase bare 1s..2s round=2 order=3 user=500ms
		note be careful
		incomplete
		-- a.log stderr run=0 --
		1.5s | hello | world
		-- source/x.go source from=/x.go --
		package x
	`).Open()
	m := r.Manifest
	if m.Title != "two words" || m.Target.Name != "./shop" || strings.Join(m.Target.Args, " ") != "-port 8080" || m.Target.Env[1] != "GOMAXPROCS=2" ||
		m.Host.CPU != "Big Iron" || m.Host.Quota != 1.5 || m.Target.Runs[0].Exit != "exit status 3" || m.Phases[0].Order != 3 ||
		m.Phases[0].Span.Len() != time.Second || m.Notes[0] != "be careful" || m.Complete || m.Start.Month() != time.May {
		t.Errorf("manifest = %+v", m)
	}
	if data, err := r.ReadFile("a.log", 100); err != nil || string(data) != "hello | world\n" {
		t.Errorf("a.log = %q, %v", data, err)
	}
	if data, err := r.ReadFile("a.log.times", 100); err != nil || string(data) != "1500000000\n" {
		t.Errorf("a.log.times = %q, %v", data, err)
	}
	if e := m.Of(recording.Source)[0]; e.Source != "/x.go" {
		t.Errorf("source = %+v", e)
	}
}

func TestPanics(t *testing.T) {
	f := func(text string) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("New(%q) did not panic", text)
			}
		}()
		recordingtest.New(text)
	}
	f("colour red")
	f("phase bare")
	f("phase bare 1s")
	f("run 1s..x")
	f(`note "` + "\n" + `host cpu="open`)
	f("-- a.log stderr --\n1s | a\nb\n")
	f("-- os.ndjson os --\nt_ns busy_ns\n1s\n")
}

func ExampleCycle() {
	fmt.Println(recordingtest.Cycle{N: 7, At: 1500 * time.Millisecond, STW1: 120 * time.Microsecond, Live: 12, Forced: true})
	fmt.Println(recordingtest.Sched{At: time.Second, Procs: 2, Idle: 1})
	// Output:
	// gc 7 @1.500s 0%: 0.12+0.5+0.02 ms clock, 0.48+0/0/0+0.08 ms cpu, 4->4->12 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 4 P (forced)
	// SCHED 1000ms: gomaxprocs=2 idleprocs=1 threads=4 spinningthreads=0 needspinning=0 idlethreads=0 runqueue=0 [ 0 0 ] schedticks=[ 0 0 ]
}
