/**
 * The tiles that are here, up to a bound, and those that are awaited.
 *
 * Who draws says for a lane and a level what is wanted; it gets the best that is
 * there, and after all lanes of a frame are drawn one question goes out for what
 * is missing. What comes replaces what was drawn instead of it.
 */
import { Form, readTiles, tileShift, type Tile } from "./tiles.ts";

/** Ask asks for tiles: lane, level and index one after the other. */
export type Ask = (ids: Uint32Array, version: number, since: number, signal: AbortSignal) => Promise<ArrayBuffer>;

/** Lane is what the cache has to know of a lane. */
export interface LaneKey {
  /** key stays the same when the lanes are numbered anew. */
  readonly key: string;
  /** id is the lane's number in a version of the set. */
  id: number;
  readonly version: number;
  /** base is the finest level of its pyramid, -1 for none; exact says that there are levels below it. */
  base: number;
  exact: boolean;
}

interface Entry {
  tile: Tile;
  version: number;
  used: number;
}

interface Wanted {
  readonly lane: LaneKey;
  readonly level: number;
  readonly index: number;
  /** urgent ones are seen, the others may be soon. */
  readonly urgent: boolean;
}

/** Piece is a tile with the stretch of it that is to be shown, in ns since the origin. */
export interface Piece {
  readonly tile: Tile;
  readonly from: number;
  readonly to: number;
}

/** nothing stands for a tile that was not answered. */
const nothing: Tile = { lane: 0, level: 0, index: 0, form: Form.none, bytes: 0, packed: null, spans: null };

/** most is how many tiles one question asks for. */
const most = 1024;

export class TileCache {
  private readonly kept = new Map<string, Entry>();
  private wanted = new Map<string, Wanted>();
  private asked = new Map<string, AbortController>();
  private clock = 0;
  private bytes = 0;
  /** version is that of the set which the numbers of lanes are of. */
  version = 0;
  minLevel = 6;
  top = 62;
  /** stamp counts what has come: who has drawn with another stamp may be out of date. */
  stamp = 0;

  constructor(private readonly ask: Ask, private readonly arrived: () => void, private readonly failed: () => void = () => {}, private readonly limit = 64 << 20) {}

  /** size is how many bytes are kept, count how many tiles. */
  get size(): number { return this.bytes; }
  get count(): number { return this.kept.size; }
  /** pending tells whether anything is awaited. */
  get pending(): boolean { return this.asked.size > 0 || this.wanted.size > 0; }

  /** renew goes on with another version of the set, in which tiles may have changed; keep says whether any may be the same. */
  renew(version: number, keep: boolean): void {
    for (const a of new Set(this.asked.values())) a.abort();
    this.asked.clear();
    if (!keep) {
      this.kept.clear();
      this.bytes = 0;
    }
    this.version = version;
    this.stamp++;
  }

  /** level is the one of a lane that is nearest to what is wanted. */
  level(lane: LaneKey, wanted: number): number {
    const least = lane.exact || lane.base < 0 ? this.minLevel : Math.max(this.minLevel, lane.base);
    return Math.min(this.top, Math.max(least, wanted));
  }

  /**
   * pieces returns what there is to show of a lane from one instant to another,
   * in ns since the origin, at a level or the nearest that is there, and wants
   * what is missing. What nothing is known of is left out.
   */
  pieces(lane: LaneKey, level: number, from: number, to: number, ahead = true): Piece[] {
    level = this.level(lane, level);
    const width = 2 ** (level + tileShift), end = 2 ** (this.top + tileShift);
    from = Math.max(0, from);
    to = Math.min(to, end);
    const out: Piece[] = [];
    if (to <= from) return out;
    const first = Math.floor(from / width), last = Math.floor((to - 1e-6) / width);
    for (let i = first; i <= last; i++) {
      const a = Math.max(from, i * width), b = Math.min(to, (i + 1) * width);
      const here = this.have(lane, level, i);
      if (here) {
        out.push({ tile: here, from: a, to: b });
        continue;
      }
      this.want(lane, level, i, true);
      this.instead(lane, level, i, a, b, out);
    }
    if (ahead) {
      // One more on either side, and the levels that a step of zoom asks for.
      if (first > 0) this.want(lane, level, first - 1, false);
      if ((last + 1) * width < end) this.want(lane, level, last + 1, false);
      const middle = (from + to) / 2;
      const up = this.level(lane, level + 1);
      if (up !== level) this.want(lane, up, Math.floor(middle / 2 ** (up + tileShift)), false);
      const down = this.level(lane, level - 1);
      if (down !== level) this.want(lane, down, Math.floor(middle / 2 ** (down + tileShift)), false);
    }
    return out;
  }

