//go:build linux

// Command cost measures what a target pays for being asked for profiles: two servers under the
// same steady load at the same time, one of them asked by loupe serve at its default rate.
//
//	go build -o loupe ./cmd/loupe
//	go run ./store/storetest/cost -loupe ./loupe -target 127.0.0.1:{PORT} -load http://127.0.0.1:{PORT}/metrics -q 5 \
//		node_exporter --web.listen-address=127.0.0.1:{PORT}
//
// The arguments are the command of the server. {PORT} and {ADMIN} become two free ports of each of
// the two, which also has them in its environment. Which of the two is asked is drawn for each
// turn. What else the machine does slows down both at the same time, and falls out of their ratio.
//
// What is compared is the CPU time of a server for each answered request. A window begins twenty seconds
// after loupe serve: its first round of profiles has begun by then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"loupe/value/stats"
)

type options struct {
	loupe, target, load string
	rate                float64
	window, lead        time.Duration
	turns, inFlight     int
	said                string // by loupe serve of its target, last
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.loupe, "loupe", "loupe", "the loupe that asks")
	flag.StringVar(&o.target, "target", "127.0.0.1:{PORT}", "host:port of /debug/pprof")
	flag.StringVar(&o.load, "load", "", "URL that is asked for at a steady rate")
	flag.Float64Var(&o.rate, "q", 100, "requests a second to each server")
	flag.IntVar(&o.inFlight, "in-flight", 16, "most requests at once to a server; what would be more is left out and counted")
	flag.DurationVar(&o.window, "window", time.Minute, "length of a window")
	flag.DurationVar(&o.lead, "lead", 20*time.Second, "time from the start of loupe serve to the window")
	flag.IntVar(&o.turns, "turns", 12, "how many windows")
	flag.Parse()
	if o.load == "" || flag.NArg() == 0 {
		log.Fatal("usage: cost [-loupe FILE] [-target HOST:PORT] -load URL [-q N] COMMAND [ARGS]")
	}
	if err := o.run(flag.Args()); err != nil {
		log.Fatal(err)
	}
}

// server is one of the two.
type server struct {
	cmd                   *exec.Cmd
	target, load          string
	sent, failed, skipped atomic.Int64
	answered, flying      atomic.Int64
	errors                atomic.Pointer[string] // the last one
}

// window is what was measured of a server.
type window struct {
	cpu      time.Duration
	answered int64
}

func (o *options) run(command []string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var both [2]*server
	for i := range both {
		s, err := o.start(command)
		if err != nil {
			return err
		}
		defer stop(s.cmd)
		both[i] = s
		go o.send(ctx, s)
	}
	time.Sleep(5 * time.Second) // they have warmed up

	var all comparison
	var own time.Duration
	for turn, first := range draw(o.turns) {
		asked, alone := both[0], both[1]
		if !first {
			asked, alone = both[1], both[0]
		}
		with, without, used, err := o.turn(asked, alone)
		if err != nil {
			return err
		}
		own += used
		all.add(turn, with, without)
		fmt.Printf("%2d  asked %7.3f CPU s, %d requests   alone %7.3f CPU s, %d requests   loupe serve %6.3f CPU s\n",
			turn+1, with.cpu.Seconds(), with.answered, without.cpu.Seconds(), without.answered, used.Seconds())
	}
	cancel()
	for i, s := range both {
		fmt.Printf("server %d: %d requests, %d failed, %d left out", i+1, s.sent.Load(), s.failed.Load(), s.skipped.Load())
		if text := s.errors.Load(); text != nil {
			fmt.Printf(" (the last error: %s)", *text)
		}
		fmt.Println()
	}
	fmt.Printf("loupe serve at the end of the last window: %s\n", o.said)
	fmt.Print(all.result(o.window))
	fmt.Printf("loupe serve itself: %.2f %% of one CPU, its start included\n", 100*own.Seconds()/(float64(o.turns)*(o.window+o.lead).Seconds()))
	return nil
}

// draw says for each turn whether the first server is asked: in half of them, in random order.
func draw(turns int) []bool {
	first := make([]bool, turns)
	for i := range first {
		first[i] = i%2 == 0
	}
	rand.Shuffle(turns, func(i, j int) { first[i], first[j] = first[j], first[i] })
	return first
}

// comparison is what the windows so far say.
type comparison struct {
	with, without stats.Side // CPU seconds a request
	rate          float64    // answered requests, in all windows of both
}

func (c *comparison) add(turn int, with, without window) {
	a, b := without.cpu.Seconds()/float64(without.answered), with.cpu.Seconds()/float64(with.answered)
	c.without.Values, c.without.Blocks = append(c.without.Values, a), append(c.without.Blocks, turn)
	c.with.Values, c.with.Blocks = append(c.with.Values, b), append(c.with.Blocks, turn)
	c.rate += float64(with.answered + without.answered)
}

