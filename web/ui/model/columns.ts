/**
 * What each pixel of a lane shows: the buckets and spans that lie in it, added
 * up by how much of them does. Times are ns since the origin of the tiles.
 */
import type { Piece } from "./tilecache.ts";
import { count, float, Form, latencyRows, tileBuckets, tileShift, value, type Packed, type Spans } from "./tiles.ts";

/** classes is how many states a lane may have; rest is the last one. */
export const classes = 8, rest = 7;

/** Columns is a row of pixels. They are used again for the next lane. */
export class Columns {
  /** time has for each class the share of the pixel that it takes, or the mean count of a group. */
  readonly time: Float32Array[];
  /** present has a bit for each class that occurs, however short. */
  readonly present: Uint8Array;
  /** known is how much of the pixel something is known of. */
  readonly known: Float32Array;
  /** edge marks pixels in which a span begins that is wide enough to be told from its neighbour. */
  readonly edge: Uint8Array;
  /** long has the longest span that begins here, four times the logarithm of its ns, longClass its class. */
  readonly long: Uint8Array;
  readonly longClass: Uint8Array;
  /** starts is how many spans begin here. */
  readonly starts: Float32Array;
  /** low, high and mean are of a counter; mean is a sum of shares, divided by known. */
  readonly low: Float32Array;
  readonly high: Float32Array;
  readonly mean: Float32Array;
  /** heat has latencyRows rows of so many pixels: how many. */
  heat: Float32Array = new Float32Array(0);

  constructor(readonly width: number) {
    this.time = Array.from({ length: classes }, () => new Float32Array(width));
    this.present = new Uint8Array(width);
    this.known = new Float32Array(width);
    this.edge = new Uint8Array(width);
    this.long = new Uint8Array(width);
    this.longClass = new Uint8Array(width);
    this.starts = new Float32Array(width);
    this.low = new Float32Array(width);
    this.high = new Float32Array(width);
    this.mean = new Float32Array(width);
  }

  clear(): void {
    for (const t of this.time) t.fill(0);
    for (const a of [this.present, this.known, this.edge, this.long, this.longClass, this.starts, this.mean, this.heat]) a.fill(0);
    this.low.fill(Infinity);
    this.high.fill(-Infinity);
  }
}

/** Window is what the columns show: from is the left edge in ns since the origin. */
export interface Window {
  readonly from: number;
  readonly perPx: number;
  readonly width: number;
}

/**
 * Grid says which buckets lie in which pixels. Lanes whose tiles have the same
 * level and index share it.
 */
interface Grid {
  readonly x0: number;
  readonly x1: number;
  /** first and last are the buckets of pixel x0 + i; head and tail how much of the pixel these two take. */
  readonly first: Int32Array;
  readonly last: Int32Array;
  readonly head: Float32Array;
  readonly tail: Float32Array;
  /** each is how much of a pixel a whole bucket takes. */
  readonly each: number;
}

/** Grids keeps the grids of one frame. */
export class Grids {
  private readonly made = new Map<string, Grid>();

  constructor(readonly window: Window) {}

  of(p: Piece): Grid {
    const key = p.tile.level + "/" + p.tile.index + "/" + p.from + "/" + p.to;
    let g = this.made.get(key);
    if (!g) this.made.set(key, g = grid(p, this.window));
    return g;
  }
}

function grid(p: Piece, w: Window): Grid {
  const bucket = 2 ** p.tile.level, begin = p.tile.index * 2 ** (p.tile.level + tileShift);
  const a = (p.from - w.from) / w.perPx, b = (p.to - w.from) / w.perPx, each = bucket / w.perPx;
  const origin = (begin - w.from) / w.perPx; // of bucket 0, in pixels
  const x0 = Math.max(0, Math.floor(a)), x1 = Math.min(w.width, Math.ceil(b)), n = Math.max(0, x1 - x0);
  const first = new Int32Array(n), last = new Int32Array(n), head = new Float32Array(n), tail = new Float32Array(n);
  for (let i = 0; i < n; i++) {
    const from = Math.max(x0 + i, a), to = Math.min(x0 + i + 1, b);
    const f = Math.min(tileBuckets - 1, Math.max(0, Math.floor((from - origin) / each)));
    const l = Math.max(f, Math.min(tileBuckets - 1, Math.ceil((to - origin) / each) - 1));
    first[i] = f;
    last[i] = l;
    if (f === l) {
      head[i] = Math.max(0, to - from);
    } else {
      head[i] = Math.max(0, origin + (f + 1) * each - from);
      tail[i] = Math.max(0, to - (origin + l * each));
    }
  }
  return { x0, x1, first, last, head, tail, each };
}

