package account

import "loupe/value/timeline"

// What a goroutine did lately is kept as pieces; what is older, added up in blocks.
const (
	maxPieces  = 128
	packed     = 96 // pieces that become a block
	maxBlocks  = 8
	blockRows  = 24
	manyBlocks = 40_000 // in the whole program: beyond, a goroutine has one block
)

// piece is a stretch that ends where the next one begins.
type piece struct {
	end timeline.Time
	key keyID
}

// amount is how long something went on.
type amount struct {
	key keyID
	d   timeline.Time
}

// block is many pieces, in no order.
type block struct {
	end  timeline.Time
	rows []amount
}

// history is what one goroutine did since an instant, without gaps.
type history struct {
	begin  timeline.Time
	blocks []block
	pieces []piece
}

func (h *history) reset(at timeline.Time) {
	h.begin, h.blocks, h.pieces = at, h.blocks[:0], h.pieces[:0]
}

// end is up to when it is known.
func (h *history) end() timeline.Time {
	if n := len(h.pieces); n > 0 {
		return h.pieces[n-1].end
	}
	if n := len(h.blocks); n > 0 {
		return h.blocks[n-1].end
	}
	return h.begin
}

// push adds a stretch that begins where the last one ended. It returns how many blocks
// more there are.
func (h *history) push(w *words, end timeline.Time, k keyID, blocks int) (more int) {
	if n := len(h.pieces); n > 0 && h.pieces[n-1].key == k {
		h.pieces[n-1].end = end
		return 0
	} else if n >= maxPieces {
		more = h.pack(w, blocks)
	}
	h.pieces = append(h.pieces, piece{end, k})
	return more
}

// pack makes a block of the oldest pieces, and of two blocks one when there are too
// many: those that are shortest together.
func (h *history) pack(w *words, blocks int) int {
	at := h.begin
	if n := len(h.blocks); n > 0 {
		at = h.blocks[n-1].end
	}
	var rows []amount
	before := len(h.blocks)
	if before < cap(h.blocks) { // of a goroutine that was here before
		rows = h.blocks[:before+1][before].rows[:0]
	}
	w.rows.clear()
	for _, p := range h.pieces[:packed] {
		rows = w.rows.add(w, rows, p.key, p.end-at)
		at = p.end
	}
	h.pieces = h.pieces[:copy(h.pieces, h.pieces[packed:])]
	h.blocks = append(h.blocks, block{at, rows})
	limit := maxBlocks
	if blocks > manyBlocks {
		limit = 1
	}
	for len(h.blocks) > limit {
		h.join(w)
	}
	return len(h.blocks) - before
}

// join makes one of the two neighbours that are shortest together.
func (h *history) join(w *words) {
	best, least := 0, timeline.Time(1<<63-1)
	from := h.begin
	for i := range len(h.blocks) - 1 {
		if d := h.blocks[i+1].end - from; d < least {
			best, least = i, d
		}
		from = h.blocks[i].end
	}
	a, b := &h.blocks[best], &h.blocks[best+1]
	w.rows.clear()
	for i, r := range a.rows {
		w.rows.set(r.key, i)
	}
	for _, r := range b.rows {
		a.rows = w.rows.add(w, a.rows, r.key, r.d)
	}
	a.end = b.end
	spare := b.rows
	copy(h.blocks[best+1:], h.blocks[best+2:])
	h.blocks = h.blocks[:len(h.blocks)-1]
	h.blocks[:len(h.blocks)+1][len(h.blocks)].rows = spare[:0]
}

// rowIndex finds the row of a key in the block that is worked on.
type rowIndex struct {
	at   []uint64 // by key: the turn, and the row
	turn uint64
}

func (x *rowIndex) clear() { x.turn += 1 << 32 }

func (x *rowIndex) set(k keyID, row int) {
	if int(k) >= len(x.at) {
		x.at = grown(x.at, int(k))
	}
	x.at[k] = x.turn | uint64(row)
}

// add adds to the rows of a block; what finds no room is kept by its kind alone.
func (x *rowIndex) add(w *words, rows []amount, k keyID, d timeline.Time) []amount {
	if int(k) < len(x.at) {
		if at := x.at[k]; at >= x.turn {
			rows[at-x.turn].d += d
			return rows
		}
	}
	if len(rows) >= blockRows && w.keys[k].site != 0 {
		return x.add(w, rows, w.id(key{kind: w.keys[k].kind}), d)
	}
	x.set(k, len(rows))
	return append(rows, amount{k, d})
}

// within appends what went on from..to, the latest first, and returns from when on it
// is known: to where nothing is.
func (h *history) within(from, to timeline.Time, dst []amount) ([]amount, timeline.Time) {
	if from >= to || h.begin >= to {
		return dst, to
	}
	known := min(to, h.end())
	for i := len(h.pieces) - 1; i >= 0 && known > from; i-- {
		start := h.pieceStart(i)
		if start >= known {
			continue
		}
		d := known - max(start, from)
		known -= d
		dst = append(dst, amount{h.pieces[i].key, d})
	}
	for i := len(h.blocks) - 1; i >= 0 && known > from; i-- {
		start := h.begin
		if i > 0 {
			start = h.blocks[i-1].end
		}
		if start >= known {
			continue
		}
		d := known - max(start, from)
		known -= d
		dst = h.blocks[i].share(d, h.blocks[i].end-start, dst)
	}
	return dst, known
}

func (h *history) pieceStart(i int) timeline.Time {
	if i > 0 {
		return h.pieces[i-1].end
	}
	if n := len(h.blocks); n > 0 {
		return h.blocks[n-1].end
	}
	return h.begin
}

// share appends the part d of a block that is whole long; what rounding leaves goes to
// the largest row.
func (b *block) share(d, whole timeline.Time, dst []amount) []amount {
	left, most, at := d, -1, len(dst)
	for _, r := range b.rows {
		part := timeline.Time(float64(r.d) / float64(whole) * float64(d))
		part = min(part, left)
		left -= part
		dst = append(dst, amount{r.key, part})
		if most < 0 || part > dst[most].d {
			most = len(dst) - 1
		}
	}
	if left > 0 && most >= at {
		dst[most].d += left
	}
	return dst
}
