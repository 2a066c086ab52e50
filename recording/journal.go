package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"loupe/value/timeline"
)

// record is one line of the journal. Exactly one of its parts is set. A
// later phase or entry of the same name replaces the earlier one, so that the
// state of a recording is always the fold of its journal.
type record struct {
	Header *Manifest      `json:"header,omitempty"` // without the lists
	Phase  *Phase         `json:"phase,omitempty"`
	Open   *Entry         `json:"open,omitempty"`  // being written
	Entry  *Entry         `json:"entry,omitempty"` // complete
	Clock  *Clock         `json:"clock,omitempty"`
	Mark   *Mark          `json:"mark,omitempty"`
	Note   string         `json:"note,omitempty"`
	Missed *Missed        `json:"missed,omitempty"`
	End    *timeline.Time `json:"end_ns,omitempty"`
}

// journal is the file of a recording that is being written, with the manifest that
// comes of it. It is safe for concurrent use.
type journal struct {
	file File

	mu     sync.Mutex
	m      Manifest
	failed error // the first error of the file
}

// manifest returns a copy of the manifest as it stands.
func (j *journal) manifest() Manifest {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := j.m
	m.Target.Runs = slices.Clone(m.Target.Runs)
	m.Phases, m.Entries, m.Clocks = slices.Clone(m.Phases), slices.Clone(m.Entries), slices.Clone(m.Clocks)
	m.Marks, m.Notes, m.Missed = slices.Clone(m.Marks), slices.Clone(m.Notes), slices.Clone(m.Missed)
	return m
}

// retarget changes what is known about the target.
func (j *journal) retarget(change func(*Target)) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.m.Target)
	return j.put(record{Header: j.m.header()})
}

// add keeps r.
func (j *journal) add(r record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.put(r)
}

// put keeps r without what is secret in it; j.mu is held.
func (j *journal) put(r record) error {
	r = r.redacted()
	j.m.fold(r)
	return j.log(r)
}

// log appends r to the file; j.mu is held.
func (j *journal) log(r record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("BUG: cannot encode journal record: %w", err)
	}
	if _, err = j.file.Write(append(line, '\n')); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		err = fmt.Errorf("cannot write %s: %w", JournalName, err)
		if j.failed == nil {
			j.failed = err
		}
	}
	return err
}

// close notes the end, has the manifest kept that comes of all, and keeps the file. It
// returns the first error that there ever was.
func (j *journal) close(now func() timeline.Time, keep func(*Manifest) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	end := now()
	j.m.fold(record{End: &end})
	err := j.failed
	if lerr := j.log(record{End: &end}); err == nil {
		err = lerr
	}
	if merr := keep(&j.m); err == nil {
		err = merr
	}
	if cerr := j.file.Keep(); err == nil {
		err = cerr
	}
	return err
}

// fold applies r to m.
func (m *Manifest) fold(r record) {
	switch {
	case r.Header != nil:
		h := *r.Header
		h.Phases, h.Entries, h.Clocks = m.Phases, m.Entries, m.Clocks
		h.Marks, h.Notes, h.Missed, h.End, h.Complete = m.Marks, m.Notes, m.Missed, m.End, m.Complete
		*m = h
	case r.Phase != nil:
		m.Phases = upsert(m.Phases, *r.Phase, func(p Phase) string { return p.Name })
	case r.Open != nil:
		e := *r.Open
		e.Partial = true
		m.Entries = upsert(m.Entries, e, func(e Entry) string { return e.Path })
	case r.Entry != nil:
		m.Entries = upsert(m.Entries, *r.Entry, func(e Entry) string { return e.Path })
	case r.Clock != nil:
		m.Clocks = upsert(m.Clocks, *r.Clock, func(c Clock) string { return c.Path })
	case r.Mark != nil:
		m.Marks = append(m.Marks, *r.Mark)
	case r.Note != "":
		if !slices.Contains(m.Notes, r.Note) {
			m.Notes = append(m.Notes, r.Note)
		}
	case r.Missed != nil:
		m.Missed = upsert(m.Missed, *r.Missed, func(d Missed) string { return d.Profiler })
	case r.End != nil:
		m.End, m.Complete = *r.End, true
	}
}

// header returns the part of m that a header record holds.
func (m *Manifest) header() *Manifest {
	h := *m
	h.Phases, h.Entries, h.Clocks, h.Marks, h.Notes, h.Missed = nil, nil, nil, nil, nil, nil
	return &h
}

func upsert[T any](list []T, v T, key func(T) string) []T {
	for i := range list {
		if key(list[i]) == key(v) {
			list[i] = v
			return list
		}
	}
	return append(list, v)
}

// readJournal rebuilds a manifest. A last line that was cut off by a crash is
// left out; anything else that does not parse is an error, because silence
// would hide a damaged recording.
func readJournal(r io.Reader) (*Manifest, error) {
	m := &Manifest{}
	br := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("cannot read %s: %w", JournalName, err)
		}
		cut := err == io.EOF // no newline: the writer did not finish it
		if text = bytes.TrimSpace(text); len(text) > 0 {
			var rec record
			if jerr := json.Unmarshal(text, &rec); jerr == nil {
				m.fold(rec)
				if err := m.bounded(); err != nil {
					return nil, err
				}
			} else if !cut {
				return nil, fmt.Errorf("cannot read %s: line %d: %w", JournalName, line, jerr)
			}
		}
		if cut {
			break
		}
	}
	if m.Schema == "" {
		return nil, fmt.Errorf("cannot read %s: it has no header line (the recording ended before it started)", JournalName)
	}
	for _, p := range m.Phases {
		m.End = max(m.End, p.Span.End)
	}
	return m, nil
}