// result says how much more an asked server uses: of its own time, and of one CPU. The interval of
// the latter is that of the ratio, times what the server uses alone.
func (c *comparison) result(length time.Duration) string {
	got := stats.Compare(c.without, c.with, 0.95)
	alone := geometric(c.without.Values) * c.rate / float64(2*len(c.with.Values)) / length.Seconds() // CPUs
	text := fmt.Sprintf("alone a server uses %.2f %% of one CPU; asked it uses %+.2f %% of that", 100*alone, 100*(got.Estimate-1))
	if !math.IsNaN(got.Low) {
		text += fmt.Sprintf(" [%+.2f %%, %+.2f %%], %.0f %% confidence", 100*(got.Low-1), 100*(got.High-1), 100*got.Confidence)
	}
	return text + fmt.Sprintf(", p %.2g (%s)\nwhich is %+.3f %% of one CPU [%+.3f %%, %+.3f %%]\n", got.P, got.Method,
		100*alone*(got.Estimate-1), 100*alone*(got.Low-1), 100*alone*(got.High-1))
}

// geometric is the mean of logarithms.
func geometric(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// start begins a server with ports of its own, and waits until it answers.
func (o *options) start(command []string) (*server, error) {
	ports, err := free()
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer("{PORT}", ports[0], "{ADMIN}", ports[1]).Replace
	s := &server{target: fill(o.target), load: fill(o.load)}
	args := make([]string, len(command))
	for i, arg := range command {
		args[i] = fill(arg)
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	s.cmd.Env = append(os.Environ(), "PORT="+ports[0], "ADMIN="+ports[1])
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for _, url := range []string{"http://" + s.target + "/debug/pprof/", s.load} {
		if err := answers(url); err != nil {
			stop(s.cmd)
			return nil, err
		}
	}
	return s, nil
}

// free are two ports that nobody listens on.
func free() (ports [2]string, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer l.Close() // when both are known: they differ
		ports[i] = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// turn measures a window of both, and what loupe serve used itself.
func (o *options) turn(asked, alone *server) (with, without window, own time.Duration, err error) {
	dir, err := os.MkdirTemp("", "loupe-cost")
	if err != nil {
		return with, without, 0, err
	}
	defer os.RemoveAll(dir)
	ports, err := free()
	if err != nil {
		return with, without, 0, err
	}
	address := "127.0.0.1:" + ports[0]
	asks := exec.Command(o.loupe, "serve", "-listen", address, "-data", dir, "-targets", asked.target)
	asks.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := asks.Start(); err != nil {
		return with, without, 0, err
	}
	defer stop(asks)
	time.Sleep(o.lead)
	both := [2]*server{asked, alone}
	var begin, end [2]window
	for i, s := range both {
		if begin[i], err = s.now(); err != nil {
			return with, without, 0, err
		}
	}
	time.Sleep(o.window)
	for i, s := range both {
		if end[i], err = s.now(); err != nil {
			return with, without, 0, err
		}
	}
	own, err = clock(asks)
	o.said, err = said(err, address)
	for i := range end {
		end[i].cpu -= begin[i].cpu
		end[i].answered -= begin[i].answered
		if end[i].answered == 0 {
			err = errors.Join(err, errors.New("no request was answered in a window"))
		}
	}
	return end[0], end[1], own, err
}

// said is what loupe serve says of its target: how often it asks, and how many profiles it has.
func said(err error, address string) (string, error) {
	if err != nil {
		return "", err
	}
	resp, err := http.Get("http://" + address + "/")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	_, after, found := strings.Cut(string(text), "1 target:\n")
	if err == nil && !found {
		err = fmt.Errorf("loupe serve does not say what it asks: %s", text)
	}
	return strings.TrimSpace(after), err
}

// now is what a server has done so far.
func (s *server) now() (w window, err error) {
	w.answered = s.answered.Load()
	w.cpu, err = clock(s.cmd)
	return w, err
}

// send asks at a steady rate, whether answers come or not, as long as there are not too many under way.
func (o *options) send(ctx context.Context, s *server) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: o.inFlight}}
	tick := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if s.flying.Load() >= int64(o.inFlight) {
				s.skipped.Add(1)
				continue
			}
			s.flying.Add(1)
			go func() {
				defer s.flying.Add(-1)
				s.sent.Add(1)
				if err := get(client, s.load); err != nil {
					s.failed.Add(1)
					text := err.Error()
					s.errors.Store(&text)
					return
				}
				s.answered.Add(1)
			}()
		}
	}
}

// get asks once and reads the answer.
func get(client *http.Client, url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= 400 {
		return errors.New(resp.Status)
	}
	return nil
}

// answers waits until an address does.
func answers(url string) error {
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if err = get(http.DefaultClient, url); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s does not answer: %w", url, err)
}

func stop(cmd *exec.Cmd) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
}

// clock is the CPU time that all threads of a process have used (clock_getcpuclockid(3)).
func clock(cmd *exec.Cmd) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(int32(^cmd.Process.Pid<<3|2), &now); err != nil {
		return 0, fmt.Errorf("%s: %w", cmd.Path, err)
	}
	return time.Duration(now.Nano()), nil
}
