package block

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"loupe/store/blob"
)

// The names in an archive. That of a block has its number and the begin of its SHA-256, so
// that no two blocks ever have the same name; beside it, and after it, comes what is known
// of it, which makes it count.
const (
	archiveStore  = "store.json"
	archiveBlocks = "blocks/"
	archiveSchema = "loupe.archive/1"
)

// archiveMark is the first blob of an archive: whose it is.
type archiveMark struct {
	Schema string `json:"schema"`
	Store  string `json:"store"`
}

// archived says what is known of a block of an archive.
type archived struct {
	Schema     string `json:"schema"`
	Name       string `json:"name"` // of the blob
	Size       int64  `json:"size"`
	SHA256     string `json:"sha256"`
	First      int64  `json:"first"` // time of the first profile, ns since 1970
	Last       int64  `json:"last"`
	Resolution int64  `json:"resolution"` // ns
	Profiles   int64  `json:"profiles"`
	// Replaces are names of blocks that this one was merged from. They do not count any more,
	// and are deleted.
	Replaces []string `json:"replaces,omitempty"`
}

// archiveState is what the manifest knows of the archive. A block of the store is archived by
// itself (Has), covered by others that are, or pending.
//
// Covered is what was thinned out of archived blocks: the archive keeps these in full.
type archiveState struct {
	Store   string            `json:"store"`
	Has     map[string]string `json:"has,omitempty"` // names in the archive, by block
	Covered []string          `json:"covered,omitempty"`
	// Replaces has for pending blocks the names in the archive that they were merged from.
	Replaces map[string][]string `json:"replaces,omitempty"`
	Delete   []string            `json:"delete,omitempty"` // names that are replaced
	// Uploading is a block on its way, which may be there under its name.
	Uploading, UploadingAs string `json:"-"`
}

func (a *archiveState) clone() *archiveState {
	if a == nil {
		return nil
	}
	b := *a
	b.Has, b.Covered, b.Delete, b.Replaces = maps.Clone(a.Has), slices.Clone(a.Covered), slices.Clone(a.Delete), map[string][]string{}
	if b.Has == nil {
		b.Has = map[string]string{}
	}
	for name, list := range a.Replaces {
		b.Replaces[name] = slices.Clone(list)
	}
	return &b
}

// covered tells whether the archive has all profiles of a block.
func (a *archiveState) covered(name string) bool {
	return a.Has[name] != "" || slices.Contains(a.Covered, name)
}

// inherit says what becomes of new blocks that were made of others: merged ones have all of
// their profiles; what was thinned out or dropped has less.
func (a *archiveState) inherit(names []string, gone []*block, merged bool) {
	all, own := true, true
	var replaces []string
	for _, b := range gone {
		all = all && a.covered(b.name)
		own = own && !slices.Contains(a.Covered, b.name)
		if as := a.Has[b.name]; as != "" {
			replaces = append(replaces, as)
		}
		if b.name == a.Uploading {
			replaces = append(replaces, a.UploadingAs)
		}
		replaces = append(replaces, a.Replaces[b.name]...)
		delete(a.Has, b.name)
		delete(a.Replaces, b.name)
		a.Covered = slices.DeleteFunc(a.Covered, func(n string) bool { return n == b.name })
	}
	switch {
	case len(gone) == 0:
	case all && !(merged && own):
		a.Covered = append(a.Covered, names...)
	case merged:
		for _, n := range names {
			a.Replaces[n] = replaces
		}
	}
}

