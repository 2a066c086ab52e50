package godebug

import (
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
	// Unrecognised holds the first [MaxUnrecognised] malformed lines.
	// Stats.Malformed is their whole number.
	Unrecognised []Malformed
	Stats        Stats
}

// MaxUnrecognised bounds the malformed lines that a [Log] keeps.
const MaxUnrecognised = 100

// Parse collects what data holds. It accepts any bytes.
func Parse(data []byte) *Log {
	return collect(NewBytesReader(data), len(data))
}

// Collect reads src to its end. After an error it returns what came before
// it too.
func Collect(src io.Reader) (*Log, error) {
	r := NewReader(src)
	return collect(r, 0), r.Err()
}

// collect drains r; size is that of the log, or 0 when unknown.
func collect(r *Reader, size int) *Log {
	l := new(Log)
	for r.Next() {
		// One guess from the first thousand cycles saves the copies of a
		// dozen doublings: 1.9 times the speed on a pure gctrace log.
		if n := len(l.Cycles); n == 1024 && size > 0 {
			per := float64(r.Stats().Bytes) / float64(n)
			l.Cycles = slices.Grow(l.Cycles, int(float64(size)/per*1.02))
		}
		l.add(r.Record())
	}
	l.Stats = r.Stats()
	return l
}

func (l *Log) add(rec Record) {
	switch rec := rec.(type) {
	case *Cycle:
		l.Cycles = append(l.Cycles, *rec)
	case *SchedSample:
		l.Samples = append(l.Samples, rec.Clone())
	case *InitTask:
		l.Inits = append(l.Inits, *rec)
	case *Scavenge:
		l.Scavenges = append(l.Scavenges, *rec)
	case *Pacer:
		l.Pacers = append(l.Pacers, *rec)
	case *Scan:
		l.Scans = append(l.Scans, *rec)
	case *Notice:
		l.Notices = append(l.Notices, *rec)
	case *Malformed:
		if len(l.Unrecognised) < MaxUnrecognised {
			l.Unrecognised = append(l.Unrecognised, rec.Clone())
		}
	}
}