  /** instead finds something to show for a tile that is not there: a coarser one, else two finer ones. */
  private instead(lane: LaneKey, level: number, index: number, a: number, b: number, out: Piece[]): void {
    for (let up = level + 1; up <= this.top; up++) {
      const tile = this.have(lane, up, Math.floor(index / 2 ** (up - level)));
      if (tile) {
        out.push({ tile, from: a, to: b });
        return;
      }
    }
    for (let down = level - 1; down >= Math.max(this.level(lane, 0), level - 2); down--) {
      const n = 2 ** (level - down), width = 2 ** (down + tileShift);
      let any = false;
      for (let k = 0; k < n; k++) {
        const tile = this.have(lane, down, index * n + k);
        const from = Math.max(a, (index * n + k) * width), to = Math.min(b, (index * n + k + 1) * width);
        if (tile && to > from) {
          out.push({ tile, from, to });
          any = true;
        }
      }
      if (any) return;
    }
  }

  private have(lane: LaneKey, level: number, index: number): Tile | null {
    const key = lane.key + "/" + level + "/" + index;
    const e = this.kept.get(key);
    if (!e) return null;
    e.used = ++this.clock;
    if (e.version !== this.version) this.enqueue(key, lane, level, index, true);
    return e.tile;
  }

  private want(lane: LaneKey, level: number, index: number, urgent: boolean): void {
    const key = lane.key + "/" + level + "/" + index;
    if (!this.kept.has(key)) this.enqueue(key, lane, level, index, urgent);
  }

  private enqueue(key: string, lane: LaneKey, level: number, index: number, urgent: boolean): void {
    if (lane.version !== this.version) return; // its number now is still to be told
    const w = this.wanted.get(key);
    if (!w || urgent && !w.urgent) this.wanted.set(key, { lane, level, index, urgent });
  }

  /** flush asks for what has been wanted since the last one, and gives up what is awaited and no longer wanted. */
  flush(): void {
    const wanted = this.wanted;
    this.wanted = new Map();
    // A question is given up when nothing of what it asks for is wanted.
    const alive = new Set<AbortController>();
    for (const [key, a] of this.asked) {
      if (wanted.has(key)) alive.add(a);
    }
    for (const a of new Set(this.asked.values())) {
      if (!alive.has(a)) a.abort();
    }
    for (const [key, a] of this.asked) {
      if (!alive.has(a)) this.asked.delete(key);
    }
    for (const urgent of [true, false]) {
      // What is seen goes first and alone, so that it does not wait for the rest.
      if (!urgent && alive.size > 0) return;
      const groups = new Map<number, [string, Wanted][]>();
      for (const [key, w] of wanted) {
        if (w.urgent !== urgent || this.asked.has(key)) continue;
        const since = this.kept.get(key)?.version ?? 0;
        const g = groups.get(since);
        if (g) g.push([key, w]);
        else groups.set(since, [[key, w]]);
      }
      for (const [since, list] of groups) {
        for (let i = 0; i < list.length; i += most) void this.fetch(list.slice(i, i + most), since);
      }
      if (groups.size > 0 && urgent) return;
    }
  }

  private async fetch(list: [string, Wanted][], since: number): Promise<void> {
    const abort = new AbortController(), version = this.version;
    const ids = new Uint32Array(list.length * 3);
    const keys = new Map<string, string>();
    list.forEach(([key, w], i) => {
      ids.set([w.lane.id, w.level, w.index], i * 3);
      keys.set(w.lane.id + "/" + w.level + "/" + w.index, key);
      this.asked.set(key, abort);
    });
    let tiles: Tile[];
    try {
      tiles = readTiles(await this.ask(ids, version, since, abort.signal));
    } catch {
      tiles = [];
      if (!abort.signal.aborted) {
        // The lanes may have been numbered anew. What is still wanted is asked
        // for again when something is drawn, but not at once.
        this.failed();
        await new Promise((later) => setTimeout(later, 1000));
      }
      for (const [key] of list) if (this.asked.get(key) === abort) this.asked.delete(key);
      if (!abort.signal.aborted) this.arrived();
      return;
    }
    if (abort.signal.aborted || version !== this.version) return;
    const now = ++this.clock;
    for (const tile of tiles) {
      const key = keys.get(tile.lane + "/" + tile.level + "/" + tile.index);
      if (!key) continue;
      const before = this.kept.get(key);
      if (before) this.bytes -= before.tile.bytes;
      this.kept.set(key, { tile, version, used: now });
      this.bytes += tile.bytes;
    }
    for (const [key] of list) {
      if (this.asked.get(key) === abort) this.asked.delete(key);
      const e = this.kept.get(key);
      if (e && since > 0) e.version = version; // not among the answers: it is what it was
      else if (!e) this.kept.set(key, { tile: nothing, version, used: now }); // so that it is not asked for again and again
    }
    this.evict();
    this.stamp++;
    this.arrived();
  }

  /** evict forgets what has not been drawn for the longest, down to nine tenths of the limit. */
  private evict(): void {
    if (this.bytes <= this.limit) return;
    const oldest = [...this.kept].sort((a, b) => a[1].used - b[1].used);
    for (const [key, e] of oldest) {
      if (this.bytes <= this.limit * 0.9) break;
      this.kept.delete(key);
      this.bytes -= e.tile.bytes;
    }
  }
}