// Archive makes the bucket the archive of the store from now on: [Engine.Upload] takes sealed
// blocks there, and no block is thinned out before. A bucket is the archive of one store.
func (e *Engine) Archive(ctx context.Context, to blob.Bucket) error {
	e.work.Lock()
	defer e.work.Unlock()
	e.mu.RLock()
	state, closed := e.state.clone(), e.closed
	e.mu.RUnlock()
	if closed {
		return errors.New("the store is closed")
	}
	mark, err := readMark(ctx, to)
	switch {
	case errors.Is(err, blob.ErrNotFound): // a new archive has nothing yet
		state.Archive = (&archiveState{Store: rand.Text()}).clone()
		if err := e.saveState(state); err != nil {
			return err
		}
		text, err := json.Marshal(archiveMark{archiveSchema, state.Archive.Store})
		if err != nil {
			return err
		}
		if err := to.Put(ctx, archiveStore, bytes.NewReader(text), int64(len(text))); err != nil {
			return fmt.Errorf("cannot begin the archive: %w", err)
		}
	case err != nil:
		return err
	case state.Archive == nil || state.Archive.Store != mark.Store:
		return fmt.Errorf("%w: %s contains the archive of another store (choose another prefix, or restore that archive with loupe serve -copy)", ErrOtherArchive, to)
	}
	if state.Archive.Store == mark.Store {
		if err := e.again(ctx, to, state); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.archive = to
	e.mu.Unlock()
	return nil
}

// again notes blocks that were brought to the archive when the process ended before that was
// in the manifest.
func (e *Engine) again(ctx context.Context, to blob.Bucket, state manifest) error {
	for name, err := range to.List(ctx, archiveBlocks) {
		if err != nil {
			return err
		}
		stem, ok := strings.CutSuffix(path.Base(name), ".json")
		number, digest, ok2 := strings.Cut(stem, "-")
		own := number + ".block"
		if !ok || !ok2 || !slices.Contains(state.Blocks, own) || state.Archive.covered(own) {
			continue
		}
		f, err := e.fs.Open(own)
		if err != nil {
			continue // damaged, which Open has told
		}
		size, err := f.Size()
		sum := sha256.New()
		if err == nil {
			_, err = io.Copy(sum, io.NewSectionReader(f, 0, size))
		}
		f.Close()
		if err == nil && strings.HasPrefix(hex.EncodeToString(sum.Sum(nil)), digest) {
			state.Archive.Has[own] = strings.TrimSuffix(name, ".json") + ".block"
			state.Archive.Delete = append(state.Archive.Delete, state.Archive.Replaces[own]...)
			delete(state.Archive.Replaces, own)
		}
	}
	return e.saveState(state)
}

// ErrOtherArchive is a bucket with the archive of another store.
var ErrOtherArchive = errors.New("cannot use the archive")

func readMark(ctx context.Context, from blob.Bucket) (m archiveMark, err error) {
	data, err := readBlob(ctx, from, archiveStore)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Schema != archiveSchema {
		return m, fmt.Errorf("%s in %s is not the begin of an archive", archiveStore, from)
	}
	return m, nil
}

// readBlob reads a small blob.
func readBlob(ctx context.Context, from blob.Bucket, name string) ([]byte, error) {
	r, err := from.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, 16<<20))
}

// saveState writes a manifest and makes it count.
func (e *Engine) saveState(state manifest) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errors.New("the store is closed")
	}
	// Blocks and numbers may have changed since the state was looked at.
	now := e.state.clone()
	now.Archive = state.Archive
	if err := now.save(e.fs); err != nil {
		return err
	}
	e.state = now
	return nil
}

// Upload brings sealed blocks to the archive, one after the other, and returns how many. What
// was uploaded is read back and held against its SHA-256 before it counts; only then what it
// was merged from is deleted there. After an error it goes on the next time.
func (e *Engine) Upload(ctx context.Context) (n int, err error) {
	for {
		b, to := e.pending()
		if b == nil {
			return n, e.deleteReplaced(ctx, to)
		}
		err := e.upload(ctx, b, to)
		b.release()
		if err != nil {
			return n, err
		}
		n++
	}
}

// pending returns a block that the archive does not have, which must be released.
func (e *Engine) pending() (*block, blob.Bucket) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.archive == nil || e.closed {
		return nil, nil
	}
	for _, b := range e.blocks {
		if !e.state.Archive.covered(b.name) {
			b.users.Add(1)
			return b, e.archive
		}
	}
	return nil, e.archive
}

