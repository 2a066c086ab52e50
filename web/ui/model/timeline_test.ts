import { equal, test, truth } from "../base/testing.ts";
import { addPieces, Columns, Grids } from "./columns.ts";
import { classesOf } from "./lanes.ts";
import { Rows } from "./stack.ts";
import { TileCache, type LaneKey } from "./tilecache.ts";
import { count, readSpans, readTiles, tileBuckets, unpack, type Tile } from "./tiles.ts";
import { clamp, fit, pan, seen, toTime, toX, zoom } from "./viewport.ts";

const near = (got: number, want: number, error: number, of: string): void => truth(Math.abs(got - want) <= error, `${of}: ${got} is about ${want}`);

/** varint appends a number as Go's encoding/binary does. */
function varint(out: number[], v: number): void {
  while (v >= 128) {
    out.push(v % 128 + 128);
    v = Math.floor(v / 128);
  }
  out.push(v);
}

/** spansTile is the data of a tile of spans, from an instant in grains on. */
function spansTile(start: number, spans: [length: number, k: number][]): Uint8Array {
  const out: number[] = [];
  const head = new DataView(new ArrayBuffer(12));
  head.setBigInt64(0, BigInt(start), true);
  head.setUint32(8, spans.length, true);
  for (const [length, k] of spans) varint(out, length * 8 + k);
  return new Uint8Array([...new Uint8Array(head.buffer), ...out]);
}

/** packed is a tile of buckets: planes are whole where they have more than one byte. */
function packed(first: number, n: number, planes: number[][]): Uint8Array {
  let whole = 0;
  planes.forEach((p, i) => (whole |= p.length > 1 ? 1 << i : 0));
  return new Uint8Array([first & 255, first >> 8, n & 255, n >> 8, whole & 255, whole >> 8 & 255, whole >> 16 & 255, whole >>> 24, ...planes.flat()]);
}

/** wire is an answer of tiles. */
function wire(...tiles: { lane: number; level: number; index: number; form: number; data: Uint8Array }[]): ArrayBuffer {
  const size = tiles.reduce((n, t) => n + 16 + t.data.length, 4), out = new Uint8Array(size), view = new DataView(out.buffer);
  view.setUint32(0, tiles.length, true);
  let at = 4;
  for (const t of tiles) {
    view.setUint32(at, t.lane, true);
    view.setUint32(at + 4, t.index, true);
    out[at + 8] = t.level;
    out[at + 9] = t.form;
    view.setUint32(at + 12, t.data.length, true);
    out.set(t.data, at + 16);
    at += 16 + t.data.length;
  }
  return out.buffer;
}

test("a viewport maps instants and pixels without loss, far from zero too", () => {
  const v = fit({ start: 3_600_000_000_123, end: 3_600_000_001_123 }, 1000);
  equal(v.perPx, 1);
  for (const x of [0, 1, 500.5, 999]) near(toX(v, toTime(v, x)), x, 1e-3, "pixel");
  const z = zoom(v, 0.5, 250);
  near(toTime(z, 250), toTime(v, 250), 1e-3, "what is under the cursor stays");
  equal(seen(pan(v, 10)).start, 3_600_000_000_133);
});

test("a viewport stays where there is something", () => {
  const all = { start: 1000, end: 2_001_000 };
  const far = clamp(pan(fit(all, 1000), 1e9), all);
  truth(seen(far).start < all.end, "the end is in sight");
  equal(clamp(fit(all, 1000), all), fit(all, 1000));
  truth(clamp(zoom(fit(all, 1000), 100, 5), all).perPx * 1000 <= 2_000_000 * 1.1 + 1, "not wider than all and a tenth");
  truth(clamp(zoom(fit(all, 1000), 1e-9, 5), all).perPx >= 0.5, "not finer than the clock");
});

test("spans are read with long ones among them", () => {
  const s = readSpans(spansTile(5, [[10, 0], [2 ** 40, 5], [0, 3]]))!;
  equal([...s.starts], [5 * 64, 15 * 64, (15 + 2 ** 40) * 64, (15 + 2 ** 40) * 64]);
  equal([...s.classes], [0, 5, 3]);
  equal(readSpans(new Uint8Array(5)), null);
  equal(readSpans(spansTile(0, [[1, 1], [2, 2]]).subarray(0, 13)), null);
});

