package block

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/store"
	"loupe/store/blob"
)

// Archived is an archive that profiles are taken out of. It is used by one at a time.
type Archived struct {
	from   blob.Bucket
	dir    string
	keep   int64 // bytes of blocks that stay in the folder
	list   []archived
	open   map[string]*block
	damage []string
	cache  cache
}

var _ store.Exporter = (*Archived)(nil)

// OpenArchive reads what an archive has. Blocks are brought into a folder for temporary files
// when they are needed, which Close empties again.
func OpenArchive(ctx context.Context, from blob.Bucket, temp string) (*Archived, error) {
	if _, err := readMark(ctx, from); err != nil {
		if errors.Is(err, blob.ErrNotFound) {
			return nil, fmt.Errorf("%s has no archive: %w", from, err)
		}
		return nil, err
	}
	a := &Archived{from: from, dir: temp, keep: 2 << 30, open: map[string]*block{}}
	gone := map[string]bool{}
	for name, err := range from.List(ctx, archiveBlocks) {
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(name, ".json") {
			continue
		}
		text, err := readBlob(ctx, from, name)
		if errors.Is(err, blob.ErrNotFound) {
			continue // replaced meanwhile
		}
		if err != nil {
			return nil, err
		}
		var one archived
		if err := json.Unmarshal(text, &one); err != nil || one.Schema != archiveSchema || beside(one.Name) != name || one.First > one.Last {
			a.damage = append(a.damage, name+" cannot be read: its block is left out")
			continue
		}
		a.list = append(a.list, one)
		for _, n := range one.Replaces {
			gone[n] = true
		}
	}
	a.list = slices.DeleteFunc(a.list, func(one archived) bool { return gone[one.Name] })
	slices.SortFunc(a.list, func(x, y archived) int { return cmp.Or(cmp.Compare(x.First, y.First), cmp.Compare(x.Name, y.Name)) })
	return a, nil
}

// Damage says what of the archive cannot be read, and is left out.
func (a *Archived) Damage() []string { return slices.Clone(a.damage) }

// Blocks returns how many blocks the archive has, and their bytes.
func (a *Archived) Blocks() (n int, bytes int64) {
	for _, one := range a.list {
		bytes += one.Size
	}
	return len(a.list), bytes
}

// Days is that of [store.Exporter].
func (a *Archived) Days(ctx context.Context) (out []time.Time, err error) {
	set := map[int64]bool{}
	for _, one := range a.list {
		for d := dayNumber(one.First); d <= dayNumber(one.Last); d++ {
			set[d] = true
		}
	}
	for _, d := range slices.Sorted(maps.Keys(set)) {
		out = append(out, time.Unix(0, d*int64(day)).UTC())
	}
	return out, ctx.Err()
}

// Export is that of [store.Exporter].
func (a *Archived) Export(ctx context.Context, s store.Selection, f func(*store.Moved) error) error {
	within := spanOf(s.Range)
	v := &view{}
	for _, one := range slices.Clone(a.list) {
		if !within.touches(one.First, one.Last) {
			continue
		}
		b, err := a.block(ctx, &one)
		if err != nil {
			return err
		}
		if b != nil {
			v.parts = append(v.parts, b)
		}
	}
	defer a.evict(within)
	return v.export(ctx, s, true, f)
}

// block brings a block here. One that is damaged, or not there, is nil and told of.
func (a *Archived) block(ctx context.Context, one *archived) (*block, error) {
	if b := a.open[one.Name]; b != nil {
		return b, nil
	}
	name := path.Base(one.Name)
	f, err := os.Create(filepath.Join(a.dir, name))
	if err != nil {
		return nil, err
	}
	err = verify(ctx, a.from, one, f)
	if e := f.Close(); err == nil {
		err = e
	}
	var b *block
	if err == nil {
		b, _, err = openBlock(folder(a.dir), name, &a.cache)
	}
	if err != nil {
		os.Remove(filepath.Join(a.dir, name))
		if ctx.Err() != nil || !errors.Is(err, errDamaged) && !errors.Is(err, errCut) && !errors.Is(err, blob.ErrNotFound) {
			return nil, err
		}
		a.damage = append(a.damage, fmt.Sprintf("%v: its profiles are left out", err))
		a.list = slices.DeleteFunc(a.list, func(o archived) bool { return o.Name == one.Name })
		return nil, nil
	}
	a.open[one.Name] = b
	return b, nil
}

// evict removes blocks that were not needed last, where there are many.
func (a *Archived) evict(needed span) {
	sum := int64(0)
	for _, b := range a.open {
		sum += b.size
	}
	for name, b := range a.open {
		if sum > a.keep && !needed.touches(b.first, b.last) {
			sum -= b.size
			a.remove(name, b)
		}
	}
}

func (a *Archived) remove(name string, b *block) error {
	a.cache.forget(b)
	b.release()
	delete(a.open, name)
	err := os.Remove(filepath.Join(a.dir, b.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close removes what was brought here.
func (a *Archived) Close() (err error) {
	for name, b := range a.open {
		err = errors.Join(err, a.remove(name, b))
	}
	return err
}
