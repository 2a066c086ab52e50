package godebug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// wraps are the ways in which logs tell processes apart: line i of process p.
var wraps = map[string]func(p, i int, line string) string{
	"compose":           func(p, _ int, l string) string { return fmt.Sprintf("web_%d  | %s", p, l) },
	"compose in colour": func(p, _ int, l string) string { return fmt.Sprintf("\x1b[3%dmweb_%d  |\x1b[0m %s", p, p, l) },
	"kubectl --prefix":  func(p, _ int, l string) string { return fmt.Sprintf("[pod/api-7d9c5b%c/api] %s", 'a'+p, l) },
	"kubectl --prefix --timestamps": func(p, i int, l string) string {
		return fmt.Sprintf("[pod/api-%d/api] 2026-11-21T09:%02d:%02d.%09dZ %s", p, i/60%60, i%60, i*7919, l)
	},
	"syslog": func(p, i int, l string) string {
		return fmt.Sprintf("Nov 21 09:%02d:%02d host app[%d]: %s", i/60%60, i%60, 4700+p, l)
	},
	"JSON": func(p, i int, l string) string {
		b, _ := json.Marshal(l + "\n")
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","container_name":"web-%d","time":"2026-11-21T09:42:08.%dZ"}`, b, p, i)
	},
	"JSON of Kubernetes": func(p, i int, l string) string {
		b, _ := json.Marshal(l)
		return fmt.Sprintf(`{"@timestamp":"2026-11-21T09:42:08.%dZ","kubernetes":{"pod_name":"api-%d"},"message":%s}`, i, p, b)
	},
	"JSON behind a prefix": func(p, _ int, l string) string {
		b, _ := json.Marshal(l)
		return fmt.Sprintf(`web | {"msg":%s,"service":"s%d"}`, b, p)
	},
}

// printed are the lines of a process that collects n times: processes that do the
// same, so that nothing but whose they are tells their lines apart.
func printed(p, n int) (lines []string) {
	for i := range n {
		lines = append(lines,
			fmt.Sprintf("gc %d @%d.%03ds 1%%: 0.010+1.0+0.020 ms clock, 0.020+0/0.5/0+0.040 ms cpu, 4->4->2 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P", i+1, i, p),
			fmt.Sprintf("SCHED %dms: gomaxprocs=2 idleprocs=0 threads=4 spinningthreads=0 needspinning=0 idlethreads=0 runqueue=%d gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false", 1000*i+1, p),
			fmt.Sprintf("  P0: status=1 schedtick=%d syscalltick=0 m=0 runqsize=%d gfreecnt=0 timerslen=0", i+1, p),
			fmt.Sprintf("serving %d", i))
	}
	return lines
}

// account is what a log says of one run, without where it stands.
func account(l *Log, run int) (out string) {
	for _, y := range l.Cycles {
		if y.Run == run {
			y.Position = Position{}
			out += fmt.Sprintf("%+v\n", y)
		}
	}
	for _, s := range l.Samples {
		if s.Run == run {
			s.Position = Position{}
			out += fmt.Sprintf("%+v\n", s)
		}
	}
	return out
}

// TestSeveral: what the runtimes of several processes print to one log is told apart
// by what the log says of each line, whichever way that is.
func TestSeveral(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			for round := range 8 {
				processes := 2 + round%3
				var want []string
				left := make([][]string, processes)
				for p := range left {
					left[p] = printed(p, 20+random.IntN(20))
					want = append(want, account(Parse([]byte(strings.Join(left[p], "\n")+"\n")), 0))
				}
				var b strings.Builder
				for i := 0; ; i++ {
					var some []int
					for p := range left {
						if len(left[p]) > 0 {
							some = append(some, p)
						}
					}
					if len(some) == 0 {
						break
					}
					p := some[random.IntN(len(some))]
					b.WriteString(wrap(p, i, left[p][0]) + "\n")
					left[p] = left[p][1:]
				}
				log := []byte(b.String())
				l := Parse(log)
				if len(l.Names) != processes || l.Stats.Runs != processes || l.Stats.Doubtful != 0 || l.Torn != 0 {
					t.Fatalf("round %d: %d runs, named %q, %d in doubt, %d torn: %s", round, l.Stats.Runs, l.Names, l.Stats.Doubtful, l.Torn, b.String()[:400])
				}
				var got []string
				for run := range l.Names {
					got = append(got, account(l, run))
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("round %d: got\n%s\nwant\n%s", round, got[0], want[0])
				}
				lines := bytes.Split(log, []byte("\n"))
				for _, y := range l.Cycles {
					if !bytes.Contains(lines[y.Line-1], fmt.Appendf(nil, "gc %d @", y.N)) {
						t.Fatalf("gc %d is said to be in line %d: %s", y.N, y.Line, lines[y.Line-1])
					}
				}
				if again, err := Collect(bytes.NewReader(log)); err != nil || !reflect.DeepEqual(again, l) {
					t.Errorf("Collect: %v, and another log than Parse has", err)
				}
			}
		})
	}
}

