package symbol

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// PerfMap says which functions a JIT compiler has put where, as it writes them for perf
// into /tmp/perf-PID.map: a line "START SIZE NAME" for each, the numbers hexadecimal
// (tools/perf/Documentation/jit-interface.txt of Linux).
type PerfMap struct {
	funcs []jitFunc // by start
}

type jitFunc struct {
	start, end uint64
	name       string
}

const (
	// maxPerfMap is how many functions are kept, the last ones of the file.
	maxPerfMap = 1 << 20
	// maxPerfName is how long a name may be. The line is longer by two numbers.
	maxPerfName = 4 << 10
)

// ErrNoPerfMap is wrapped by the error of a file without a line of a function.
var ErrNoPerfMap = errors.New("it has no line of a function: START SIZE NAME")

// ReadPerfMap reads a file. Lines that say something else are passed over: programs
// die while they write.
func ReadPerfMap(r io.Reader) (*PerfMap, error) {
	m := &PerfMap{}
	br := bufio.NewReaderSize(r, maxPerfName+64)
	for long := false; ; {
		line, err := br.ReadSlice('\n')
		if f, ok := parsePerfLine(line); ok && !long {
			if len(m.funcs) == maxPerfMap {
				m.funcs = append(m.funcs[:0], m.funcs[maxPerfMap/2:]...)
			}
			m.funcs = append(m.funcs, f)
		}
		long = errors.Is(err, bufio.ErrBufferFull)
		if err == io.EOF {
			break
		}
		if err != nil && !long {
			return nil, fmt.Errorf("cannot read the map of a JIT compiler: %w", err)
		}
	}
	if len(m.funcs) == 0 {
		return nil, fmt.Errorf("cannot read the map of a JIT compiler: %w", ErrNoPerfMap)
	}
	slices.SortStableFunc(m.funcs, func(a, b jitFunc) int { return cmp.Compare(a.start, b.start) })
	return m, nil
}

func parsePerfLine(line []byte) (f jitFunc, ok bool) {
	if len(line) > maxPerfName+40 || len(line) == 0 || line[len(line)-1] != '\n' {
		return f, false
	}
	start, rest, ok := strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	size, name, named := strings.Cut(rest, " ")
	if !ok || !named || name == "" {
		return f, false
	}
	at, err := strconv.ParseUint(strings.TrimPrefix(start, "0x"), 16, 64)
	n, err2 := strconv.ParseUint(strings.TrimPrefix(size, "0x"), 16, 64)
	if err != nil || err2 != nil || n == 0 || at+n < at {
		return f, false
	}
	return jitFunc{at, at + n, strings.Clone(name)}, true
}

// lookedBack is how many functions that begin before an address are looked at: one that
// was put into the place of a longer one hides it.
const lookedBack = 8

// Name returns the function at an address, the last one that was put there.
func (m *PerfMap) Name(pc uint64) (name string, ok bool) {
	i, _ := slices.BinarySearchFunc(m.funcs, pc, func(f jitFunc, pc uint64) int {
		if f.start <= pc {
			return -1
		}
		return 1
	})
	for n := i - 1; n >= 0 && n >= i-lookedBack; n-- {
		if pc < m.funcs[n].end {
			return m.funcs[n].name, true
		}
	}
	return "", false
}
