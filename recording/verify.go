package recording

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// State says whether an entry is what was recorded.
type State string

// The states of entries.
const (
	Whole      State = "whole"      // there, with the bytes that were recorded
	Partial    State = "partial"    // it was not closed: what is there cannot be checked
	Missing    State = "missing"    // it is not there
	Changed    State = "changed"    // its bytes are others than those that were recorded
	Unreadable State = "unreadable" // it is there and cannot be read
	Unlisted   State = "unlisted"   // a file that the manifest does not know
	Foreign    State = "foreign"    // it is of another program than the rest
)

// Checked is what became of one entry.
type Checked struct {
	Path  string `json:"path"`
	State State  `json:"state"`
	// Bytes and SHA256 are those of the file, 0 and "" where it could not be read.
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
	// Why says what is wrong.
	Why string `json:"why,omitempty"`
}

// Verify reads every entry to its end and holds it against the manifest, and the
// manifest against the journal beside it. Files that nobody has recorded come last.
// The error is that of ctx alone.
func (r *Recording) Verify(ctx context.Context) ([]Checked, error) {
	journal, all := r.journal()
	known := map[string]bool{ManifestName: true, JournalName: true, ignoreName: true}
	for _, e := range r.Entries {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		known[e.Path] = true
		c := r.check(ctx, e)
		if j, ok := journal[e.Path]; ok && c.State == Whole && j != e.SHA256 {
			c.State, c.Why = Changed, fmt.Sprintf("it matches the manifest, but the journal says that its sha256 was %s", short(j))
		}
		all = append(all, c)
	}
	for _, name := range slices.Sorted(maps.Keys(journal)) {
		if !known[name] {
			all = append(all, Checked{Path: ManifestName, State: Changed, Why: "it does not have " + name + ", which the journal has"})
		}
	}
	for _, name := range r.twice {
		all = append(all, Checked{Path: name, State: Changed, Why: "the zip file has it more than once"})
	}
	_ = fs.WalkDir(r.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !known[name] {
			c := Checked{Path: name, State: Unlisted, Why: "the manifest does not list it"}
			if info, err := d.Info(); err == nil {
				c.Bytes = info.Size()
			}
			all = append(all, c)
		}
		return ctx.Err()
	})
	return all, ctx.Err()
}

// journal returns the sha256 of each entry as the journal has it, and what is wrong
// with the journal or the manifest as such. A recording that was not closed has the
// journal alone, and nothing to hold it against.
func (r *Recording) journal() (sums map[string]string, wrong []Checked) {
	if f, err := r.fsys.Open(ManifestName); err == nil {
		f.Close()
	} else {
		if r.Complete {
			wrong = append(wrong, Checked{Path: ManifestName, State: Missing, Why: "the journal says that the recording was closed"})
		}
		return nil, wrong
	}
	bad := func(state State, format string, args ...any) {
		wrong = append(wrong, Checked{Path: JournalName, State: state, Why: fmt.Sprintf(format, args...)})
	}
	j, err := r.fsys.Open(JournalName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		bad(Missing, "it is not there")
		return nil, wrong
	case err != nil:
		bad(Unreadable, "%s", reason(err))
		return nil, wrong
	}
	defer j.Close()
	m, err := readJournal(io.LimitReader(j, maxManifest))
	if err != nil {
		bad(Unreadable, "%s", reason(err))
		return nil, wrong
	}
	sums = map[string]string{}
	for _, e := range m.Entries {
		if e.SHA256 != "" && !e.Partial {
			sums[e.Path] = e.SHA256
		}
	}
	for _, e := range r.Entries {
		if _, ok := sums[e.Path]; !ok && e.SHA256 != "" && !e.Partial {
			bad(Changed, "it does not have %s, which the manifest lists", e.Path)
			break
		}
	}
	return sums, wrong
}

// check reads one entry.
func (r *Recording) check(ctx context.Context, e Entry) Checked {
	c := Checked{Path: e.Path}
	f, err := r.fsys.Open(e.Path)
	if err != nil {
		c.State, c.Why = Unreadable, reason(err)
		if errors.Is(err, fs.ErrNotExist) {
			c.State, c.Why = Missing, "it is not there"
		}
		return c
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, untilDone{ctx, f})
	if c.Bytes = n; err != nil {
		c.State, c.Why = Unreadable, reason(err)
		return c
	}
	c.SHA256 = sumText(sum)
	c.State, c.Why = e.holds(n, c.SHA256)
	return c
}

// holds says whether a file is what the entry says.
func (e *Entry) holds(bytes int64, sum string) (State, string) {
	switch {
	case e.Partial || e.SHA256 == "":
		return Partial, "it had not been closed when the recording ended"
	case bytes != e.Bytes:
		return Changed, fmt.Sprintf("it has %d bytes, but %d were recorded", bytes, e.Bytes)
	case !strings.EqualFold(sum, e.SHA256):
		return Changed, fmt.Sprintf("its sha256 is %s, but %s was recorded", short(sum), short(e.SHA256))
	}
	return Whole, ""
}

// reason is the reason of an error without the name of the file, which stands beside
// it.
func reason(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return err.Error()
}

func sumText(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// short is as much of a sum as tells two apart.
func short(sum string) string { return sum[:min(len(sum), 12)] }

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

// Read reads on.
func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}

// What is checked on opening: the size of every entry, and the bytes of the small
// ones up to a sum, which takes some milliseconds.
const (
	cheapEntry = 1 << 20
	cheapTotal = 8 << 20
)

// glance holds what is cheap to check of a folder against the manifest, and notes
// what does not fit. What is in a zip file has sums of its own, which are checked
// when it is read.
func (r *Recording) glance() {
	// Who shares the manifest shares its notes: they are not appended to in place.
	notes := slices.Clone(r.Notes)
	left := int64(cheapTotal)
	for _, e := range r.Entries {
		if e.Partial || e.SHA256 == "" {
			continue
		}
		info, err := fs.Stat(r.fsys, e.Path)
		if err != nil {
			continue // whoever needs it says so
		}
		state, why := e.holds(info.Size(), e.SHA256)
		if state == Whole && info.Size() <= min(cheapEntry, left) {
			left -= info.Size()
			if data, err := r.ReadFile(e.Path, cheapEntry); err == nil {
				sum := sha256.Sum256(data)
				state, why = e.holds(int64(len(data)), hex.EncodeToString(sum[:]))
			}
		}
		if state == Changed {
			notes = append(notes, fmt.Sprintf("%s was changed after it was recorded: %s (loupe verify checks all entries)", e.Path, why))
		}
	}
	r.Notes = notes
}
