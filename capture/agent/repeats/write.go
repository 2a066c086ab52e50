package repeats

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

// FileEnv names the file that the counts go to.
const FileEnv = "LOUPE_REPEATS"

var file string

// Until the program ends, the file is at most so old: what is killed leaves that.
const writeEvery = 400 * time.Millisecond

// init takes the name of the file out of the environment, which children inherit.
func init() {
	name, ok := syscall.Getenv(FileEnv)
	syscall.Unsetenv(FileEnv)
	if !ok || name == "" {
		return
	}
	file, counting = name, true
	debug.SetMaxStack(2 << 30) // frames are larger, as they defer: what is deep enough may need more than it has otherwise
	keepLater()
	atExit(func() { keep(true) })
}

// keepLater writes what was counted after a while, and so on: by a goroutine that is there for no longer than that takes, since a program may wait
// until it has no other.
func keepLater() {
	time.AfterFunc(writeEvery, func() {
		keep(false)
		keepLater()
	})
}

var writing sync.Mutex

// keep writes what was counted so far in place of what was written before. It says
// nothing of errors: who reads the file sees what there is. last tells that the program ends.
func keep(last bool) {
	writing.Lock()
	defer writing.Unlock()
	fresh := file + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return
	}
	w := bufio.NewWriter(f)
	write(w, last)
	err = w.Flush()
	if cerr := f.Close(); err == nil && cerr == nil {
		os.Rename(fresh, file)
	}
}

// write writes lines: a function with what its calls have taken, "f ID CALLS NS SPENT CUT",
// and a function within another, "p SCOPE ID OPEN" and the fields of sum. OPEN is 1 where the
// calls around have not ended. Behind it are the steps of its course, "c CALLS NS SIZE DIGITS", DIGITS in thousandths. Last come the
// calls of a function that went on together, "t ID CALLS NS APART MOST", and of those around that had the same arguments as others and have made a
// call or not, "s SCOPE ID CALLS MADE". Of all calls of a function, wherever they were, there is
// "e ID CALLS NS DISTINCT AGAIN AGAINNS DIFFER SAMPLED TRAITS", and of those within the function itself
// "r ID AROUND NS CALLS DISTINCT AGAIN TOPS TOPSNS SAME DIFFER CHANGED RESULTS MOST MOSTKINDS TRAITS". Then there is how often blocks from a first
// one on were entered, "b FIRST" and 64 counts, and of loops "l ID ENTERED LOOKED SIZE CONTENTS PAIRED ALIKE". At the end stands "end", or
// "end last" where the program ends.
func write(w io.Writer, last bool) {
	fmt.Fprintf(w, "loupe repeats 1 %d\n", now())
	pairsMu.Lock()
	for p, s := range pairs {
		writePair(w, p, 0, s)
	}
	pairsMu.Unlock()
	open := map[pair]*sum{}
	own := map[uint32][]nested{}
	for i := range shards {
		s := &shards[i]
		s.mu.Lock()
		gs := make([]*Goroutine, 0, len(s.gs))
		for _, gr := range s.gs {
			gs = append(gs, gr)
		}
		s.mu.Unlock()
		for _, gr := range gs {
			gr.mu.Lock()
			n := now()
			for j := range gr.stack {
				f := &gr.stack[j]
				foldInto(open, f, max(0, n-f.start-(gr.over-f.over)), last, false)
				if f.nested != nil {
					own[f.id] = append(own[f.id], nested{open: f.nested.open, recursed: f.nested.recursed})
				}
			}
			gr.mu.Unlock()
		}
	}
	for p, s := range open {
		writePair(w, p, 1, s)
	}
	for i := range fns {
		f := &fns[i]
		if calls := f.calls.Load(); calls > 0 {
			fmt.Fprintln(w, "f", i, calls, f.ns.Load(), f.spent.Load(), f.cut.Load())
		}
		writeConcurrent(w, i, f.concurrent.Load())
		f.writeEverywhere(w, i)
		f.writeRecursion(w, i, own[uint32(i)])
	}
	writeBlocks(w)
	writeLoops(w)
	if last {
		fmt.Fprintln(w, "end last")
	} else {
		fmt.Fprintln(w, "end")
	}
}

func writeConcurrent(w io.Writer, id int, fl *concurrent) {
	if fl == nil {
		return
	}
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.together > 0 {
		fmt.Fprintln(w, "t", id, fl.together, fl.ns, fl.apart, fl.most)
	}
	for call, s := range fl.without() {
		fmt.Fprintln(w, "s", id, call, s[0], s[1])
	}
}

func writePair(w io.Writer, p pair, open int, s *sum) {
	fmt.Fprintln(w, "p", p.scope, p.id, open, s.activations, s.scopeNS, s.calls, s.ns, s.distinct, s.again, s.againNS,
		s.differ, s.changed, s.sampled, s.most, s.mostOne, uint16(s.traits), s.wholeNS)
	for _, x := range s.course {
		fmt.Fprintln(w, "c", x.calls, x.ns, x.size, int64(x.digits*1000))
	}
}
