/**
 * Tiles as they come from the server, docs/formats/tiles.md. Nothing is
 * copied: planes are views of the bytes that have come.
 */

/** tileBuckets is how many buckets a tile has; tileShift its logarithm. */
export const tileShift = 10, tileBuckets = 1 << tileShift;

/** grain is the resolution of a trace's clock in ns. */
export const grain = 64;

/** Form is what a tile is made of. */
export const Form = { none: 0, buckets: 1, spans: 2, counts: 3, values: 4, latencies: 5 } as const;
export type Form = (typeof Form)[keyof typeof Form];

/** latencyRows is how many rows the heat map of latencies has. */
export const latencyRows = 32;

/** rows is how many planes the packed tiles of a form have. */
const rows: Record<number, number> = { [Form.buckets]: 12, [Form.counts]: 16, [Form.values]: 16, [Form.latencies]: latencyRows };

/** Packed is a tile of buckets. Plane k has the byte k of each bucket, or a single one if it is the same in all. */
export interface Packed {
  readonly first: number;
  readonly n: number;
  readonly planes: readonly Uint8Array[];
}

/** Spans are the spans of a tile, in ns since the origin; the first may begin before it and the last end behind it. */
export interface Spans {
  /** starts has one more entry than there are spans: where the last one ends. */
  readonly starts: Float64Array;
  readonly classes: Uint8Array;
}

/** Tile is one answer. */
export interface Tile {
  readonly lane: number;
  readonly level: number;
  readonly index: number;
  readonly form: Form;
  /** bytes is what it takes in memory. */
  readonly bytes: number;
  readonly packed: Packed | null;
  readonly spans: Spans | null;
}

/** readTiles reads an answer. What is damaged is an empty tile. */
export function readTiles(data: ArrayBuffer): Tile[] {
  const view = new DataView(data), out: Tile[] = [];
  if (data.byteLength < 4) return out;
  const n = view.getUint32(0, true);
  for (let i = 0, at = 4; i < n && at + 16 <= data.byteLength; i++) {
    const form = view.getUint8(at + 9) as Form, size = view.getUint32(at + 12, true);
    if (at + 16 + size > data.byteLength) break;
    const bytes = new Uint8Array(data, at + 16, size);
    out.push({
      lane: view.getUint32(at, true), index: view.getUint32(at + 4, true), level: view.getUint8(at + 8), form, bytes: size + 200,
      packed: rows[form] ? unpack(bytes, rows[form]) : null, spans: form === Form.spans ? readSpans(bytes) : null,
    });
    at += 16 + size;
  }
  return out;
}

/** unpack reads a packed tile with so many planes, null if it is damaged. */
export function unpack(data: Uint8Array, planes: number): Packed | null {
  if (data.length < 8) return null;
  const first = data[0]! | data[1]! << 8, n = data[2]! | data[3]! << 8;
  const whole = data[4]! | data[5]! << 8 | data[6]! << 16 | data[7]! << 24;
  if (n === 0 || first + n > tileBuckets) return null;
  const list: Uint8Array[] = [];
  let at = 8;
  for (let i = 0; i < planes; i++) {
    const size = whole >>> i & 1 ? n : 1;
    if (at + size > data.length) return null;
    list.push(data.subarray(at, at + size));
    at += size;
  }
  return { first, n, planes: list };
}

/** readSpans reads the spans of a tile, null if it is damaged. */
export function readSpans(data: Uint8Array): Spans | null {
  if (data.length < 12) return null;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const n = view.getUint32(8, true);
  if (n > data.length - 12) return null;
  const starts = new Float64Array(n + 1), classes = new Uint8Array(n);
  let t = Number(view.getBigInt64(0, true)), at = 12;
  for (let i = 0; i < n; i++) {
    starts[i] = t * grain;
    // A length may have more bits than the bitwise operators take.
    let v = 0, factor = 1, byte = 0x80;
    while (byte & 0x80) {
      if (at >= data.length) return null;
      byte = data[at++]!;
      v += (byte & 0x7f) * factor;
      factor *= 128;
    }
    classes[i] = v % 8;
    t += Math.floor(v / 8);
  }
  starts[n] = t * grain;
  return { starts, classes };
}

/** value is the byte k of bucket i of a packed tile. */
export function value(p: Packed, k: number, i: number): number {
  const plane = p.planes[k]!;
  return plane.length === 1 ? plane[0]! : plane[i]!;
}

const counted = new Float32Array(8192).map((_, v) => 2 ** (v / 256) - 1);

/** count undoes the logarithm of two bytes: how many. */
export function count(low: number, high: number): number {
  return counted[Math.min(8191, low | high << 8)]!;
}

const scratch = new DataView(new ArrayBuffer(4));

/** float is the float32 whose bytes are in the planes from k on. */
export function float(p: Packed, k: number, i: number): number {
  for (let b = 0; b < 4; b++) scratch.setUint8(b, value(p, k + b, i));
  return scratch.getFloat32(0, true);
}
