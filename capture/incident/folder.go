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

	"loupe/recording"
	"loupe/source/bounded"
	"loupe/source/system"
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
	// Stored is the recording in the bucket; nil where that has none.
	Stored *Stored `json:"stored,omitempty"`
	// Version counts what the bucket was told of the incident. Pending tells that something has
	// changed since.
	Version int  `json:"version,omitempty"`
	Pending bool `json:"pending,omitempty"`

	changes   int       // since this process began
	used      time.Time // when the recording was last opened
	unwritten bool      // its file is not there, or not as it is
}

// Stored is a recording in a bucket, packed.
type Stored struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// named are the IDs of incidents, which are parts of the names of files; hashed is a SHA-256.
var (
	named  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	hashed = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// mostBytes is more than any recording has.
const mostBytes = 1 << 40

// isOf tells whether what was read can be the incident of an ID: it decides about what is deleted.
func (in *Incident) isOf(id string) bool {
	if !named.MatchString(id) || in.ID != id || in.Bytes < 0 || in.Bytes > mostBytes || in.Version < 0 {
		return false
	}
	s := in.Stored
	return s == nil || hashed.MatchString(s.SHA256) && s.Name == storedName(id, s.SHA256) && 0 < s.Bytes && s.Bytes <= mostBytes
}

// storedName is the name of a recording in the bucket.
func storedName(id, sum string) string { return id + "/recording-" + sum[:16] + packed }

// pins tell whether the recording of an incident must stay.
type pins func() (func(*Incident) bool, error)

// folder is where incidents are kept: a file of each, and beside it the recording.
type folder struct {
	dir   string
	count int
	bytes int64
	// room bounds the recordings in the bucket, if there is one (remote). Here they may go then when the
	// bucket has them.
	room   int64
	remote bool
	listed bool // what the bucket has is known
	pins   pins
	now    func() time.Time

	mu      sync.Mutex
	all     []*Incident // the oldest first
	gone    []string    // dropped ones that the bucket may still have
	damaged []string    // the names of files of incidents that could not be read
	held    *os.File    // the lock
}

// openFolder reads what is in a folder, and makes it. Nobody else may use it until it is closed.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := system.Lock(filepath.Join(dir, ".lock"))
	if errors.Is(err, system.ErrLocked) {
		return nil, fmt.Errorf("another loupe serve uses %s (name another folder with -incidents)", dir)
	} else if err != nil {
		return nil, err
	}
	f := &folder{dir: dir, pins: func() (func(*Incident) bool, error) { return nil, nil }, now: time.Now, held: held}
	list, err := os.ReadDir(dir)
	if err != nil {
		held.Close()
		return nil, err
	}
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !named.MatchString(id) {
			continue
		}
		text, err := bounded.Read(filepath.Join(dir, e.Name()), 1<<20)
		in := &Incident{}
		if err == nil {
			err = json.Unmarshal(text, in)
		}
		if err != nil || !in.isOf(id) {
			f.damaged = append(f.damaged, e.Name()) // or somebody else's
			continue
		}
		if in.Recorded = f.local(in) != ""; in.Note == underWay {
			in.Note, in.Pending = "the capture did not end: loupe serve was stopped, or could not write", true
			in.Bytes = size(f.place(in))
		}
		f.all = append(f.all, in)
	}
	f.sort()
	return f, nil
}

// sort puts the incidents in the order of time; the caller holds f.mu, or has f for itself.
func (f *folder) sort() {
	slices.SortFunc(f.all, func(a, b *Incident) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
}

// underWay is the note of an incident whose recording is being taken.
const underWay = "capturing"

// recorded tells whether there is a recording in a folder, or the begin of one. A disk that is full may leave the folder
// alone.
func recorded(dir string) bool {
	return slices.ContainsFunc([]string{recording.ManifestName, recording.JournalName}, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Size() > 0
	})
}

// place is the folder of an incident's recording.
func (f *folder) place(in *Incident) string { return filepath.Join(f.dir, in.ID) }

// local is where the recording of an incident lies here: its folder, or what was packed and brought back from
// the bucket; "" for neither.
func (f *folder) local(in *Incident) string {
	dir := f.place(in)
	if recorded(dir) {
		return dir
	}
	if info, err := os.Stat(dir + packed); err == nil && info.Mode().IsRegular() {
		return dir + packed
	}
	return ""
}

// tellDamaged says which files of incidents could not be read, and where their recordings are.
func (f *folder) tellDamaged(tell func(format string, args ...any)) {
	for _, name := range f.damaged {
		id := strings.TrimSuffix(name, ".json")
		if _, known := f.get(id); known {
			continue // the bucket had it
		}
		recording := ""
		if where := f.local(&Incident{ID: id}); where != "" {
			recording = "; its recording is in " + where
		}
		tell("incidents: %s is damaged, or not of loupe: it is not listed, and left as it is%s", filepath.Join(f.dir, name), recording)
	}
}

// packed is how the name of a packed recording ends.
const packed = ".zip"

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
		if !f.taken(in.ID) {
			break
		}
	}
	f.all = append(f.all, in)
	in.Pending = true
	return f.write(in)
}

