package incident

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/recording"
	"loupe/store/blob"
	"loupe/value/unit"
)

// tier is the bucket behind a folder. Below the ID of an incident it has the packed recording, and after
// that what is known of the incident, which makes it count: a file of each version, of which the last holds.
type tier struct {
	to    blob.Bucket
	kept  *folder
	retry time.Duration
	tell  func(format string, args ...any)
	news  chan struct{}

	fetching sync.Mutex // held by who brings a recording back
}

// temporary begins the names of files that are on their way; those of incidents begin otherwise.
const temporary = ".moving-"

func newTier(kept *folder, opt Options) *tier {
	t := &tier{to: opt.Bucket, kept: kept, retry: opt.Retry, tell: opt.Tell, news: make(chan struct{}, 1)}
	if t.retry <= 0 {
		t.retry = time.Minute
	}
	kept.remote = true
	for _, in := range kept.all {
		in.Recorded = in.Recorded || in.Stored != nil
	}
	left, _ := filepath.Glob(filepath.Join(kept.dir, temporary+"*"))
	for _, name := range left {
		os.Remove(name) // of a process that was killed
	}
	return t
}

// wake tells run that something has changed. No tier does nothing.
func (t *tier) wake() {
	if t == nil {
		return
	}
	select {
	case t.news <- struct{}{}:
	default:
	}
}

// run keeps the bucket as the folder is, until ctx ends. A bucket that does not answer stops nothing.
func (t *tier) run(ctx context.Context) {
	last := ""
	for {
		said := ""
		if err := t.sync(ctx); err != nil && ctx.Err() == nil {
			said = err.Error()
		}
		if said != "" && said != last {
			t.tell("incidents: %s (kept here; retried every %s)", said, unit.Duration(t.retry))
		}
		last = said
		timer := time.NewTimer(t.retry)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-t.news:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// full says why nothing can be recorded: what the bucket does not have yet stays here, and takes all the room.
func (t *tier) full() string {
	t.kept.mu.Lock()
	most := t.kept.bytes
	t.kept.mu.Unlock()
	waiting := t.kept.waiting()
	if most <= 0 || waiting < most {
		return ""
	}
	return fmt.Sprintf("not recorded: keep.bytes reached by %s of recordings that %s does not have yet", unit.Bytes(waiting), t.to)
}

// sync brings to the bucket what it does not have, and deletes there what was dropped.
func (t *tier) sync(ctx context.Context) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	var failed error
	for _, in := range slices.Backward(t.kept.list()) {
		if !in.Pending || in.Note == underWay {
			continue
		}
		if err := t.upload(ctx, in); err != nil {
			// One that cannot be read here holds up no other.
			failed = errors.Join(failed, err)
			if ctx.Err() != nil || errors.Is(err, errBucket) {
				return failed
			}
		}
	}
	return errors.Join(failed, t.deleteGone(ctx), t.kept.bound())
}

// errBucket is an error of the bucket, which the next incident would meet as well.
var errBucket = errors.New("bucket")

// bucketError is one that counts as errBucket and reads as it is.
type bucketError struct{ error }

// Is tells that it is errBucket.
func (bucketError) Is(target error) bool { return target == errBucket }

// Unwrap is what the bucket said.
func (e bucketError) Unwrap() error { return e.error }

// version is the name of what is known of an incident.
func version(id string, n int) string { return fmt.Sprintf("%s/%06d.json", id, n) }

// versionOf takes such a name apart; what else lies there is nobody's.
func versionOf(name string) (id string, n int, ok bool) {
	id, file := path.Split(name)
	id = strings.TrimSuffix(id, "/")
	n, err := strconv.Atoi(strings.TrimSuffix(file, ".json"))
	return id, n, err == nil && named.MatchString(id) && name == version(id, n)
}

// list finds out, once, what the bucket has. Incidents that the folder does not have are taken in: they are those of
// a disk that was lost. What the bucket should have and does not is brought there again: it may be another one than the last
// time, or somebody deletes in it.
func (t *tier) list(ctx context.Context) error {
	t.kept.mu.Lock()
	listed := t.kept.listed
	t.kept.mu.Unlock()
	if listed {
		return nil
	}
	versions, there := map[string][]string{}, map[string]bool{}
	for name, err := range t.to.List(ctx, "") {
		if err != nil {
			return err
		}
		there[name] = true
		if id, _, ok := versionOf(name); ok {
			versions[id] = append(versions[id], name) // they are sorted
		}
	}
	for _, id := range slices.Sorted(maps.Keys(versions)) {
		if _, known := t.kept.get(id); known {
			continue
		}
		in, err := t.last(ctx, id, versions[id])
		if err != nil {
			return err
		}
		if in == nil {
			t.tell("incidents: what %s has of %s is damaged: it is not listed, and left as it is", t.to, id)
			continue
		}
		if err := t.kept.adopt(in); err != nil {
			return err
		}
	}
	t.kept.tellDamaged(t.tell)
	return t.kept.compare(versions, there)
}

// last is the last version of an incident that can be read, nil for none.
func (t *tier) last(ctx context.Context, id string, versions []string) (*Incident, error) {
	for i, name := range slices.Backward(versions) {
		in, err := t.read(ctx, name)
		if err != nil {
			return nil, err
		}
		if in.isOf(id) {
			if _, n, _ := versionOf(versions[len(versions)-1]); i < len(versions)-1 {
				in.Version = n // the next one comes after that which is damaged
			}
			return in, nil
		}
	}
	return nil, nil
}

// compare holds the folder against what the bucket has: the versions of each incident, and all names.
func (f *folder) compare(versions map[string][]string, there map[string]bool) (failed error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed = true
	for _, in := range f.all {
		lost := in.Stored != nil && !there[in.Stored.Name]
		if in.Version > 0 && len(versions[in.ID]) > 0 && !lost {
			continue
		}
		in.Pending = true
		in.changes++
		if lost {
			in.Stored = nil
			f.missing(in)
		}
		failed = errors.Join(failed, f.write(in))
	}
	return failed
}

// missing notes where the recording of an incident is nowhere; the caller holds f.mu.
func (f *folder) missing(in *Incident) {
	if f.local(in) == "" && in.Recorded {
		in.Recorded, in.Bytes, in.Note = false, 0, "the recording was deleted by somebody else"
	}
}

// read reads what is known of an incident.
func (t *tier) read(ctx context.Context, name string) (*Incident, error) {
	r, err := t.to.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, err
	}
	in := &Incident{}
	if json.Unmarshal(text, in) != nil {
		return &Incident{}, nil // no incident
	}
	return in, nil
}

