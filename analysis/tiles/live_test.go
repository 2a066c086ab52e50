package tiles_test

import (
	"bytes"
	"testing"

	"loupe/analysis/tiles"
	"loupe/format/exectrace"
)

// viewer keeps tiles as a browser does, by what their lanes show.
type viewer struct {
	tiles      map[shown]kept
	asked, got int
}

// kept is a tile and the version of the set that it is of.
type kept struct {
	tiles.Tile
	version int
}

type shown struct {
	kind    tiles.Kind
	subject int64
	name    string
	level   uint8
	index   uint32
}

// ids are the tiles of a lane on a few levels: of the finer ones those around
// the end, where most happens, and some in between.
func ids(s *tiles.Set, l tiles.Lane) (out []tiles.TileID) {
	for level := s.Top(); level >= tiles.MinLevel; level -= 3 {
		last := uint64(s.Span().Len()-1) >> level >> 10
		for i := range min(last+1, 4) {
			out = append(out, tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(last - i)})
		}
		for i := range min(last+1, 4) {
			out = append(out, tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(last / 5 * i)})
		}
	}
	return out
}

// update asks a snapshot for what has changed, and says what the viewer would
// show wrongly then.
func (v *viewer) update(t *testing.T, s *tiles.Set) {
	t.Helper()
	lanes, _ := s.Lanes(tiles.Filter{}, 0, 1<<30)
	for i, l := range lanes {
		if l.Kind == tiles.KindGoroutine && i%50 != 0 && l.Base < 0 {
			continue // there are thousands
		}
		if id, ok := s.Find(l.Kind, l.Subject, l.Name); !ok || id != l.ID {
			t.Fatalf("%+v: found lane %d, %t", l, id, ok)
		}
		key := func(id tiles.TileID) shown { return shown{l.Kind, l.Subject, l.Name, id.Level, id.Index} }
		var old, fresh []tiles.TileID
		for _, id := range ids(s, l) {
			if _, ok := v.tiles[key(id)]; ok {
				old = append(old, id)
			} else {
				fresh = append(fresh, id)
			}
		}
		for _, id := range old {
			since := v.tiles[key(id)].version
			changed, err := tiles.ReadTiles(s.AppendChanged(nil, since, []tiles.TileID{id}))
			if err != nil {
				t.Fatal(err)
			}
			if (len(changed) != 0) != (s.TileVersion(id) > since) {
				t.Fatalf("tile %+v of version %d, asked for since %d, comes %d times", id, s.TileVersion(id), since, len(changed))
			}
			v.asked++
			v.got += len(changed)
			for _, tile := range changed {
				v.tiles[key(id)] = kept{tile, s.Version()}
			}
		}
		for _, id := range fresh {
			v.tiles[key(id)] = kept{s.Tile(id), s.Version()}
		}
		for _, id := range append(fresh, old...) {
			got, want := v.tiles[key(id)], s.Tile(id)
			if got.Form != want.Form || got.Level != want.Level || got.Index != want.Index || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("snapshot %d, %s %d %q: tile %+v of version %d is not what it was:\n%+v\n%+v", s.Version(), l.Kind, l.Subject, l.Name, id, got.version, got.Tile, want)
			}
		}
	}
}

// snapshots are sets with the files that they were when they were taken.
type snapshots struct {
	sets  []*tiles.Set
	files [][]byte
}

func (s *snapshots) take(b *tiles.Builder) *tiles.Set {
	set := b.Snapshot()
	s.sets, s.files = append(s.sets, set), append(s.files, set.AppendTo(nil))
	return set
}