// TestOneProcess: what varies in front of the lines of one process does not take it
// apart.
func TestOneProcess(t *testing.T) {
	lines := printed(0, 90)
	for name, wrap := range map[string]func(i int, l string) string{
		"level": func(i int, l string) string { return fmt.Sprintf("[%d] %s", i%3, l) },
		"field": func(i int, l string) string {
			b, _ := json.Marshal(l)
			return fmt.Sprintf(`{"worker":%d,"msg":%s}`, i/4%7, b)
		},
		"unterminated": func(i int, l string) string {
			if i%8 == 0 {
				return "loaded: " + l
			}
			return l
		},
		"colour": func(_ int, l string) string { return "\x1b[33m" + l + "\x1b[0m" },
	} {
		var b strings.Builder
		for i, l := range lines {
			b.WriteString(wrap(i, l) + "\n")
		}
		l := Parse([]byte(b.String()))
		if l.Stats.Runs != 1 || len(l.Cycles) != 90 || len(l.Samples) != 90 {
			t.Errorf("%s: %d runs with %d collections and %d samples, want 1, 90 and 90", name, l.Stats.Runs, len(l.Cycles), len(l.Samples))
		}
	}
}

// TestSecondFromMiddle: of two runs in a log the second may have lost its begin.
func TestSecondFromMiddle(t *testing.T) {
	line := func(n, at, percent, start, live, procs int) string {
		return fmt.Sprintf("gc %d @%d.000s %d%%: 0+1+0 ms clock, 0+0/0/0+0 ms cpu, %d->%d->%d MB, 99 MB goal, 0 MB stacks, 1 MB globals, %d P\n", n, at, percent, start, start, live, procs)
	}
	sched := func(at, tick int) string {
		return fmt.Sprintf("SCHED %dms: gomaxprocs=2 idleprocs=0 threads=2 spinningthreads=0 needspinning=0 idlethreads=0 runqueue=0 [ 1 1 ] schedticks=[ %d %d ]\n", at, tick, tick)
	}
	f := func(text string, want ...int) {
		t.Helper()
		var got []int
		for r := NewBytesReader([]byte(text)); r.Next(); {
			got = append(got, r.Record().Pos().Run)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("runs %v, want %v of\n%s", got, want, text)
		}
	}
	f(line(8, 4, 1, 4, 2, 2)+line(9, 5, 1, 4, 2, 2)+line(40, 9, 1, 4, 2, 8)+line(41, 10, 1, 4, 2, 8), 0, 0, 1, 1) // another number of Ps
	f(line(8, 4, 1, 4, 2, 2)+line(9, 5, 1, 4, 2, 8)+line(10, 6, 1, 4, 2, 8), 0, 0, 0)                             // GOMAXPROCS was set
	f(line(8, 10, 30, 9, 8, 2)+line(40, 20, 2, 9, 8, 2), 0, 1)                                                    // 3 s of collecting became 0.6
	f(line(8, 10, 30, 9, 8, 2)+line(40, 20, 16, 9, 8, 2), 0, 0)                                                   // and 3.2: lines were lost
	f(sched(1000, 500)+sched(2000, 900)+sched(3000, 40)+sched(4000, 90), 0, 0, 1, 1)                              // ticks went back
}

// TestEnds: a log that ends within a line of the runtime says so, wherever it is cut.
func TestEnds(t *testing.T) {
	whole := strings.Join(printed(0, 3), "\n")
	whole = whole[:strings.LastIndex(whole, "\nserving")+1]
	for i := strings.LastIndex(whole, "gc 3") + 4; i < len(whole)-1; i++ {
		text := whole[:i]
		last := text[strings.LastIndexByte(text, '\n')+1:]
		l := Parse([]byte(text))
		ends := len(last) > 1 && !strings.HasSuffix(last, " 2 P") && last != "SC" && last != "  " && !strings.HasSuffix(last, "sysmonwait=false")
		if (l.Ends != nil) != ends {
			t.Errorf("ends in %q: %v, want %v", last, l.Ends, ends)
		}
	}
	if l := Parse([]byte(whole)); l.Ends != nil {
		t.Errorf("a whole log ends within %q", l.Ends.Text)
	}
}