// taken tells whether there is an incident of an ID, or anything that has its name.
func (f *folder) taken(id string) bool {
	for _, end := range []string{"", ".json", packed} {
		if _, err := os.Lstat(filepath.Join(f.dir, id+end)); err == nil {
			return true
		}
	}
	return slices.ContainsFunc(f.all, func(o *Incident) bool { return o.ID == id })
}

// change changes an incident, and writes it down.
func (f *folder) change(in *Incident, change func(*Incident)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(in)
	in.Pending = true
	in.changes++
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
	err = os.WriteFile(name+".new", append(text, '\n'), 0o600)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if in.unwritten = err != nil; err != nil {
		os.Remove(name + ".new")
	}
	return err
}

// rewrite writes what could not be written before: a disk that was full may have room again.
func (f *folder) rewrite() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.all {
		if in.unwritten {
			_ = f.write(in) // was told of when it failed first
		}
	}
}

// keep sets the bounds.
func (f *folder) keep(count int, bytes, room int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count, f.bytes, f.room = count, bytes, room
}

// bound drops the oldest recordings until what there is keeps to the bounds, but for those that are pinned. One that
// alone is larger than all may be is dropped too, and its incident says so. With a bucket, what it has goes here first, and what
// it does not have yet stays.
func (f *folder) bound() error {
	pinned, err := f.pins()
	if err != nil {
		return fmt.Errorf("nothing is deleted while the pins are unknown: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	stays := func(in *Incident) bool {
		return in.Note == underWay || f.remote && (in.Pending || !f.listed) || pinned != nil && pinned(in)
	}
	var failed error
	f.all = slices.DeleteFunc(f.all, func() func(in *Incident) bool {
		over := len(f.all) - f.count
		return func(in *Incident) bool {
			if f.count <= 0 || over <= 0 || stays(in) {
				return false
			}
			over--
			failed = errors.Join(failed, f.drop(in))
			return true
		}
	}())
	if f.remote && !f.listed {
		return failed // what it has is not known yet
	}
	if f.remote {
		return errors.Join(failed, f.evict(), f.forget(stays))
	}
	sum := int64(0)
	for _, in := range f.all {
		sum += in.Bytes
	}
	for i := 0; f.bytes > 0 && sum > f.bytes && i < len(f.all); i++ {
		in := f.all[i]
		if !in.Recorded || stays(in) {
			continue
		}
		sum -= in.Bytes
		failed = errors.Join(failed, f.remove(in))
		in.Recorded, in.Bytes, in.Note = false, 0, "recording deleted: keep.bytes reached"
		failed = errors.Join(failed, f.write(in))
	}
	return failed
}

// inUse is how long a recording stays here after it was opened.
const inUse = time.Hour

// evict removes recordings here that the bucket has, those first that nobody has opened for longest.
func (f *folder) evict() (failed error) {
	type one struct {
		in    *Incident
		bytes int64
	}
	var list []one
	sum := int64(0)
	for _, in := range f.all {
		bytes := size(f.place(in)) + size(f.place(in)+packed)
		sum += bytes
		if bytes > 0 && in.Stored != nil && !in.Pending && f.now().Sub(in.used) > inUse {
			list = append(list, one{in, bytes})
		}
	}
	slices.SortStableFunc(list, func(a, b one) int { return a.in.used.Compare(b.in.used) })
	for _, o := range list {
		if f.bytes <= 0 || sum <= f.bytes {
			break
		}
		sum -= o.bytes
		failed = errors.Join(failed, f.remove(o.in))
	}
	return failed
}

// forget has the bucket drop its oldest recordings until they have the room that they may take.
func (f *folder) forget(stays func(*Incident) bool) (failed error) {
	sum := int64(0)
	for _, in := range f.all {
		if in.Stored != nil {
			sum += in.Stored.Bytes
		}
	}
	for i := 0; f.room > 0 && sum > f.room && i < len(f.all); i++ {
		in := f.all[i]
		if in.Stored == nil || stays(in) {
			continue
		}
		sum -= in.Stored.Bytes
		in.Stored, in.Recorded, in.Bytes, in.Note, in.Pending = nil, false, 0, forgotten, true
		in.changes++
		failed = errors.Join(failed, f.remove(in), f.write(in))
	}
	return failed
}

// forgotten is the note of an incident whose recording the bucket was told to drop.
const forgotten = "recording deleted: keep.bucket reached"

// waiting is how many bytes of recordings the bucket does not have yet.
func (f *folder) waiting() (sum int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.all {
		if in.Recorded && in.Stored == nil {
			sum += in.Bytes
		}
	}
	return sum
}

// remove removes what is here of a recording.
func (f *folder) remove(in *Incident) error {
	err := os.Remove(f.place(in) + packed)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(f.place(in)))
}

// drop removes an incident with its recording.
func (f *folder) drop(in *Incident) error {
	if f.remote {
		f.gone = append(f.gone, in.ID)
	}
	return errors.Join(f.remove(in), os.Remove(f.place(in)+".json"))
}

// get returns a copy of an incident.
func (f *folder) get(id string) (in Incident, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		if one.ID == id {
			return *one, true
		}
	}
	return in, false
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