// upload brings one block to the archive.
func (e *Engine) upload(ctx context.Context, b *block, to blob.Bucket) error {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(b.f, 0, b.size)); err != nil {
		return fmt.Errorf("cannot read block %s: %w", b.name, err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	stem := strings.TrimSuffix(b.name, ".block")
	info := archived{Schema: archiveSchema, Name: archiveBlocks + stem + "-" + digest[:16] + ".block", Size: b.size, SHA256: digest,
		First: b.first, Last: b.last, Resolution: int64(b.index.resolution), Profiles: b.index.profiles}
	e.mu.Lock()
	if !slices.Contains(e.state.Blocks, b.name) {
		e.mu.Unlock()
		return nil // merged meanwhile
	}
	e.state.Archive.Uploading, e.state.Archive.UploadingAs = b.name, info.Name
	info.Replaces = slices.Clone(e.state.Archive.Replaces[b.name])
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.state.Archive.Uploading, e.state.Archive.UploadingAs = "", ""
		e.mu.Unlock()
	}()
	if err := to.Put(ctx, info.Name, io.NewSectionReader(b.f, 0, b.size), b.size); err != nil && !errors.Is(err, blob.ErrExists) {
		return err
	}
	if err := verify(ctx, to, &info, io.Discard); err != nil {
		return err
	}
	text, err := json.MarshalIndent(info, "", "\t")
	if err != nil {
		return err
	}
	name := beside(info.Name)
	if err := to.Put(ctx, name, bytes.NewReader(text), int64(len(text))); errors.Is(err, blob.ErrExists) {
		// From before, when perhaps less was replaced.
		if have, err := readBlob(ctx, to, name); err != nil {
			return err
		} else if !bytes.Equal(have, text) {
			if err := errors.Join(to.Delete(ctx, name), to.Put(ctx, name, bytes.NewReader(text), int64(len(text)))); err != nil {
				return err
			}
		}
	} else if err != nil {
		return err
	}
	return e.uploaded(b.name, &info)
}

// beside is where it says what is known of a block.
func beside(name string) string { return strings.TrimSuffix(name, ".block") + ".json" }

// verify reads a block back and holds it against what is known of it.
func verify(ctx context.Context, from blob.Bucket, info *archived, into io.Writer) error {
	r, err := from.Get(ctx, info.Name)
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(sum, into), r)
	if err != nil {
		return fmt.Errorf("cannot read %s back from %s: %w", info.Name, from, err)
	}
	if n != info.Size || hex.EncodeToString(sum.Sum(nil)) != info.SHA256 {
		return fmt.Errorf("%s in %s: %w (%d bytes, want %d with the SHA-256 %.16s…)", info.Name, from, errDamaged, n, info.Size, info.SHA256)
	}
	return nil
}

// errDamaged is a block in an archive that is not what was brought there.
var errDamaged = errors.New("it is damaged")

// uploaded notes that the archive has a block.
func (e *Engine) uploaded(name string, info *archived) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	state := e.state.clone()
	if slices.Contains(state.Blocks, name) {
		state.Archive.Has[name] = info.Name
	}
	delete(state.Archive.Replaces, name)
	state.Archive.Delete = append(state.Archive.Delete, info.Replaces...)
	state.Archive.Uploading, state.Archive.UploadingAs = "", ""
	if err := state.save(e.fs); err != nil {
		return err
	}
	e.state = state
	return nil
}

// deleteReplaced deletes in the archive what verified blocks have replaced: first what makes it
// count, then the block.
func (e *Engine) deleteReplaced(ctx context.Context, to blob.Bucket) error {
	if to == nil {
		return nil
	}
	e.mu.RLock()
	list := slices.Clone(e.state.Archive.Delete)
	e.mu.RUnlock()
	for _, name := range list {
		if err := to.Delete(ctx, beside(name)); err != nil {
			return err
		}
		if err := to.Delete(ctx, name); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	state := e.state.clone()
	state.Archive.Delete = slices.DeleteFunc(state.Archive.Delete, func(n string) bool { return slices.Contains(list, n) })
	if err := state.save(e.fs); err != nil {
		return err
	}
	e.state = state
	return nil
}

// unarchived tells whether a block is to be left as it is until the archive has it.
func (e *Engine) unarchived(b *block) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.archive != nil && !e.state.Archive.covered(b.name)
}

// isCovered tells whether a block was thinned out of archived ones: such are not merged with
// others.
func (m *manifest) isCovered(name string) bool {
	return m.Archive != nil && slices.Contains(m.Archive.Covered, name)
}