/** addPieces adds up what a lane shows. */
export function addPieces(c: Columns, pieces: readonly Piece[], grids: Grids): void {
  for (const p of pieces) {
    const { tile } = p;
    switch (tile.form) {
      case Form.spans:
        if (tile.spans) addSpans(c, tile.spans, p, grids.window);
        break;
      case Form.buckets:
        if (tile.packed) addBuckets(c, tile.packed, grids.of(p));
        break;
      case Form.counts:
        if (tile.packed) addCounts(c, tile.packed, grids.of(p));
        break;
      case Form.values:
        if (tile.packed) addValues(c, tile.packed, grids.of(p));
        break;
      case Form.latencies:
        if (tile.packed) addLatencies(c, tile.packed, grids.of(p));
    }
    if (tile.form !== Form.values) addKnown(c, p, grids.window);
  }
}

/** addKnown tells of which pixels something is known. */
function addKnown(c: Columns, p: Piece, w: Window): void {
  const a = (p.from - w.from) / w.perPx, b = (p.to - w.from) / w.perPx;
  for (let x = Math.max(0, Math.floor(a)); x < Math.min(w.width, Math.ceil(b)); x++) c.known[x]! += Math.min(x + 1, b) - Math.max(x, a);
}

/** addPlane adds one plane of bytes, each times a factor. */
function addPlane(out: Float32Array, plane: Uint8Array, p: Packed, g: Grid, factor: number): void {
  const uniform = plane.length === 1, low = p.first, high = p.first + p.n, each = g.each;
  if (uniform && plane[0] === 0) return;
  const same = uniform ? plane[0]! : 0;
  for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
    const f = g.first[i]!, l = g.last[i]!;
    let sum = 0;
    if (f >= low && f < high) sum += (uniform ? same : plane[f - low]!) * g.head[i]!;
    if (l > f) {
      for (let b = f + 1; b < l; b++) {
        if (b >= low && b < high) sum += (uniform ? same : plane[b - low]!) * each;
      }
      if (l >= low && l < high) sum += (uniform ? same : plane[l - low]!) * g.tail[i]!;
    }
    out[x]! += sum * factor;
  }
}

function addBuckets(c: Columns, p: Packed, g: Grid): void {
  for (let k = 0; k < rest; k++) addPlane(c.time[k]!, p.planes[k]!, p, g, 1 / 255);
  const present = p.planes[7]!, one = present.length === 1 ? present[0]! : -1;
  const low = p.first, high = p.first + p.n;
  const long = p.planes[10]!, oneLong = long.length === 1 ? long[0]! : -1;
  for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
    const from = Math.max(low, g.first[i]!), to = Math.min(high - 1, g.last[i]!);
    let bits = 0;
    for (let b = from; b <= to; b++) {
      bits |= one >= 0 ? one : present[b - low]!;
      const n = oneLong >= 0 ? oneLong : long[b - low]!;
      if (n > c.long[x]!) {
        c.long[x] = n;
        c.longClass[x] = value(p, 11, b - low);
      }
    }
    c.present[x]! |= bits;
  }
}

/** addStarts adds how many spans begin; only who asks for one place wants to know. */
export function addStarts(c: Columns, pieces: readonly Piece[], grids: Grids): void {
  for (const piece of pieces) {
    const p = piece.tile.packed;
    if (piece.tile.form !== Form.buckets || !p) continue;
    const g = grids.of(piece);
    for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
      for (let b = Math.max(p.first, g.first[i]!); b <= Math.min(p.first + p.n - 1, g.last[i]!); b++) {
        c.starts[x]! += count(value(p, 8, b - p.first), value(p, 9, b - p.first));
      }
    }
  }
}