// adopt takes an incident in that came from the bucket.
func (f *folder) adopt(in *Incident) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	in.Pending, in.Recorded = false, in.Stored != nil
	f.all = append(f.all, in)
	f.sort()
	return f.write(in)
}

// upload brings an incident to the bucket as it is here.
func (t *tier) upload(ctx context.Context, in Incident) error {
	if in.Recorded && in.Stored == nil {
		here := t.kept.local(&in)
		if here == "" {
			return t.kept.changeID(in.ID, t.kept.missing) // and is brought there the next time
		}
		stored, err := t.store(ctx, &in, here)
		if err != nil {
			return err
		}
		in.Stored = stored
	}
	changes := in.changes
	in.Pending = false
	if err := t.next(ctx, &in); err != nil {
		return err
	}
	text, err := json.MarshalIndent(in, "", "\t")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if err := t.to.Put(ctx, version(in.ID, in.Version), bytes.NewReader(text), int64(len(text))); err != nil {
		return bucketError{err}
	}
	if err := t.tidy(ctx, &in); err != nil {
		return err
	}
	return t.kept.uploaded(&in, changes)
}

// next gives an incident the version after those that the bucket has of it. One more than the folder knows is of this
// folder too, when a process was killed before it could write that down; or it is of another server.
func (t *tier) next(ctx context.Context, in *Incident) error {
	newest, last := "", in.Version
	for name, err := range t.to.List(ctx, in.ID+"/") {
		if err != nil {
			return bucketError{err}
		}
		if _, n, ok := versionOf(name); ok && n > last {
			newest, last = name, n
		}
	}
	if newest != "" {
		other, err := t.read(ctx, newest)
		if err != nil {
			return bucketError{err}
		}
		if other.isOf(in.ID) && (other.Target != in.Target || other.Rule != in.Rule || !other.At.Equal(in.At)) {
			return fmt.Errorf("%s has another incident called %s: two servers must not use one prefix", t.to, in.ID)
		}
		in.Version = last
	}
	in.Version++
	return nil
}

// uploaded notes that the bucket has an incident as it was after so many changes.
func (f *folder) uploaded(now *Incident, changes int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.all {
		if in.ID != now.ID {
			continue
		}
		in.Version = now.Version
		if in.Recorded { // and was not dropped meanwhile
			in.Stored = now.Stored
		}
		in.Pending = in.changes != changes
		return f.write(in)
	}
	return nil // dropped meanwhile, and deleted by deleteGone
}

// changeID is change of the incident of an ID.
func (f *folder) changeID(id string, change func(*Incident)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range f.all {
		if in.ID == id {
			change(in)
			in.changes++
			return f.write(in)
		}
	}
	return nil
}

