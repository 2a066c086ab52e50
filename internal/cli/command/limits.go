package command

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"loupe/source/bounded"
	"loupe/source/system"
	"loupe/value/unit"
)

// windUp is how long a command may take to end after the first interrupt before it
// is ended: a read of a pipe that nobody writes, or of a file system that does not
// answer, cannot be cancelled.
const windUp = 700 * time.Millisecond

// keepingTime is the same for a command that completes what it has recorded: the
// agent of a program has ten seconds to hand over what it has.
const keepingTime = 15 * time.Second

// The memory that a command may need for what it reads: so much for any file, and
// so much more for each byte of it. Real files need a tenth of that; what needs
// more was made to.
const (
	memoryBase    = 512 << 20
	memoryPerByte = 64
)

// memoryLooks is how often the memory is looked at.
const memoryLooks = 20 * time.Millisecond

// memoryBudget returns the memory that a command may need for files of so many
// bytes: never more than three quarters of what this machine gives to the process.
func memoryBudget(bytes, machine int64) int64 {
	budget := int64(math.MaxInt64)
	if bytes < (math.MaxInt64-memoryBase)/memoryPerByte {
		budget = memoryBase + memoryPerByte*bytes
	}
	if machine > 0 {
		budget = min(budget, machine/4*3)
	}
	return budget
}

// BoundMemory ends the program, with a sentence, when a command needs more memory
// than its files can be worth. It is the last resort behind the bounds of each
// decoder, for what they miss: better than the kernel, which ends some other program
// as well.
func BoundMemory(e *Env, args []string) (stop func()) {
	size := namedBytes(args)
	machine := system.MemoryLimit()
	userLimit := debug.SetMemoryLimit(-1) // GOMEMLIMIT
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(memoryLooks)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		// The collector keeps to the budget as well as it can, so that what is beyond
		// is no garbage.
		last := int64(0)
		for {
			budget := memoryBudget(size+bounded.Taken(), machine)
			if budget != last {
				debug.SetMemoryLimit(min(budget, userLimit))
				last = budget
			}
			select {
			case <-quit:
				debug.SetMemoryLimit(userLimit)
				return
			case <-tick.C:
			}
			if metrics.Read(sample); sample[0].Value.Uint64() <= uint64(budget) {
				continue
			}
			e.leave(ExitFailed, fmt.Sprintf("loupe: reading the input needs more than %s of memory for %s of files, which no genuine file "+
				"does: something in it was crafted to (or this machine is too small for it)", unit.Bytes(budget), unit.Bytes(size+bounded.Taken())))
		}
	}()
	return func() {
		close(quit)
		<-done // the limit is the user's again
	}
}

// namedBytes is the size of the files among the arguments, and of those in the
// folders among them.
func namedBytes(args []string) (size int64) {
	for _, arg := range args {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		for name := range strings.SplitSeq(arg, ",") {
			size += bytesIn(name)
		}
	}
	return size
}

// maxWalked bounds how many files of a folder are counted.
const maxWalked = 10_000

func bytesIn(name string) (size int64) {
	info, err := bounded.Stat(name)
	switch {
	case err != nil:
		return 0
	case info.Mode().IsRegular():
		return info.Size()
	case !info.IsDir():
		return 0
	}
	files := 0
	_ = filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
		if files++; err != nil || files > maxWalked {
			return fs.SkipAll
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// survive turns a fault in a mapping into an error: the index of a trace is mapped, and
// whoever makes its file shorter takes the memory away. Everything else that panics is
// a mistake of ours, and stays one.
func survive(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface {
			error
			Addr() uintptr
		}:
			if r.Addr() < firstMapping {
				panic(r) // a nil pointer
			}
			err = errors.New("a file became shorter while it was being read (is something writing it? run this again when that is done)")
		default:
			panic(r)
		}
	}()
	return f()
}

// firstMapping is below every address of a mapping, and above what a nil pointer to a
// structure leads to.
const firstMapping = 1 << 20

// readFile is a regular file that a command reads piece by piece.
type readFile struct {
	name, path string
	info       fs.FileInfo
}

// Reads notes that a command reads a file piece by piece.
func (e *Env) Reads(name, path string, info fs.FileInfo) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files = append(e.files, readFile{name, path, info})
}

// shrunk is the error of the files that became shorter since a command began to read
// them: what it has shown is of the part that it came to see.
func shrunk(e *Env) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []error
	for _, f := range e.files {
		if now, err := os.Stat(f.path); err == nil && os.SameFile(now, f.info) && now.Size() < f.info.Size() {
			all = append(all, fmt.Errorf("%s became shorter while it was being read, from %s to %s: the output covers only the part that "+
				"was read (is something writing it? run this again when that is done)", f.name, unit.Bytes(f.info.Size()), unit.Bytes(now.Size())))
		}
	}
	return errors.Join(all...)
}

// leave ends the program: with what is to be done then, and a sentence if there is
// one.
func (e *Env) leave(code int, text string) {
	e.leaving.Store(true)
	e.mu.Lock() // for good: nobody else leaves
	for i := len(e.onAbort) - 1; i >= 0; i-- {
		e.onAbort[i]()
	}
	unfinished.Range(func(name, _ any) bool {
		os.Remove(name.(string))
		return true
	})
	if text != "" {
		fmt.Fprintln(e.Stderr, text)
	}
	os.Exit(code)
}
