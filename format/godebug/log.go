package godebug

import (
	"bytes"
	"io"
	"slices"
)

// Log is everything that a log holds, collected.
type Log struct {
	Cycles    []Cycle
	Samples   []SchedSample
	Inits     []InitTask
	Scavenges []Scavenge
	Pacers    []Pacer
	Scans     []Scan
	Notices   []Notice
	// Unrecognised holds the first [MaxUnrecognised] malformed lines; Torn
	// is their whole number. A last line that the log ends within is not
	// among them: programs end while the runtime prints.
	Unrecognised []Malformed
	Torn         int
	// Cut tells that there were more than [MaxRecords] of some kind and the
	// rest was left out. Stats counts everything.
	Cut bool
	// Ends is the last line where the log ends within it, as one that was cut does,
	// or that of a program which was killed while it printed; nil where the last
	// line is whole.
	Ends *Malformed
	// Open tells that the last line has no end, whoever has printed it.
	Open bool
	// Names holds the stream of each run, by [Position.Run]: the prefix or the fields
	// that tell of which process its lines are. It is nil where nothing tells.
	Names []string
	Stats Stats
}

// MaxRecords bounds how many records of one kind a [Log] keeps, so that no
// log exhausts memory: two million collections are four hours of a program
// that collects 150 times a second, and some 600 MB.
const MaxRecords = 2 << 20

// MaxUnrecognised bounds the malformed lines that a [Log] keeps.
const MaxUnrecognised = 100

// Parse collects what data holds. It accepts any bytes.
//
// A log of several processes, whose lines tell by a prefix or by the fields of JSON
// whose they are, is taken apart first: each process has runs of its own, with a
// name in [Log.Names]. How the lines tell is seen in the first 8 MiB.
func Parse(data []byte) *Log {
	if split := learn(data[:min(len(data), headSize)]); split != nil {
		l, _ := newSorter(split).collect(bytes.NewReader(data)) // which has no errors
		return l
	}
	return collect(NewBytesReader(data), len(data))
}

// Collect reads src to its end, as [Parse] does. After an error it returns what
// came before it too.
func Collect(src io.Reader) (*Log, error) {
	head, err := io.ReadAll(io.LimitReader(src, headSize))
	rest := src
	if err != nil {
		rest = failing{err}
	}
	whole := io.MultiReader(bytes.NewReader(head), rest)
	if split := learn(head); split != nil {
		return newSorter(split).collect(whole)
	}
	r := NewReader(whole)
	return collect(r, 0), r.Err()
}

// failing is a reader that is at its end.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// collect drains r; size is that of the log, or 0 when unknown.
func collect(r *Reader, size int) *Log {
	l := new(Log)
	for r.Next() {
		// One guess from the first thousand cycles saves the copies of a
		// dozen doublings: 1.9 times the speed on a pure gctrace log.
		if n := len(l.Cycles); n == 1024 && size > 0 {
			per := float64(r.Stats().Bytes) / float64(n)
			l.Cycles = slices.Grow(l.Cycles, min(int(float64(size)/per*1.02), MaxRecords))
		}
		l.add(r.Record())
	}
	l.Stats, l.Open = r.Stats(), r.open
	return l
}

func (l *Log) add(rec Record) {
	switch rec := rec.(type) {
	case *Cycle:
		l.Cycles = keep(l, l.Cycles, *rec)
	case *SchedSample:
		if len(l.Samples) == MaxRecords {
			l.Cut = true
			break
		}
		l.Samples = append(l.Samples, rec.Clone())
	case *InitTask:
		l.Inits = keep(l, l.Inits, *rec)
	case *Scavenge:
		l.Scavenges = keep(l, l.Scavenges, *rec)
	case *Pacer:
		l.Pacers = keep(l, l.Pacers, *rec)
	case *Scan:
		l.Scans = keep(l, l.Scans, *rec)
	case *Notice:
		l.Notices = keep(l, l.Notices, *rec)
	case *Malformed:
		if rec.Cut {
			cut := rec.Clone()
			l.Ends = &cut
			break
		}
		l.Torn++
		if len(l.Unrecognised) < MaxUnrecognised {
			l.Unrecognised = append(l.Unrecognised, rec.Clone())
		}
	}
}

// keep appends a record unless there are enough of its kind.
func keep[T any](l *Log, list []T, rec T) []T {
	if len(list) >= MaxRecords {
		l.Cut = true
		return list
	}
	return append(list, rec)
}