// tidy deletes what an incident in the bucket no longer needs: former versions, and recordings other than its own. One that is
// there although the incident has none is left, unless it was dropped for its size.
func (t *tier) tidy(ctx context.Context, in *Incident) error {
	for name, err := range t.to.List(ctx, in.ID+"/") {
		_, _, known := versionOf(name)
		old := known && name != version(in.ID, in.Version)
		other := strings.HasPrefix(name, in.ID+"/recording-") && (in.Stored != nil && name != in.Stored.Name || in.Note == forgotten)
		if err == nil && (old || other) {
			err = t.to.Delete(ctx, name)
		}
		if err != nil {
			return bucketError{err}
		}
	}
	return nil
}

// deleteGone deletes dropped incidents: first what makes them count.
func (t *tier) deleteGone(ctx context.Context) error {
	t.kept.mu.Lock()
	list := slices.Clone(t.kept.gone)
	t.kept.mu.Unlock()
	for _, id := range list {
		var names []string
		for name, err := range t.to.List(ctx, id+"/") {
			if err != nil {
				return bucketError{err}
			}
			names = append(names, name)
		}
		slices.SortStableFunc(names, func(a, b string) int { return jsonFirst(a) - jsonFirst(b) })
		for _, name := range names {
			if err := t.to.Delete(ctx, name); err != nil {
				return bucketError{err}
			}
		}
		t.kept.mu.Lock()
		t.kept.gone = slices.DeleteFunc(t.kept.gone, func(one string) bool { return one == id })
		t.kept.mu.Unlock()
	}
	return nil
}

func jsonFirst(name string) int {
	if path.Ext(name) == ".json" {
		return 0
	}
	return 1
}

// store packs the recording of an incident, brings it to the bucket, and reads it back before it counts.
func (t *tier) store(ctx context.Context, in *Incident, here string) (*Stored, error) {
	if !strings.HasSuffix(here, packed) {
		temp := filepath.Join(t.kept.dir, temporary+in.ID+packed)
		defer os.Remove(temp)
		os.Remove(temp)
		if err := recording.Zip(here, temp); err != nil {
			return nil, fmt.Errorf("incident %s: %w", in.ID, err)
		}
		here = temp
	}
	f, err := os.Open(here)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	if err != nil {
		return nil, err
	}
	s := &Stored{Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}
	s.Name = storedName(in.ID, s.SHA256)
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := t.to.Put(ctx, s.Name, f, n); err != nil && !errors.Is(err, blob.ErrExists) {
		return nil, bucketError{err}
	}
	if err := t.get(ctx, s, io.Discard); err != nil {
		if errors.Is(err, errDamaged) { // half of it may be there, from a server that was killed
			err = errors.Join(err, t.to.Delete(ctx, s.Name))
		}
		return nil, bucketError{err}
	}
	return s, nil
}

// errDamaged is a recording that is not as it was brought to the bucket.
var errDamaged = errors.New("it is damaged")

// get reads a recording and holds it against what is known of it.
func (t *tier) get(ctx context.Context, s *Stored, into io.Writer) error {
	r, err := t.to.Get(ctx, s.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, into), io.LimitReader(r, s.Bytes+1))
	if err != nil {
		return fmt.Errorf("cannot read %s from %s: %w", s.Name, t.to, err)
	}
	if n != s.Bytes || hex.EncodeToString(sum.Sum(nil)) != s.SHA256 {
		return fmt.Errorf("%s in %s: %w (%d bytes, want %d with the SHA-256 %.16s…)", s.Name, t.to, errDamaged, n, s.Bytes, s.SHA256)
	}
	return nil
}

// fetch returns where a recording lies here, after it was brought back if it was not.
func (t *tier) fetch(ctx context.Context, id string) (string, error) {
	t.fetching.Lock()
	defer t.fetching.Unlock()
	in, here := t.kept.open(id)
	if here != "" || in.Stored == nil {
		if here == "" {
			return "", ErrNone
		}
		return here, nil
	}
	name := t.kept.place(&in) + packed
	temp := filepath.Join(t.kept.dir, temporary+"back-"+id+packed)
	defer os.Remove(temp)
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	err = t.get(ctx, in.Stored, f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(temp, name); err != nil {
		return "", err
	}
	return name, t.kept.bound()
}

// open notes that the recording of an incident is opened, and returns where it lies here.
func (f *folder) open(id string) (in Incident, here string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.all {
		if one.ID == id {
			one.used = f.now()
			return *one, f.local(one)
		}
	}
	return in, ""
}
