/** Lanes as areas: the same as states.ts draws in pixels, for pictures that are to stay sharp. */
import { classes, rest, type Columns } from "../model/columns.ts";
import type { Class } from "../model/lanes.ts";
import { latencyRows } from "../model/tiles.ts";
import { Area, type SVG } from "./svg.ts";
import { longSyscall, tick } from "./states.ts";

/** areas are those of each class. */
const areas = (): Area[] => Array.from({ length: classes }, () => new Area());

/** put fills the areas of the classes that there are. */
function put(out: SVG, list: readonly Class[], of: readonly Area[]): void {
  list.forEach((k, i) => out.area(of[i]!.done(), out.texture(k.colour, k.texture), k.name));
}

/** statesSVG draws how the time of each column was spent; line draws a line where a goroutine lives and does nothing else. */
export function statesSVG(out: SVG, c: Columns, list: readonly Class[], line: boolean, height: number): void {
  const h = height - 1, states = areas(), rare = areas(), unknown = new Area(), idle = new Area(), sleep = new Area(), edges = new Area();
  const syscall = list.findIndex((k) => k.name === "syscall");
  for (let x = 0; x < c.width; x++) {
    const bits = c.present[x]!, known = c.known[x]!;
    if (known <= 0 && bits === 0) {
      unknown.put(x, 0, h);
      continue;
    }
    if (bits !== 0 && !line) idle.put(x, 0, h);
    const scale = h * (known > 0 && known < 0.99 ? 1 / known : 1);
    let low = h, high = 0;
    for (let i = 0; i < rest; i++) {
      const k = list[i], share = c.time[i]![x]! * scale * (k?.share ?? 0);
      if (!k?.name || share <= 0) continue;
      if (k.top) {
        const to = Math.min(low, high + share);
        states[i]!.put(x, high, to);
        high = to;
      } else {
        const to = Math.max(0, low - share);
        states[i]!.put(x, to, low);
        low = to;
      }
      const wide = i === syscall && c.longClass[x] === i && c.long[x]! >= longSyscall;
      if ((k.rare || wide) && c.time[i]![x]! * scale < tick) rare[i]!.put(x, 0, tick);
    }
    for (let i = 0; i < rest; i++) if (list[i]?.rare && (bits >> i & 1) !== 0 && c.time[i]![x] === 0) rare[i]!.put(x, 0, tick);
    if (line && low === h && (bits >> rest & 1) !== 0) sleep.put(x, Math.max(high, h - 2), h);
    if (c.edge[x] === 1 && x > 0) edges.put(x, low, h);
  }
  out.area(unknown.done(), out.texture("control", "check", 0), "not known");
  out.area(idle.done(), out.shade("idle", 1), list[rest]?.name);
  put(out, list, states);
  out.area(sleep.done(), out.shade("sleep", 0.55), list[rest]?.name);
  out.area(edges.done(), out.shade("bg", 1));
  list.forEach((k, i) => out.area(rare[i]!.done(), out.shade(k.colour, 1), k.name));
}

/** countsSVG draws how many are in each state, one upon the other, up to most. */
export function countsSVG(out: SVG, c: Columns, list: readonly Class[], most: number, height: number): void {
  const h = height - 2, states = areas(), unknown = new Area();
  for (let x = 0; x < c.width; x++) {
    const known = c.known[x]!;
    if (known <= 0) {
      unknown.put(x, 0, h);
      continue;
    }
    let low = h;
    for (let i = 0; i < classes; i++) {
      const to = Math.max(0, low - c.time[i]![x]! / known / most * h);
      states[i]!.put(x, to, low);
      low = to;
    }
  }
  out.area(unknown.done(), out.texture("control", "check", 0), "not known");
  put(out, list, states);
}

/** valuesSVG draws a counter: between least and greatest a band, the mean a line, from zero up to most. */
export function valuesSVG(out: SVG, c: Columns, most: number, height: number): void {
  const h = height - 2, fill = new Area(), band = new Area(), line = new Area();
  const at = (v: number): number => Math.min(h, Math.max(1, h - v / most * (h - 1)));
  let before = -1;
  for (let x = 0; x < c.width; x++) {
    if (c.known[x]! <= 0) {
      before = -1;
      continue;
    }
    const mean = at(c.mean[x]! / c.known[x]!), from = before < 0 ? mean : before;
    fill.put(x, mean, h);
    band.put(x, at(c.high[x]!), at(c.low[x]!));
    line.put(x, Math.min(mean, from) - 0.5, Math.max(mean, from) + 0.5);
    before = mean;
  }
  out.area(fill.done(), out.shade("accent", 0.14));
  out.area(band.done(), out.shade("accent", 0.5), "least to greatest");
  out.area(line.done(), out.shade("accent", 1), "mean");
}

/** shades is how many there are of a heat map. */
const shades = 16;

/** heatSVG draws a heat map, long ones at the top. */
export function heatSVG(out: SVG, c: Columns, height: number): void {
  const most = c.heat.reduce((a, b) => Math.max(a, b), 0), each = Math.floor((height - 1) / latencyRows);
  for (let r = 0; most > 0 && r < latencyRows; r++) {
    const top = (latencyRows - 1 - r) * each, rows = Array.from({ length: shades }, () => new Area());
    for (let x = 0; x < c.width; x++) {
      const n = c.heat[r * c.width + x] ?? 0;
      if (n > 0) rows[Math.min(shades - 1, Math.floor(Math.log2(1 + n) / Math.log2(1 + most) * shades))]!.put(x, top, top + each);
    }
    rows.forEach((a, i) => out.area(a.done(), out.shade("runnable", 0.12 + 0.88 * i / (shades - 1))));
  }
}
