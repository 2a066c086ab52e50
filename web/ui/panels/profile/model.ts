/** The flame graph as the page has it: where boxes are, what they are called, and how one gets from one to another. Pure. */
import type { Flame, FlameView } from "../../api/types.ts";
import { bytes, count, duration, percent } from "../../base/units.ts";

/** weight prints a weight in the unit of its sample type, as the server does. */
export function weight(v: number, unit: string): string {
  switch (unit.toLowerCase().replace(/s$/, "")) {
    case "nanosecond": case "n": return duration(v);
    case "microsecond": return duration(v * 1e3);
    case "millisecond": return duration(v * 1e6);
    case "second": return duration(v * 1e9);
    case "byte": return bytes(v);
  }
  return count(v);
}

/** share prints what v is of the whole. */
export function share(v: number, whole: number): string {
  return whole === 0 ? "" : percent(v / whole);
}

/** exactly is an expression of pprof for one function, whatever its type arguments are. */
export function exactly(name: string): string {
  return "^" + name.replace(/[\\.+*?()|[\]{}^$]/g, "\\$&").replaceAll("\\[\\.\\.\\.\\]", "\\[.*\\]").replaceAll("\ufffd", ".") + "$";
}

/** either is an expression for what one of two expressions fits. */
export function either(before: string, more: string): string {
  return before ? (before.split("|").includes(more) ? before : before + "|" + more) : more;
}

const encoder = new TextEncoder();

/** hashOf continues the hash of a path by a name: FNV-1a of the bytes of both, as hashOf in web/profile_flame.go. */
export function hashOf(before: number, name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < 32; i += 8) h = Math.imul(h ^ (before >>> i & 255), 0x01000193);
  for (const b of encoder.encode(name)) h = Math.imul(h ^ b, 0x01000193);
  return h >>> 0;
}

/** classNames are the kinds of code, by the digit that the server sends, each with the custom property of its colour. */
export const classNames = [
  ["own code", "f-main"], ["dependency", "f-third"], ["standard library", "f-std"], ["runtime", "f-runtime"],
  ["garbage collection", "f-gc"], ["system call", "f-syscall"], ["not Go", "f-cgo"], ["why it is blocked", "f-org"],
] as const;

/** Layout is where every box is: x and width are shares of the whole width. Hidden ones stand for those that are too narrow. */
export interface Layout {
  readonly n: number;
  readonly x: Float64Array;
  readonly w: Float64Array;
  readonly depth: Int32Array;
  readonly parent: Int32Array;
  readonly inline: Uint8Array;
  readonly depths: number;
  /** rows are the boxes of each level, from the left. */
  readonly rows: readonly (readonly number[])[];
  readonly hidden: readonly Hidden[];
}

export interface Hidden {
  readonly x: number;
  readonly w: number;
  readonly depth: number;
  readonly count: number;
  readonly weight: number;
}

/** layout places the boxes of a view: those of a comparison are as wide as both sides together. */
export function layout(v: FlameView): Layout {
  const name = v.name ?? [], n = name.length, depth = Int32Array.from(v.depth ?? []), weights = v.weight ?? [], base = v.base;
  const size = (i: number): number => Math.abs(weights[i]!) + (base ? Math.abs(base[i]!) : 0);
  const x = new Float64Array(n), w = new Float64Array(n), parent = new Int32Array(n).fill(-1), inline = new Uint8Array(n);
  for (const i of v.inline ?? []) inline[i] = 1;
  const rows: number[][] = [], next: number[] = [], above: number[] = [];
  let whole = 0;
  for (let i = 0; i < n; i++) if (depth[i] === 0) whole += size(i);
  whole = Math.max(1, whole + (base ? 0 : Math.abs(v.top_weight)));
  next[0] = 0;
  const hidden: Hidden[] = [];
  const hide = (d: number, count: number, weight: number, at: number): void => {
    if (count > 0 || weight !== 0) hidden.push({ x: at, w: Math.abs(weight) / whole, depth: d, count, weight });
  };
  for (let i = 0; i < n; i++) {
    const d = depth[i]!;
    x[i] = next[d] ?? 0;
    w[i] = size(i) / whole;
    next[d] = x[i]! + w[i]!;
    next[d + 1] = x[i]!;
    above[d] = i;
    parent[i] = d > 0 ? above[d - 1]! : -1;
    (rows[d] ??= []).push(i);
  }
  // Where the children of a box end, the ones that are hidden begin.
  const end = Float64Array.from(x);
  for (let i = 0; i < n; i++) {
    const p = parent[i]!;
    if (p >= 0) end[p] = Math.max(end[p]!, x[i]! + w[i]!);
  }
  for (let i = 0; i < n; i++) hide(depth[i]! + 1, v.narrow?.[i] ?? 0, v.narrow_weight?.[i] ?? 0, end[i]!);
  hide(0, v.top, v.top_weight, next[0]!);
  return { n, x, w, depth, parent, inline, depths: Math.max(rows.length, ...hidden.map((h) => h.depth + 1), 0), rows, hidden };
}

/** at finds the box on a level at a place, or -1. */
export function at(l: Layout, depth: number, x: number): number {
  const row = l.rows[depth] ?? [];
  let lo = 0, hi = row.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (l.x[row[mid]!]! <= x) lo = mid + 1;
    else hi = mid;
  }
  const i = row[lo - 1];
  return i !== undefined && x < l.x[i]! + l.w[i]! ? i : -1;
}

/** step goes from a box to its parent, its widest child, or the next on the level; where there is none it stays. */
export function step(l: Layout, from: number, key: string): number {
  const d = l.depth[from]!, row = l.rows[d] ?? [], place = row.indexOf(from);
  switch (key) {
    case "ArrowUp": return l.parent[from]! >= 0 ? l.parent[from]! : from;
    case "ArrowDown": {
      let best = from;
      for (const i of l.rows[d + 1] ?? []) {
        if (l.parent[i] === from && (best === from || l.w[i]! > l.w[best]!)) best = i;
      }
      return best;
    }
    case "ArrowLeft": return row[place - 1] ?? from;
    case "ArrowRight": return row[place + 1] ?? from;
    case "Home": return 0;
    case "End": return row[row.length - 1] ?? from;
  }
  return from;
}

/** hashes are those of the paths of all boxes; the box of a zoom has that of its path. */
export function hashes(f: Flame, view: number, l: Layout): Uint32Array {
  const v = f.views![view]!, out = new Uint32Array(l.n), path = f.path ?? [];
  const root = path.length ? parseInt(path[path.length - 1]!.hash, 36) : null;
  for (let i = 0; i < l.n; i++) {
    out[i] = root !== null && i === 0 ? root : hashOf(l.parent[i]! >= 0 ? out[l.parent[i]!]! : 0, f.names![v.name![i]!]!);
  }
  return out;
}

/** chainTo is the parameter that zooms into a step of the path: the links above it, and it. */
export function chainTo(chain: string, path: readonly { hash: string }[], k: number): string {
  const above = chain.split(".").filter((link) => {
    const i = path.findIndex((s) => s.hash === link);
    return i >= 0 && i < k;
  });
  return [...above, path[k]!.hash].join(".");
}

/** change is how much a box grew from base, in words with a sign. */
export function change(v: number, base: number): string {
  const d = v - base;
  if (d === 0) return "±0";
  const sign = d > 0 ? "+" : "−";
  if (base === 0) return sign + "new";
  if (v === 0) return sign + "gone";
  return sign + percent(Math.abs(d / base));
}
