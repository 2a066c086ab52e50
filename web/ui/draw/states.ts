/** Lanes as pixels: columns of states, counts, values and latencies into ImageData. Nothing here is per span. */
import type { Class } from "../model/lanes.ts";
import { classes, rest, type Columns } from "../model/columns.ts";
import { latencyRows } from "../model/tiles.ts";
import type { Palette, Pattern } from "./palette.ts";

/** Picture is pixels, and the numbers of them. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint32Array;
}

/** thin is below which height a lane has only its most frequent state. */
export const thin = 12;

/** tick is how high a mark for a rare state is. */
export const tick = 3;

/** longSyscall is four times the logarithm of 20 µs: from there on a system call has a mark of its own. */
export const longSyscall = 57;

/** Style is how the classes of one kind look in a theme. */
export interface Style {
  readonly list: readonly Class[];
  readonly patterns: readonly Pattern[];
  readonly ground: number;
  readonly idle: number;
  readonly sleep: number;
  readonly edge: number;
  readonly unknown: Pattern;
  /** line draws a thin line where a goroutine lives and does nothing else; P and thread are filled with idle instead. */
  readonly line: boolean;
  readonly syscall: number;
}

/** style reads how the classes look. */
export function style(list: readonly Class[], p: Palette, line: boolean): Style {
  return {
    list, patterns: list.map((c) => p.pattern(c.colour, c.texture)), ground: p.pixel("bg"), idle: p.pixel("idle"), sleep: p.pixel("sleep", "bg", 0.55),
    edge: p.pixel("bg"), unknown: p.pattern("control", "check", "bg", 0), line, syscall: list.findIndex((c) => c.name === "syscall"),
  };
}

/** drawStates draws how the time of each column was spent, one state upon the other. */
export function drawStates(out: Picture, c: Columns, s: Style): void {
  if (out.height < thin) {
    drawStrip(out, c, s);
    return;
  }
  const { width, pixels } = out, h = out.height - 1; // one line of ground parts it from the next lane
  const up: number[] = [], down: number[] = [];
  s.list.forEach((k, i) => {
    if (i < rest && k.name) (k.top ? down : up).push(i);
  });
  for (let x = 0; x < width; x++) {
    const bits = c.present[x]!, known = c.known[x]!;
    const column = x & 7;
    if (known <= 0 && bits === 0) {
      for (let y = 0; y < h; y++) pixels[y * width + x] = s.unknown[(y & 7) << 3 | column]!;
      pixels[h * width + x] = s.ground;
      continue;
    }
    const alive = bits !== 0, blank = alive && !s.line ? s.idle : s.ground;
    // What part of a pixel is unknown counts for the known part.
    const scale = known > 0 && known < 0.99 ? 1 / known : 1;
    let low = h, high = 0, sum = 0, hung = 0, y = h;
    for (let k = 0; k < up.length; k++) {
      const i = up[k]!, t = c.time[i]![x]!;
      if (t <= 0) continue;
      sum += t * scale * s.list[i]!.share;
      low = Math.max(0, h - Math.round(Math.min(1, sum) * h));
      const p = s.patterns[i]!;
      for (; y > low; y--) pixels[(y - 1) * width + x] = p[((y - 1) & 7) << 3 | column]!;
    }
    for (let k = 0; k < down.length; k++) {
      const i = down[k]!, t = c.time[i]![x]!;
      if (t <= 0) continue;
      hung += t * scale * s.list[i]!.share;
      const to = Math.min(low, Math.round(Math.min(1, hung) * h)), p = s.patterns[i]!;
      for (; high < to; high++) pixels[high * width + x] = p[(high & 7) << 3 | column]!;
    }
    for (let g = high; g < y; g++) pixels[g * width + x] = blank;
    if (s.line && y === h && (bits >> rest & 1) !== 0) {
      for (let g = Math.max(high, h - 2); g < h; g++) pixels[g * width + x] = s.sleep;
    }
    if (c.edge[x] === 1 && x > 0) {
      for (let g = y; g < h; g++) pixels[g * width + x] = s.edge;
    }
    pixels[h * width + x] = s.ground;
    for (let i = 0; i < rest; i++) {
      if ((bits >> i & 1) === 0 || c.time[i]![x]! * scale * h >= tick) continue;
      if (!s.list[i]!.rare && !(i === s.syscall && c.longClass[x] === i && c.long[x]! >= longSyscall)) continue;
      for (let g = 0; g < tick; g++) pixels[g * width + x] = s.patterns[i]![0]!;
    }
  }
}