test("packed tiles are read without copying, and damaged ones are none", () => {
  const data = packed(3, 2, [[1, 2], [7], ...Array.from({ length: 10 }, () => [0])]);
  const p = unpack(data, 12)!;
  equal([p.first, p.n, [...p.planes[0]!], [...p.planes[1]!]], [3, 2, [1, 2], [7]]);
  truth(p.planes[0]!.buffer === data.buffer, "a view of the bytes");
  equal(unpack(data.subarray(0, 12), 12), null);
  equal(unpack(packed(1023, 2, [[1, 2]]), 1), null);
  equal(Math.round(count(0, 4)), 15);
});

test("an answer of tiles is read, a cut one as far as it goes", () => {
  const a = wire({ lane: 7, level: 12, index: 3, form: 2, data: spansTile(0, [[4, 1]]) }, { lane: 8, level: 13, index: 0, form: 0, data: new Uint8Array(0) });
  equal(readTiles(a).map((t) => [t.lane, t.level, t.index, t.form]), [[7, 12, 3, 2], [8, 13, 0, 0]]);
  equal(readTiles(a.slice(0, a.byteLength - 3)).length, 1);
  equal(readTiles(new ArrayBuffer(2)).length, 0);
});

const tileOf = (data: Uint8Array, form: number, level: number, index = 0): Tile => readTiles(wire({ lane: 0, level, index, form, data }))[0]!;

test("columns hold all of the time of spans and buckets, at any zoom", () => {
  // 100 spans of 640 ns in turns of three classes, and the same as buckets of 64 ns.
  const spans: [number, number][] = Array.from({ length: 100 }, (_, i) => [10, i % 3]);
  const planes = Array.from({ length: 12 }, () => [0]);
  for (let k = 0; k < 3; k++) planes[k] = Array.from({ length: 1000 }, (_, b) => (Math.floor(b / 10) % 3 === k ? 255 : 0));
  planes[7] = Array.from({ length: 1000 }, (_, b) => 1 << Math.floor(b / 10) % 3);
  for (const tile of [tileOf(spansTile(0, spans), 2, 6), tileOf(packed(0, 1000, planes), 1, 6)]) {
    for (const perPx of [7, 64, 91.3, 640, 1777, 100_000]) {
      for (const from of [0, -3000, 12_345]) {
        const w = { from, perPx, width: 1000 }, c = new Columns(1000), to = Math.min(64_000, from + 1000 * perPx);
        c.clear();
        addPieces(c, [{ tile, from: Math.max(0, from), to }], new Grids(w));
        const sum = c.time.reduce((a, t) => a + t.reduce((x, y) => x + y, 0), 0) * perPx;
        near(sum, to - Math.max(0, from), 0.005 * 64_000, `form ${tile.form}, ${perPx} ns a pixel from ${from}`);
        let bits = 0;
        for (const b of c.present) bits |= b;
        if (perPx > 2) truth((bits & 7) === 7, "every class is present");
        truth(c.time.every((t) => t.every((v) => v >= 0 && v < 1.001)), "no pixel is more than full");
      }
    }
  }
});

test("a rare state is present in the pixel that it lies in, even one of no length", () => {
  const tile = tileOf(spansTile(0, [[5000, 0], [0, 2], [5000, 0]]), 2, 16), c = new Columns(100);
  c.clear();
  addPieces(c, [{ tile, from: 0, to: 640_000 }], new Grids({ from: 0, perPx: 6400, width: 100 }));
  equal([...c.present].flatMap((b, x) => (b & 4 ? [x] : [])), [50]);
});

test("rows are found among a million", () => {
  const r = new Rows([{ key: "a", count: 1, height: 24, of: 0 }, { key: "none", count: 0, height: 30, of: 1 }, { key: "many", count: 1_000_000, height: 18, of: 2 }, { key: "b", count: 2, height: 30, of: 3 }]);
  equal(r.height, 24 + 18_000_000 + 60);
  equal(r.within(0, 60).map((p) => [p.block.key, p.index, p.y]), [["a", 0, 0], ["many", 0, 24], ["many", 1, 42]]);
  equal(r.at(24 + 18 * 777_777 + 5)?.index, 777_777);
  equal([r.at(-1), r.at(r.height), r.nth(-1), r.nth(r.count)], [null, null, null, null]);
  equal(r.place("b", 1)?.y, 24 + 18_000_000 + 30);
  equal(r.nth(1_000_001)?.block.key, "b");
});

const lane: LaneKey = { key: "p0", id: 4, version: 0, base: 14, exact: true };
const turn = (): Promise<void> => new Promise((done) => setTimeout(done, 0));

