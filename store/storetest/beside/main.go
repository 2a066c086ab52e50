//go:build linux

// Command beside measures loupe serve beside Pyroscope and Parca: the same profiles, pushed
// over HTTP as their clients push them, and the same questions, asked as their pages ask.
//
//	go run ./store/storetest/beside [-base FILE[,FILE…]] [-pyroscope FILE] [-parca FILE]
//
// 20 pods of 4 services push a CPU profile every five minutes, 50 times: 1,000 profiles of
// 40 series, drawn from the stacks of the base. They come at a fixed rate, whether the server
// keeps up or not, and a push took what has passed since it was due. Each server is a process
// of its own with an empty folder. They are fed one after the other; then all are left alone
// for -settle, in which they merge what they have, and are asked.
//
// docs/benchmarks.md says how the binaries of the others are made. One that is not named, and
// not in the PATH, is left out, which is said. It needs Linux: CPU time and memory are read
// from /proc.
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/format/push"
	"loupe/store/storetest/corpus"
)

const (
	pods, usualPoints = 20, 50
	every             = 5 * time.Minute
	draws             = 1990 // samples of a profile, many of the same stack
	spread            = 2.9
)

func main() {
	log.SetFlags(0)
	base := flag.String("base", "", "profiles to draw stacks from (default: those of this repository)")
	own := flag.String("loupe", "", "binary of loupe (default: it is built)")
	their := map[string]*string{"pyroscope": flag.String("pyroscope", "", "binary of Pyroscope (default: the one in the PATH)"),
		"parca": flag.String("parca", "", "binary of Parca (default: the one in the PATH)")}
	opt := options{idle: 10 * time.Second}
	flag.Float64Var(&opt.rate, "rate", 10, "profiles a second")
	flag.DurationVar(&opt.settle, "settle", 13*time.Minute, "how long the servers may merge before they are asked")
	flag.IntVar(&opt.rounds, "rounds", 30, "how often a question is asked")
	flag.IntVar(&opt.starts, "starts", 3, "how often a server is started for the time that it takes")
	nice := flag.Int("nice", 0, "nice value of the servers; a negative one, which root may give, lets them go before other programs")
	flag.Parse()
	if opt.rounds < 1 || opt.starts < 1 || opt.rate <= 0 {
		log.Fatal("-rounds, -starts and -rate must be positive")
	}
	dir, err := os.MkdirTemp("", "beside")
	check(err)
	defer os.RemoveAll(dir)
	if *own == "" {
		*own = filepath.Join(dir, "loupe")
		cmd := exec.Command("go", "build", "-o", *own, "./cmd/loupe")
		cmd.Stderr = os.Stderr
		check(cmd.Run())
	}
	servers := []server{&loupe{binary: *own, nice: *nice}}
	for _, name := range []string{"pyroscope", "parca"} {
		at, err := exec.LookPath(cmp.Or(*their[name], name))
		switch {
		case err != nil && *their[name] != "":
			check(err)
		case err != nil:
			fmt.Printf("%s is left out: there is no such program in the PATH (-%s FILE names one)\n", name, name)
		case name == "pyroscope":
			servers = append(servers, &pyroscope{binary: at, nice: *nice})
		default:
			servers = append(servers, &parca{binary: at, nice: *nice})
		}
	}
	opt.corpus, err = makeCorpus(*base, usualPoints)
	check(err)
	fmt.Println(opt.corpus)
	var tables []*table
	for i, s := range servers {
		t, err := ingest(s, filepath.Join(dir, fmt.Sprint(i)), &opt)
		if err != nil {
			show(tables)
		}
		check(err)
		defer t.process.stop()
		tables = append(tables, t)
	}
	time.Sleep(opt.settle)
	for _, t := range tables {
		if err := t.questions(&opt); err != nil {
			t.add("stopped", "%v", err)
		}
	}
	show(tables)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func writeFile(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

type options struct {
	rate           float64
	idle, settle   time.Duration // before the first profile, and behind the last
	rounds, starts int
	corpus         *profiles
}

// pushed is a profile as it is sent.
type pushed struct {
	labels []push.Label
	data   []byte
}

// profiles are all that is pushed.
type profiles struct {
	list     []*pushed
	begin    time.Time
	points   int // of each pod
	bytes    int
	samples  int
	total    int64 // of CPU time, ns
	services map[string]int64
}

func (c *profiles) String() string {
	return fmt.Sprintf("%d profiles, %.1f MB packed, %.1f kB and %d samples each, %d ns in all",
		len(c.list), float64(c.bytes)/1e6, float64(c.bytes)/1e3/float64(len(c.list)), c.samples/len(c.list), c.total)
}

// makeCorpus draws the profiles, so many of each pod, which end now: servers refuse what is old.
func makeCorpus(base string, points int) (*profiles, error) {
	from, err := corpus.Base(base)
	if err != nil {
		return nil, err
	}
	c := &profiles{points: points, begin: time.Now().Truncate(every).Add(-time.Duration(points) * every), services: map[string]int64{}}
	c.list = make([]*pushed, pods*points)
	for pod := range pods {
		r := rand.New(rand.NewPCG(1, uint64(pod)))
		service := corpus.NewService(from, uint64(pod%4), spread)
		later := service.Drift(rand.New(rand.NewPCG(3, uint64(pod%4))), 0.3)
		for point := range points {
			version := 2 * point / points
			if version > 0 {
				service = later
			}
			p := service.Draw(r, draws, c.begin.Add(time.Duration(point)*every+time.Duration(pod)*time.Second))
			var b bytes.Buffer
			if err := p.Encode(&b); err != nil {
				return nil, err
			}
			name := fmt.Sprintf("service-%d", pod%4)
			c.bytes += b.Len()
			c.samples += p.Len()
			c.total += p.Total(1)
			c.services[name] += p.Total(1)
			c.list[point*pods+pod] = &pushed{data: b.Bytes(), labels: []push.Label{{Name: "__name__", Value: "process_cpu"},
				{Name: "service_name", Value: name}, {Name: "pod", Value: fmt.Sprintf("pod-%02d", pod)},
				{Name: "region", Value: fmt.Sprintf("region-%d", pod%3)}, {Name: "version", Value: fmt.Sprintf("v%d", version)}}}
		}
	}
	return c, nil
}

// table is what is measured of one server.
type table struct {
	server  server
	process *process
	dir     string
	rows    []row
}

type row struct{ name, value string }

func (t *table) add(name, format string, args ...any) {
	t.rows = append(t.rows, row{name, fmt.Sprintf(format, args...)})
}

func mb(n int64) float64         { return float64(n) / 1e6 }
func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// percentile is one of sorted times.
func percentile(sorted []time.Duration, p int) time.Duration {
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

// accepts pushes one profile until the server takes it.
func accepts(s server, p *process, one *pushed) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		err := s.push(ctx, one)
		if err == nil {
			return nil
		}
		if ended := p.alive(); ended != nil {
			return ended
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s takes no profile: %w", s.name(), err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// startup is how long a server takes from its start to the first profile that it accepts.
func startup(s server, dir string, opt *options) (took []time.Duration, err error) {
	for i := range opt.starts {
		one := filepath.Join(dir, fmt.Sprint("start", i))
		if err := os.MkdirAll(one, 0o700); err != nil {
			return nil, err
		}
		begun := time.Now()
		p, err := s.start(one)
		if err != nil {
			return nil, err
		}
		if err := accepts(s, p, opt.corpus.list[0]); err != nil {
			p.stop()
			return nil, err
		}
		took = append(took, time.Since(begun))
		p.stop()
		os.RemoveAll(one)
	}
	slices.Sort(took)
	return took, nil
}

// ingest starts a server and pushes the corpus.
func ingest(s server, dir string, opt *options) (*table, error) {
	t := &table{server: s, dir: filepath.Join(dir, "data")}
	starts, err := startup(s, dir, opt)
	if err != nil {
		return nil, err
	}
	t.add("start to first accepted profile, s", "%.2f", percentile(starts, 50).Seconds())
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, err
	}
	if t.process, err = s.start(t.dir); err != nil {
		return nil, err
	}
	time.Sleep(opt.idle)
	t.add("RSS, nothing stored yet, MB", "%.1f", mb(t.process.rss()))
	t.add("of it not pages of files, MB", "%.1f", mb(t.process.memory("RssAnon")))
	fail := func(err error) (*table, error) { t.process.stop(); return nil, err }
	if err := accepts(s, t.process, opt.corpus.list[0]); err != nil {
		return fail(err)
	}
	t.add("load of the machine", "%s", load())
	t.process.peakAnew()
	watching, stop := context.WithCancel(context.Background())
	all, kept := watchDisk(watching, t.dir), watchDisk(watching, s.kept(t.dir))
	before, begun := t.process.cpu(), time.Now()
	waits, err := send(s, opt)
	stop()
	if err != nil {
		return fail(errors.Join(err, t.process.alive()))
	}
	n := float64(len(waits))
	t.add("CPU a profile, ms", "%.2f", ms(t.process.cpu()-before)/n)
	t.add("push acknowledged, p50, ms", "%.1f", ms(percentile(waits, 50)))
	t.add("p99, ms", "%.1f", ms(percentile(waits, 99)))
	t.add("profiles a second", "%.1f", n/time.Since(begun).Seconds())
	t.add("peak RSS while ingesting, MB", "%.1f", mb(t.process.peak()))
	t.add("most on disk while ingesting, MB", "%.1f", mb(kept()))
	t.add("with its own logs, MB", "%.1f", mb(all()))
	return t, nil
}

// send pushes all profiles but the first, which is there. Each comes when it is due.
func send(s server, opt *options) ([]time.Duration, error) {
	list := opt.corpus.list[1:]
	waits, errs := make([]time.Duration, len(list)), make([]error, len(list))
	var sending sync.WaitGroup
	begun := time.Now()
	for i, p := range list {
		due := begun.Add(time.Duration(float64(i) / opt.rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		sending.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			errs[i] = s.push(ctx, p)
			waits[i] = time.Since(due)
		})
	}
	sending.Wait()
	slices.Sort(waits)
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s: %d of %d pushes have failed: %w", s.name(), len(errs), len(list), errs[0])
	}
	return waits, nil
}

// questions asks the server everything.
func (t *table) questions(opt *options) error {
	c := opt.corpus
	t.add("RSS, left alone, MB", "%.1f", mb(t.process.rss()))
	size := disk(t.server.kept(t.dir))
	t.add("on disk after -settle, MB", "%.2f", mb(size))
	t.add("B/sample", "%.2f", float64(size)/float64(c.samples))
	t.add("load of the machine, then", "%s", load())
	from, to := c.begin.Add(-time.Minute), c.begin.Add(time.Duration(c.points)*every+time.Minute)
	list := []question{
		{name: "merge of all to a flame graph", kind: "flame", selector: "{}", want: c.total},
		{name: "one service", kind: "flame", selector: `{service_name="service-1"}`, want: c.services["service-1"]},
		{name: "diff of two versions", kind: "diff"},
		{name: "series by pod", kind: "series"},
		{name: "values of a label", kind: "values"},
	}
	for _, q := range list {
		q.from, q.to = from, to
		if err := t.question(q, opt.rounds); err != nil {
			return fmt.Errorf("%s, %s: %w", t.server.name(), q.name, err)
		}
	}
	t.add("total equal to the sample", "yes")
	return nil
}

func (t *table) question(q question, rounds int) error {
	ctx := context.Background()
	var took []time.Duration
	if _, err := t.server.ask(ctx, q); err != nil { // the first one opens files
		return err
	}
	before := t.process.cpu()
	for range rounds {
		begun := time.Now()
		total, err := t.server.ask(ctx, q)
		if err != nil {
			return err
		}
		took = append(took, time.Since(begun))
		if total != q.want {
			return fmt.Errorf("the total is %d, want %d", total, q.want)
		}
	}
	slices.Sort(took)
	t.add(q.name+", wall ms", "%.1f", ms(percentile(took, 50)))
	t.add(q.name+", CPU ms", "%.1f", ms(t.process.cpu()-before)/float64(rounds))
	return nil
}

// show prints the table.
func show(tables []*table) {
	if len(tables) == 0 {
		return
	}
	head, line, most := "| |", "|---|", 0
	for i, t := range tables {
		head, line = head+" "+t.server.name()+" |", line+"--:|"
		if len(t.rows) > len(tables[most].rows) {
			most = i
		}
	}
	fmt.Println(head + "\n" + line)
	for i, r := range tables[most].rows {
		values := make([]string, len(tables))
		for k, t := range tables {
			if i < len(t.rows) {
				values[k] = t.rows[i].value
			}
		}
		fmt.Printf("| %s | %s |\n", r.name, strings.Join(values, " | "))
	}
}