// check says which of them have become something else, or are not what their
// file says.
func (s *snapshots) check(t *testing.T) {
	t.Helper()
	for i, set := range s.sets {
		if !bytes.Equal(set.AppendTo(nil), s.files[i]) {
			t.Fatalf("snapshot %d has changed since", i+1)
		}
		file, err := tiles.Open(s.files[i])
		if err != nil {
			t.Fatal(err)
		}
		if file.Size() != len(s.files[i]) || file.Len() != set.Len() {
			t.Fatalf("snapshot %d: %d lanes and %d bytes, its file %d and %d", i+1, set.Len(), len(s.files[i]), file.Len(), file.Size())
		}
		lanes, _ := set.Lanes(tiles.Filter{}, 0, 300)
		for _, l := range lanes {
			if file.Lane(l.ID) != l {
				t.Fatalf("snapshot %d: lane %+v is %+v in its file", i+1, l, file.Lane(l.ID))
			}
			for _, id := range ids(set, l) {
				if got, want := set.Tile(id), file.Tile(id); got.Form != want.Form || !bytes.Equal(got.Data, want.Data) {
					t.Fatalf("snapshot %d: tile %+v is another one in its file", i+1, id)
				}
			}
		}
	}
}

// TestLive grows a trace in pieces. A viewer that asks each snapshot for what
// has changed must show what the snapshot has, and the tiles at the end must
// be those of a set that was made at once.
func TestLive(t *testing.T) {
	data := record()
	for name, opts := range map[string]tiles.Options{"all": {}, "bound": {Memory: 1}} {
		at, step := int64(1<<16), int64(len(data)/7+1)
		tr, err := exectrace.OpenReaderAt(bytes.NewReader(data), at, exectrace.Options{Live: true})
		if err != nil {
			t.Fatal(err)
		}
		r := tr.Reader()
		b := tiles.NewBuilder(r, opts)
		v := &viewer{tiles: map[shown]kept{}}
		var shots snapshots
		for at < int64(len(data)) {
			at = min(at+step, int64(len(data)))
			extend := tr.Extend
			if at == int64(len(data)) {
				extend = tr.Finish
			}
			if err := extend(at); err != nil {
				t.Fatal(err)
			}
			// A snapshot may be taken anywhere, not only between generations.
			for n := 1; r.Next(); n++ {
				if b.Event(r.Event()); n%60_000 == 0 {
					v.update(t, shots.take(b))
				}
			}
			s := shots.take(b)
			v.update(t, s)
			if got := b.Snapshot(); s.Version() > 0 && got.Version() != s.Version()+1 || !bytes.Equal(got.AppendTo(nil), s.AppendTo(nil)) {
				t.Fatalf("%s: snapshot %d is not the one before, though nothing has happened", name, got.Version())
			}
		}
		s := b.Finish()
		v.update(t, s)
		shots.check(t)
		t.Logf("%s: %d snapshots, %d of %d tiles sent again", name, s.Version(), v.got, v.asked)
		if opts.Memory == 0 { // else lanes lose their spans on the way
			if v.got*2 > v.asked {
				t.Errorf("%d of %d tiles were sent again, want less than half", v.got, v.asked)
			}
			sameTiles(t, s, data)
		}
	}
}

// sameTiles compares the tiles with those of a set that is made at once. The
// pyramids may begin at other levels.
func sameTiles(t *testing.T, s *tiles.Set, data []byte) {
	t.Helper()
	whole, _ := build(open(t, data), tiles.Options{})
	if s.Len() != whole.Len() || s.Span() != whole.Span() || s.Top() != whole.Top() {
		t.Fatalf("%d lanes in %v, want %d in %v", s.Len(), s.Span(), whole.Len(), whole.Span())
	}
	lanes, _ := whole.Lanes(tiles.Filter{}, 0, 1<<30)
	for _, want := range lanes {
		got := s.Lane(want.ID)
		if got.Base = want.Base; got != want {
			t.Fatalf("lane %+v, want %+v", got, want)
		}
		for _, id := range ids(whole, want) {
			if got, want := s.Tile(id), whole.Tile(id); got.Form != want.Form || !bytes.Equal(got.Data, want.Data) {
				t.Fatalf("tile %+v of %+v differs from that of a set made at once", id, got)
			}
		}
	}
}
