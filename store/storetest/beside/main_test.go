//go:build linux

package main

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store/block"
	"loupe/store/intake"
	"loupe/web/fleet"
)

// TestMain lets the test be the server that it measures: building the command takes longer
// than all else. What is left out of it is on no path of this program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		flags := flag.NewFlagSet("serve", flag.ExitOnError)
		listen, data := flags.String("listen", "", ""), flags.String("data", "", "")
		check(flags.Parse(os.Args[2:]))
		e, err := block.Open(*data, block.Options{})
		check(err)
		check((&http.Server{Addr: *listen, Handler: fleet.New(e, intake.New(e), fleet.Options{}), Protocols: fleet.Protocols()}).ListenAndServe())
	}
	os.Exit(m.Run())
}

// small is a corpus of three profiles of each pod.
func small(t *testing.T) *profiles {
	t.Helper()
	t.Chdir("../../..")
	c, err := makeCorpus("", 3)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCorpus holds what is said of the corpus against its profiles.
func TestCorpus(t *testing.T) {
	c := small(t)
	if len(c.list) != 3*pods || len(c.services) != 4 {
		t.Fatalf("%d profiles of %d services", len(c.list), len(c.services))
	}
	var total int64
	size, samples := 0, 0
	services, series := map[string]int64{}, map[string]bool{}
	for _, one := range c.list {
		p, err := profile.Decode(one.data, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Time.Before(c.begin) || p.Time.After(time.Now()) {
			t.Errorf("a profile of %v in a corpus from %v on", p.Time, c.begin)
		}
		labels := ""
		for _, l := range one.labels {
			if labels += l.Name + "=" + l.Value + " "; l.Name == "service_name" {
				services[l.Value] += p.Total(1)
			}
		}
		series[labels] = true
		total, size, samples = total+p.Total(1), size+len(one.data), samples+p.Len()
	}
	if total != c.total || size != c.bytes || samples != c.samples || len(series) != 2*pods {
		t.Errorf("got %d ns, %d bytes, %d samples, %d series; it says %s", total, size, samples, len(series), c)
	}
	for name, want := range c.services {
		if services[name] != want {
			t.Errorf("%s: %d, it says %d", name, services[name], want)
		}
	}
}

// TestMeasure starts a server, pushes the corpus and asks everything.
func TestMeasure(t *testing.T) {
	opt := &options{rate: 1000, rounds: 2, starts: 1, corpus: small(t)}
	self, err := filepath.Abs("/proc/self/exe")
	if err == nil {
		self, err = os.Readlink(self)
	}
	if err != nil {
		t.Fatal(err)
	}
	table, err := ingest(&loupe{binary: self}, t.TempDir(), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer table.process.stop()
	if err := table.questions(opt); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"start to first accepted profile, s", "CPU a profile, ms", "push acknowledged, p50, ms", "peak RSS while ingesting, MB",
		"most on disk while ingesting, MB", "B/sample", "merge of all to a flame graph, CPU ms", "diff of two versions, wall ms", "values of a label, CPU ms"} {
		if !slices.ContainsFunc(table.rows, func(r row) bool { return r.name == name && r.value != "" }) {
			t.Errorf("there is no %q", name)
		}
	}
	if last := table.rows[len(table.rows)-1]; last != (row{"total equal to the sample", "yes"}) {
		t.Errorf("it ends with %v", last)
	}
	opt.corpus.total++
	if err := table.questions(opt); err == nil || !strings.Contains(err.Error(), "the total is") {
		t.Errorf("a total that is wrong: %v", err)
	}
	wrong := *opt.corpus.list[1]
	wrong.data = bytes.Repeat([]byte("x"), 100)
	opt.corpus.list = []*pushed{opt.corpus.list[0], &wrong}
	if _, err := send(table.server, opt); err == nil || !strings.Contains(err.Error(), "1 of 1 pushes have failed") {
		t.Errorf("a push that is refused: %v", err)
	}
	table.process.stop()
	if err := table.process.alive(); err == nil {
		t.Error("it runs on after it was stopped")
	}
}

// TestPercentile picks from sorted times.
func TestPercentile(t *testing.T) {
	list := []time.Duration{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for p, want := range map[int]time.Duration{0: 1, 50: 6, 99: 10, 100: 10} {
		if got := percentile(list, p); got != want {
			t.Errorf("percentile %d is %d, want %d", p, got, want)
		}
	}
}