function addSpans(c: Columns, s: Spans, p: Piece, w: Window): void {
  const n = s.classes.length;
  for (let i = 0; i < n; i++) {
    const from = Math.max(s.starts[i]!, p.from), to = Math.min(s.starts[i + 1]!, p.to);
    if (to < from || from >= p.to) continue;
    const a = (from - w.from) / w.perPx, b = (to - w.from) / w.perPx;
    if (b < 0 || a >= w.width) continue;
    const k = s.classes[i]!, time = c.time[k]!, bit = 1 << k;
    const x0 = Math.max(0, Math.floor(a)), x1 = Math.min(w.width - 1, Math.floor(b));
    if (x0 === x1) {
      time[x0]! += Math.min(b, w.width) - Math.max(a, 0);
      c.present[x0]! |= bit;
    } else {
      time[x0]! += x0 + 1 - Math.max(a, 0);
      for (let x = x0 + 1; x < x1; x++) time[x] = 1;
      if (x1 < w.width) time[x1]! += Math.min(b, x1 + 1) - x1;
      for (let x = x0; x < x1; x++) c.present[x]! |= bit;
      if (b > x1) c.present[x1]! |= bit;
    }
    if (s.starts[i]! >= p.from && a >= 0) {
      const at = Math.floor(a);
      c.starts[at]!++;
      const length = s.starts[i + 1]! - s.starts[i]!, log = Math.min(255, Math.floor(4 * Math.log2(length + 1)));
      if (log >= c.long[at]!) {
        c.long[at] = log;
        c.longClass[at] = k;
      }
      if (b - a >= 3) c.edge[at] = 1;
    }
  }
}

function addCounts(c: Columns, p: Packed, g: Grid): void {
  for (let k = 0; k < classes; k++) {
    const low = p.planes[2 * k]!, high = p.planes[2 * k + 1]!;
    if (low.length === 1 && high.length === 1 && low[0] === 0 && high[0] === 0) continue;
    const out = c.time[k]!, bit = 1 << k;
    for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
      const f = g.first[i]!, l = g.last[i]!;
      for (let b = Math.max(f, p.first); b <= Math.min(l, p.first + p.n - 1); b++) {
        const j = b - p.first, n = count(low.length === 1 ? low[0]! : low[j]!, high.length === 1 ? high[0]! : high[j]!);
        if (n > 0) c.present[x]! |= bit;
        out[x]! += n * (b === f ? g.head[i]! : b === l ? g.tail[i]! : g.each);
      }
    }
  }
}

function addValues(c: Columns, p: Packed, g: Grid): void {
  // A counter is one lane among many, and has few pixels: floats are read one by one.
  for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
    const f = g.first[i]!, l = g.last[i]!;
    for (let b = Math.max(f, p.first); b <= Math.min(l, p.first + p.n - 1); b++) {
      const j = b - p.first, share = b === f ? g.head[i]! : b === l ? g.tail[i]! : g.each;
      const low = float(p, 0, j), high = float(p, 4, j);
      if (!(low <= high)) continue;
      c.low[x] = Math.min(c.low[x]!, low);
      c.high[x] = Math.max(c.high[x]!, high);
      c.mean[x]! += float(p, 8, j) * share;
      c.known[x]! += share;
    }
  }
}

function addLatencies(c: Columns, p: Packed, g: Grid): void {
  if (c.heat.length !== latencyRows * c.width) c.heat = new Float32Array(latencyRows * c.width);
  for (let r = 0; r < latencyRows; r++) {
    const plane = p.planes[r]!;
    if (plane.length === 1 && plane[0] === 0) continue;
    const out = c.heat.subarray(r * c.width, (r + 1) * c.width);
    for (let i = 0, x = g.x0; x < g.x1; i++, x++) {
      const f = g.first[i]!, l = g.last[i]!;
      for (let b = Math.max(f, p.first); b <= Math.min(l, p.first + p.n - 1); b++) {
        const v = plane.length === 1 ? plane[0]! : plane[b - p.first]!;
        if (v === 0) continue;
        // Of a bucket that is wider than the pixel, only a part is in it.
        const share = (b === f ? g.head[i]! : b === l ? g.tail[i]! : g.each) / g.each;
        out[x]! += (2 ** (v / 8) - 1) * share;
      }
    }
  }
}