test("the cache asks once for what is missing, shows the best until then, and gives up what is not wanted", async () => {
  const asked: { ids: number[]; signal: AbortSignal; answer: (b: ArrayBuffer) => void }[] = [];
  let news = 0;
  const c = new TileCache((ids, _v, _s, signal) => new Promise((answer) => asked.push({ ids: [...ids], signal, answer })), () => void news++);
  equal(c.pieces(lane, 10, 0, 1 << 20, false), []);
  c.flush();
  equal(asked[0]!.ids, [4, 10, 0]);
  c.pieces(lane, 10, 0, 1 << 20, false);
  c.flush();
  equal(asked.length, 1, "asked again for what is on its way");
  const tile = { lane: 4, level: 10, index: 0, form: 2, data: spansTile(0, [[1 << 14, 0]]) };
  asked[0]!.answer(wire(tile));
  await turn();
  equal([c.pieces(lane, 10, 0, 1 << 20, false).length, news], [1, 1]);
  c.flush();
  // Finer ones are missing: what is here stands for them.
  const parts = c.pieces(lane, 9, 0, 1 << 20, false);
  equal(parts.map((p) => [p.tile.level, p.from, p.to]), [[10, 0, 1 << 19], [10, 1 << 19, 1 << 20]]);
  c.flush();
  equal(asked[1]!.ids, [4, 9, 0, 4, 9, 1]);
  // Nothing is wanted of it any more.
  c.pieces(lane, 10, 0, 1 << 20, false);
  c.flush();
  truth(asked[1]!.signal.aborted, "it is given up");
});

test("the cache forgets what has not been drawn for the longest", async () => {
  const data = packed(0, tileBuckets, Array.from({ length: 12 }, () => Array.from({ length: tileBuckets }, () => 1)));
  const c = new TileCache((ids) => {
    const tiles = [];
    for (let i = 0; i < ids.length; i += 3) tiles.push({ lane: ids[i]!, level: ids[i + 1]!, index: ids[i + 2]!, form: 1, data });
    return Promise.resolve(wire(...tiles));
  }, () => {}, () => {}, 200_000);
  const width = 2 ** 20;
  for (let i = 0; i < 40; i++) {
    c.pieces(lane, 10, i * width, (i + 1) * width, false);
    c.flush();
    await turn();
  }
  truth(c.size <= 200_000 && c.count >= 10, `${c.count} tiles of ${c.size} bytes`);
  equal(c.pieces(lane, 10, 39 * width, 40 * width, false).length, 1, "the last one is here");
});

test("the cache asks of another version only what has changed", async () => {
  const asked: [number[], number, number][] = [];
  const c = new TileCache((ids, version, since) => {
    asked.push([[...ids], version, since]);
    return Promise.resolve(since ? wire() : wire({ lane: ids[0]!, level: ids[1]!, index: ids[2]!, form: 2, data: spansTile(0, [[9, 0]]) }));
  }, () => {});
  c.renew(3, false);
  c.pieces({ ...lane, version: 3 }, 10, 0, 1 << 20, false);
  c.flush();
  await turn();
  c.renew(5, true);
  c.pieces({ ...lane, version: 3 }, 10, 0, 1 << 20, false);
  c.flush();
  equal(asked.length, 1, "a lane with an old number asks nothing");
  equal(c.pieces({ ...lane, id: 9, version: 5 }, 10, 0, 1 << 20, false).length, 1, "what is here is shown");
  c.flush();
  await turn();
  equal(asked, [[[4, 10, 0], 3, 0], [[9, 10, 0], 5, 3]]);
  c.pieces({ ...lane, id: 9, version: 5 }, 10, 0, 1 << 20, false);
  c.flush();
  equal(asked.length, 2, "it is what it was");
});

test("a colour has one meaning on the lanes of a trace", () => {
  const meant = new Map<string, string>();
  const same: Record<string, string> = { "has a P": "runs", mark: "GC work", "sleeps or other": "idle", parked: "idle", off: "idle", scheduler: "idle" };
  for (const kind of ["proc", "thread", "gc", "goroutine"] as const) {
    for (const c of classesOf[kind]) {
      const colour = c.colour + " " + c.texture, means = same[c.name] ?? c.name;
      if (c.share === 0 || c.name === "scheduler") continue;
      equal(meant.get(colour) ?? means, means);
      meant.set(colour, means);
    }
  }
  equal([...meant].filter(([c]) => c.startsWith("assist ")).map(([, m]) => m).join(), "mark assist");
});
