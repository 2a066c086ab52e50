package recording

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"time"

	"loupe/value/timeline"
)

// Writer writes a recording into a [Store]. Everything it is told goes to
// the journal first, synced, so that a recording that ends at any moment is
// readable up to that moment. It is safe for concurrent use.
type Writer struct {
	store   Store
	epoch   time.Time // with a monotonic reading
	journal journal
}

// Create starts a recording in a folder, which must not exist or be empty, see [Begin].
func Create(dir string, m Manifest) (*Writer, error) {
	store, err := inNewFolder(dir)
	if err != nil {
		return nil, err
	}
	return Begin(store, m)
}

// Begin starts a recording in a store that has none. The epoch of its time axis is
// m.Start, now where that is zero; an earlier one, for what was seen before there was a
// recording, is a time that this process has taken. m gives the title, the target and
// the host besides.
func Begin(store Store, m Manifest) (*Writer, error) {
	file, err := store.Create(JournalName, true)
	if err != nil {
		return nil, fmt.Errorf("cannot create recording: %w", err)
	}
	w := &Writer{store: store, epoch: m.Start}
	if m.Start.IsZero() {
		w.epoch = time.Now()
	}
	m.Schema = Schema
	m.Start = w.epoch
	m.ID = newID(w.epoch)
	w.journal = journal{file: file, m: m}
	if err := w.journal.add(record{Header: m.header()}); err != nil {
		return nil, errors.Join(err, file.Keep())
	}
	return w, nil
}

func newID(t time.Time) string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return t.UTC().Format("20060102T150405") + "-" + hex.EncodeToString(b[:])
}

// ReadFile reads a whole entry back.
func (w *Writer) ReadFile(name string) ([]byte, error) { return fs.ReadFile(w.store, name) }

// Now returns the present instant on the recording's axis.
func (w *Writer) Now() timeline.Time { return w.At(time.Now()) }

// At maps t, which should have a monotonic reading, onto the axis.
func (w *Writer) At(t time.Time) timeline.Time { return timeline.Time(t.Sub(w.epoch)) }

// Manifest returns a copy of the manifest as it stands.
func (w *Writer) Manifest() Manifest { return w.journal.manifest() }

// UpdateTarget changes what is known about the target.
func (w *Writer) UpdateTarget(change func(*Target)) error { return w.journal.retarget(change) }

// SetPhase records a phase, or replaces the one of the same name. It is
// called when a phase begins, with an empty end, and again when it ends.
func (w *Writer) SetPhase(p Phase) error { return w.journal.add(record{Phase: &p}) }

// SetClock records how the time in an entry maps onto the axis.
func (w *Writer) SetClock(c Clock) error { return w.journal.add(record{Clock: &c}) }

// Mark records an instant.
func (w *Writer) Mark(text string) error {
	return w.journal.add(record{Mark: &Mark{At: w.Now(), Text: text}})
}

// Note records a remark about the whole recording; the same one only once.
func (w *Writer) Note(text string) error { return w.journal.add(record{Note: text}) }

// Miss keeps that a phase which was asked for was not come to, and why.
func (w *Writer) Miss(profiler, reason string) error {
	return w.journal.add(record{Missed: &Missed{profiler, reason}})
}

// Close writes the manifest and ends the recording. An error means that
// something is missing; what was written before is still readable.
func (w *Writer) Close() error {
	return w.journal.close(w.Now, func(m *Manifest) error { return writeManifest(w.store, m) })
}

func writeManifest(store Store, m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("BUG: cannot encode manifest: %w", err)
	}
	f, err := store.Create(ManifestName, false)
	if err != nil {
		return fmt.Errorf("cannot write manifest: %w", err)
	}
	if _, err = f.Write(append(text, '\n')); err == nil {
		err = f.Sync()
	}
	if err != nil {
		// Without one the journal is read.
		return fmt.Errorf("cannot write manifest: %w", errors.Join(err, f.Drop()))
	}
	if err := f.Keep(); err != nil {
		return fmt.Errorf("cannot write manifest: %w", err)
	}
	return nil
}

