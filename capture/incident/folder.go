package incident

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/source/bounded"
)

// Incident is one moment at which a rule has fired for a target.
type Incident struct {
	// ID names it in its folder: its recording is a folder of that name there.
	ID string    `json:"id"`
	At time.Time `json:"at"`
	// Rule is as it was written, Why says what held.
	Rule    string            `json:"rule"`
	Why     string            `json:"why"`
	Service string            `json:"service"`
	Target  string            `json:"target"` // its address, without what is secret in it
	Labels  map[string]string `json:"labels"`
	// Recorded tells that there is a recording, Note why there is none, or not all of it.
	Recorded bool   `json:"recorded"`
	Note     string `json:"note,omitempty"`
	// Again counts how often the rule has fired for the target within the pause.
	Again int   `json:"again"`
	Bytes int64 `json:"bytes"` // of the recording
}

// folder is where incidents are kept: a file of each, and beside it the recording.
type folder struct {
	dir   string
	count int
	bytes int64

	mu  sync.Mutex
	all []*Incident // the oldest first
}

// openFolder reads what is in a folder, and makes it.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &folder{dir: dir}
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := bounded.Read(name, 1<<20)
		in := &Incident{}
		if err == nil {
			err = json.Unmarshal(text, in)
		}
		if err != nil || in.ID+".json" != filepath.Base(name) {
			continue // somebody else's file
		}
		if in.Recorded = recorded(f.place(in)); in.Note == underWay {
			in.Note = "loupe serve stopped during the capture"
		}
		f.all = append(f.all, in)
	}
	slices.SortFunc(f.all, func(a, b *Incident) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	return f, nil
}

// underWay is the note of an incident whose recording is being taken.
const underWay = "capturing"

// recorded tells whether there is a recording in a folder.
func recorded(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// place is the folder of an incident's recording.
func (f *folder) place(in *Incident) string { return filepath.Join(f.dir, in.ID) }

var unsafe = regexp.MustCompile(`[^A-Za-z0-9._]+`)

// add gives an incident its name and writes it down.
func (f *folder) add(in *Incident) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.Trim(unsafe.ReplaceAllString(in.Service, "-"), "-._")
	base := cmp.Or(name[:min(len(name), 60)], "service") + in.At.UTC().Format("-20060102-150405")
	for n := 1; ; n++ {
		if in.ID = base; n > 1 {
			in.ID = fmt.Sprintf("%s-%d", base, n)
		}
		taken := slices.ContainsFunc(f.all, func(o *Incident) bool { return o.ID == in.ID })
		if _, err := os.Lstat(f.place(in)); errors.Is(err, fs.ErrNotExist) && !taken {
			break
		}
	}
	f.all = append(f.all, in)
	return f.write(in)
}

// change changes an incident, and writes it down.
func (f *folder) change(in *Incident, change func(*Incident)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(in)
	if !slices.Contains(f.all, in) {
		return nil // it was dropped meanwhile
	}
	return f.write(in)
}

// write writes the file of an incident; the caller holds f.mu.
func (f *folder) write(in *Incident) error {
	text, err := json.MarshalIndent(in, "", "\t")
	if err != nil {
		return err
	}
	name := f.place(in) + ".json"
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// bound drops the oldest recordings until what there is keeps to the bounds. One that alone is
// larger than all may be is dropped too, and its incident says so.
func (f *folder) bound() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var failed error
	for f.count > 0 && len(f.all) > f.count {
		failed = errors.Join(failed, f.drop(f.all[0]))
		f.all = f.all[1:]
	}
	sum := int64(0)
	for _, in := range f.all {
		sum += in.Bytes
	}
	for i := 0; f.bytes > 0 && sum > f.bytes && i < len(f.all); i++ {
		in := f.all[i]
		if !in.Recorded || in.Note == underWay {
			continue
		}
		sum -= in.Bytes
		failed = errors.Join(failed, os.RemoveAll(f.place(in)))
		in.Recorded, in.Bytes, in.Note = false, 0, "recording deleted: keep.bytes reached"
		failed = errors.Join(failed, f.write(in))
	}
	return failed
}

// drop removes an incident with its recording.
func (f *folder) drop(in *Incident) error {
	return errors.Join(os.RemoveAll(f.place(in)), os.Remove(f.place(in)+".json"))
}

// list are copies of the incidents, the newest first.
func (f *folder) list() []Incident {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Incident, len(f.all))
	for i, in := range f.all {
		all[len(all)-1-i] = *in
	}
	return all
}

// size is how many bytes the files in a folder have.
func size(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