/** drawStrip draws for each column the state that takes most of it. */
function drawStrip(out: Picture, c: Columns, s: Style): void {
  const { width, pixels } = out, h = out.height - 1;
  for (let x = 0; x < width; x++) {
    const bits = c.present[x]!;
    let colour = bits !== 0 ? s.idle : s.ground;
    if (bits === 0 && c.known[x]! <= 0) colour = s.unknown[x & 7]!;
    let best = 0.02, sum = 0, mark = -1;
    for (let i = 0; i < rest; i++) {
      const t = c.time[i]![x]!;
      sum += t;
      if (t > best) {
        best = t;
        colour = s.patterns[i]![0]!;
      }
      if (s.list[i]!.rare && (bits >> i & 1) !== 0) mark = i;
    }
    // What idles most of the time says so by half the height.
    const from = sum < 0.5 && sum > 0.02 ? h >> 1 : 0;
    for (let y = 0; y < h; y++) pixels[y * width + x] = y >= from ? colour : bits !== 0 ? s.idle : s.ground;
    if (mark >= 0) for (let y = 0; y < Math.min(tick, h); y++) pixels[y * width + x] = s.patterns[mark]![0]!;
    pixels[h * width + x] = s.ground;
  }
}

/** round is what a scale goes up to: so that it changes seldom, and little is left empty. */
export function round(most: number): number {
  if (most <= 0) return 1;
  if (most <= 100) return Math.max(1, Math.ceil(most - 0.1));
  const power = 10 ** Math.floor(Math.log10(most));
  for (const f of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) if (f * power >= most * 0.99) return f * power;
  return 10 * power;
}

/** mostOf is the greatest sum of counts in any column. */
export function mostOf(c: Columns): number {
  let most = 0;
  for (let x = 0; x < c.width; x++) {
    let sum = 0;
    for (let i = 0; i < classes; i++) sum += c.time[i]![x]!;
    const known = c.known[x]!;
    if (known > 0.05 && sum / known > most) most = sum / known;
  }
  return most;
}

/** drawCounts draws how many are in each state, one upon the other, up to most. */
export function drawCounts(out: Picture, c: Columns, s: Style, most: number): void {
  const { width, pixels } = out, h = out.height - 2;
  for (let x = 0; x < width; x++) {
    const known = c.known[x]!, column = x & 7;
    let y = h, sum = 0;
    if (known > 0) {
      for (let i = 0; i < classes; i++) {
        const t = c.time[i]![x]! / known;
        if (t <= 0) continue;
        sum += t;
        let low = h - Math.round(Math.min(1, sum / most) * h);
        // Whoever runs is seen among thousands that wait.
        if (low === y && i < 2 && t > 0.004) low = Math.max(0, y - 1);
        const p = s.patterns[i]!;
        for (; y > low; y--) pixels[y * width + x] = p[(y & 7) << 3 | column]!;
      }
    }
    for (let g = 0; g <= y; g++) pixels[g * width + x] = known > 0 ? s.ground : s.unknown[(g & 7) << 3 | column]!;
    pixels[(h + 1) * width + x] = s.ground;
  }
}

/** Line is the colours of a counter. */
export interface Line {
  readonly ground: number;
  readonly band: number;
  readonly fill: number;
  readonly line: number;
}

/** highOf is the greatest value of a counter that is seen. */
export function highOf(c: Columns): number {
  let most = 0;
  for (let x = 0; x < c.width; x++) if (c.high[x]! > most && c.high[x]! < Infinity) most = c.high[x]!;
  return most;
}

/** drawValues draws a counter: between least and greatest a band, the mean a line, from zero up to most. */
export function drawValues(out: Picture, c: Columns, colours: Line, most: number): void {
  const { width, pixels } = out, h = out.height - 2;
  const at = (v: number): number => Math.min(h, Math.max(1, h - Math.round(v / most * (h - 1))));
  pixels.fill(colours.ground);
  let before = -1;
  for (let x = 0; x < width; x++) {
    if (c.known[x]! <= 0) {
      before = -1;
      continue;
    }
    const low = at(c.low[x]!), high = at(c.high[x]!), mean = at(c.mean[x]! / c.known[x]!);
    for (let y = mean; y <= h; y++) pixels[y * width + x] = colours.fill;
    for (let y = high; y <= low; y++) pixels[y * width + x] = colours.band;
    const from = before < 0 ? mean : Math.min(mean, before), to = before < 0 ? mean : Math.max(mean, before);
    for (let y = from; y <= to; y++) pixels[y * width + x] = colours.line;
    before = mean;
  }
}

/** ramp is the shades of a heat map from little to much. */
export function ramp(p: Palette, name: string): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, i) => p.pixel(name, "bg", 0.12 + 0.88 * i / 255));
}

/** drawHeat draws a heat map, long ones at the top. Shades go by the logarithm, up to the greatest of the columns. */
export function drawHeat(out: Picture, c: Columns, shades: Uint32Array, ground: number): void {
  const { width, height, pixels } = out;
  pixels.fill(ground);
  let most = 0;
  for (const n of c.heat) if (n > most) most = n;
  if (most <= 0) return;
  const log = 255 / Math.log2(1 + most), each = Math.floor((height - 1) / latencyRows);
  for (let r = 0; r < latencyRows; r++) {
    const top = (latencyRows - 1 - r) * each;
    for (let x = 0; x < width; x++) {
      const n = c.heat[r * width + x]!;
      if (n <= 0) continue;
      const colour = shades[Math.min(255, Math.max(0, Math.round(Math.log2(1 + n) * log)))]!;
      for (let y = top; y < top + each; y++) pixels[y * width + x] = colour;
    }
  }
}