// EntryWriter writes one entry. It is not safe for concurrent use.
type EntryWriter struct {
	w      *Writer
	e      Entry
	f      File
	sum    hash.Hash
	stream bool
	err    error
}

// Create starts an entry that counts only when it is whole, such as a
// profile: it is written under a temporary name and renamed by Close.
func (w *Writer) Create(e Entry) (*EntryWriter, error) { return w.open(e, false) }

// Append starts an entry that is good up to its last byte at any time, such
// as a log: it has its name from the start and readers may follow it.
func (w *Writer) Append(e Entry) (*EntryWriter, error) { return w.open(e, true) }

func (w *Writer) open(e Entry, stream bool) (*EntryWriter, error) {
	if !fs.ValidPath(e.Path) {
		return nil, fmt.Errorf("BUG: cannot create entry: invalid path %q", e.Path)
	}
	if e.Span.Start == 0 && e.Span.End == 0 {
		e.Span.Start = w.Now()
	}
	f, err := w.store.Create(e.Path, stream)
	if err != nil {
		return nil, fmt.Errorf("cannot create entry: %w", err)
	}
	ew := &EntryWriter{w: w, e: e, f: f, sum: sha256.New(), stream: stream}
	if stream {
		if err := w.journal.add(record{Open: &e}); err != nil {
			return nil, errors.Join(err, f.Keep())
		}
	}
	return ew, nil
}

// Write appends to the entry.
func (ew *EntryWriter) Write(p []byte) (int, error) {
	n, err := ew.f.Write(p)
	ew.e.Bytes += int64(n)
	ew.sum.Write(p[:n])
	if err != nil && ew.err == nil {
		ew.err = err
	}
	return n, err
}

// EndAt says when the capture ended, where that is not when it is closed.
func (ew *EntryWriter) EndAt(t timeline.Time) { ew.e.Span.End = t }

// Bytes returns how much was written.
func (ew *EntryWriter) Bytes() int64 { return ew.e.Bytes }

// Close completes the entry: synced, renamed, in the journal. After a failed
// write the entry is kept as far as it came and marked partial; one without a
// byte is removed.
func (ew *EntryWriter) Close() error { return ew.close(ew.err) }

// Abort completes the entry as a partial one, because its source failed. The
// cause is returned unless a worse error occurs.
func (ew *EntryWriter) Abort(cause error) error {
	if ew.err != nil && !errors.Is(cause, ew.err) {
		cause = errors.Join(ew.err, cause)
	}
	return ew.close(cause)
}

// Drop leaves nothing of an entry of [Writer.Create].
func (ew *EntryWriter) Drop() error { return ew.f.Drop() }

func (ew *EntryWriter) close(failed error) error {
	if ew.e.Bytes == 0 && !ew.stream {
		if derr := ew.f.Drop(); failed == nil {
			failed = cmp.Or(derr, errors.New("it is empty"))
		}
		return fmt.Errorf("cannot keep %s: %w", ew.e.Path, failed)
	}
	if err := ew.f.Keep(); failed == nil {
		failed = err
	}
	if ew.e.Span.End == 0 {
		ew.e.Span.End = ew.w.Now()
	}
	ew.e.SHA256 = hex.EncodeToString(ew.sum.Sum(nil))
	ew.e.Partial = failed != nil
	if err := ew.w.journal.add(record{Entry: &ew.e}); failed == nil {
		failed = err
	}
	if failed != nil {
		return fmt.Errorf("cannot write %s: %w", ew.e.Path, failed)
	}
	return nil
}

// Put writes a whole entry at once.
func (w *Writer) Put(e Entry, data []byte) error {
	ew, err := w.Create(e)
	if err != nil {
		return err
	}
	ew.Write(data) // a failure is remembered for Close
	return ew.Close()
}
