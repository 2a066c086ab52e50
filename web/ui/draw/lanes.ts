/** Lanes of the time axis: lines, stacks, heat maps and stretches of time. */
import type { Lane, LaneHeat, LaneLine, LaneSpans } from "../api/types.ts";
import type { Span, Time } from "../base/units.ts";
import { fits, font, shorten } from "./axis.ts";
import { channels, palette, type Texture } from "./palette.ts";

/** Ink is how a line or an area looks: each differs from its neighbours by more than its colour. */
export interface Ink {
  readonly colour: string;
  readonly texture?: Texture;
  readonly dash?: readonly number[];
}

const inks: Record<string, Ink> = {
  running: { colour: "running" }, answered: { colour: "running" }, program: { colour: "running" }, heap: { colour: "running" },
  alloc: { colour: "running" }, goroutines: { colour: "running" }, rss: { colour: "running" }, local: { colour: "runnable" },
  runnable: { colour: "runnable", texture: "dots", dash: [2, 2] }, global: { colour: "critical", texture: "diagonal" }, failed: { colour: "critical", texture: "diagonal" },
  syscall: { colour: "syscall", texture: "hatch" }, sync: { colour: "sync" }, chan: { colour: "chan", texture: "dots" }, net: { colour: "net", texture: "dashes" },
  assist: { colour: "assist", texture: "diagonal" }, mark: { colour: "mark" }, dedicated: { colour: "mark" }, idlemark: { colour: "mark", texture: "sparse" },
  pause: { colour: "stw" }, stw: { colour: "stw" }, scheduling: { colour: "sleep", texture: "dashes" }, spinning: { colour: "sleep", texture: "dashes" }, idle: { colour: "idle" }, sleep: { colour: "sleep" },
  p50: { colour: "text" }, p99: { colour: "worse", dash: [6, 3] }, live: { colour: "net", dash: [2, 2] }, goal: { colour: "muted", dash: [6, 3] },
  machine: { colour: "muted", dash: [2, 2] }, loupe: { colour: "runnable", dash: [6, 3] }, mapped: { colour: "muted", dash: [6, 3] },
  stw1: { colour: "running" }, stw2: { colour: "worse" },
};

/** inkOf is how the line with a key looks. */
export function inkOf(key: string): Ink {
  return inks[key] ?? { colour: "running" };
}

/** Box is where to draw, and what part of the axis it shows. */
export interface Box {
  readonly width: number;
  readonly height: number;
  readonly span: Span;
}

const xOf = (b: Box, t: Time): number => (t - b.span.start) / (b.span.end - b.span.start) * b.width;

/** topOf is the value at the upper edge of a lane: the greatest that is seen, or the one that it has itself. */
export function topOf(l: Lane, span: Span): number {
  let top = 0;
  const seen = (x: LaneLine, i: number): boolean => {
    const at = x.at!, end = i + 1 < at.length ? at[i + 1]! : at[i]!;
    return at[i]! < span.end && Math.max(end, at[i]!) >= span.start;
  };
  if (l.shape === "stack") {
    const first = l.lines?.[0];
    for (let i = 0; i < (first?.at?.length ?? 0); i++) {
      if (!seen(first!, i)) continue;
      let sum = 0;
      for (const x of l.lines!) sum += x.mean[i] ?? 0;
      top = Math.max(top, sum);
    }
  } else {
    for (const x of l.lines ?? []) {
      for (let i = 0; i < (x.at?.length ?? 0); i++) if (seen(x, i)) top = Math.max(top, x.max?.[i] ?? x.mean[i] ?? 0);
    }
  }
  return Math.max(top, l.top ?? 0) || 1;
}

/** oneScale gives lanes that two sources have in common the same upper edge: a lower line is then a smaller figure. */
export function oneScale(a: readonly Lane[], b: readonly Lane[], span: Span): [Lane[], Lane[]] {
  const to = (lanes: readonly Lane[], others: readonly Lane[]): Lane[] => lanes.map((l) => {
    const twin = others.find((o) => o.key === l.key && o.unit === l.unit && !o.missing && o.shape !== "heat" && o.shape !== "spans");
    if (!twin || l.missing) return l;
    const top = Math.max(topOf(l, span), topOf(twin, span));
    return { ...l, top: l.top && twin.top ? top : top * 1.08 };
  });
  return [to(a, b), to(b, a)];
}

/** drawLane draws a lane; its labels of the scale come from label. */
export function drawLane(c: CanvasRenderingContext2D, l: Lane, b: Box, label: (v: number) => string): void {
  c.clearRect(0, 0, b.width, b.height);
  c.lineJoin = "round";
  if (l.shape === "spans") {
    if (l.spans) drawSpans(c, l.spans, b);
    return;
  }
  if (l.shape === "heat" && l.heat) {
    drawHeat(c, l.heat, b);
    const low = Math.log(l.heat.rows[0]!), high = Math.log(l.heat.rows.at(-1)!);
    const y = (v: number): number => b.height * (1 - (Math.log(Math.max(v, 1e-9)) - low) / (high - low));
    for (const x of l.lines ?? []) drawLine(c, x, b, y, true);
    let last = Infinity;
    for (let power = Math.ceil(Math.log10(l.heat.rows[0]!)); 10 ** power <= l.heat.rows.at(-1)!; power++) {
      const at = y(10 ** power);
      if (at < 12 || at > b.height - 4 || last - at < 16) continue;
      scale(c, b, at, label(10 ** power));
      last = at;
    }
    return;
  }
  const top = topOf(l, b.span) * (l.top ? 1 : 1.08), y = (v: number): number => b.height - v / top * (b.height - 1);
  if (l.shape === "stack") drawStack(c, l.lines ?? [], b, top);
  const grid = step(top * 24 / b.height, l.unit === "bytes");
  for (let v = grid; v <= top * 1.001; v += grid) if (y(v) >= 0) scale(c, b, y(v), label(v));
  if (l.shape === "points") for (const [n, x] of (l.lines ?? []).entries()) drawPoints(c, x, b, y, n);
  else if (l.shape === "lines") for (const x of [...(l.lines ?? [])].reverse()) drawLine(c, x, b, y, false);
}

/** step is the distance of grid lines: round, and at least so much. */
function step(least: number, binary: boolean): number {
  if (binary) return 2 ** Math.ceil(Math.log2(least * 1.5));
  const power = 10 ** Math.floor(Math.log10(least));
  for (const f of [1, 2, 5]) if (f * power >= least * 1.2) return f * power;
  return 10 * power;
}

function scale(c: CanvasRenderingContext2D, b: Box, y: number, label: string): void {
  const p = palette(), text = label.replace(/(\.\d*?)0+(?=\D|$)/, "$1").replace(/\.(?=\D|$)/, ""); // a round value needs no zeros
  c.globalAlpha = 0.5;
  c.fillStyle = p.css("control");
  for (let x = 0; x < b.width; x += 6) c.fillRect(x, Math.round(y), 2, 1);
  c.globalAlpha = 1;
  c.font = font;
  c.textBaseline = y < 12 ? "top" : "bottom";
  c.lineWidth = 3;
  c.strokeStyle = p.css("bg");
  const at = Math.round(y) + (y < 12 ? 2 : -1);
  c.strokeText(text, 3, at);
  c.fillStyle = p.css("muted");
  c.fillText(text, 3, at);
}

/** trace goes along a line in strokes: of each stretch that is known, the points in pixels. */
function strokes(x: LaneLine, b: Box, values: readonly (number | null)[], y: (v: number) => number): [number, number][][] {
  const out: [number, number][][] = [];
  let open: [number, number][] = [];
  const at = x.at ?? [];
  for (let i = 0; i < at.length; i++) {
    const v = values[i], px = xOf(b, at[i]!);
    if (x.step && open.length) open.push([px, open.at(-1)![1]]);
    if (v === null || v === undefined) {
      if (open.length) out.push(open);
      open = [];
      continue;
    }
    open.push([px, y(v)]);
  }
  if (open.length) {
    if (x.step) open.push([Math.min(b.width, Math.max(open.at(-1)![0], b.width)), open.at(-1)![1]]);
    out.push(open);
  }
  return out;
}

function drawLine(c: CanvasRenderingContext2D, x: LaneLine, b: Box, y: (v: number) => number, halo: boolean): void {
  const p = palette(), ink = inkOf(x.key);
  if (x.min && x.max) {
    const high = strokes(x, b, x.max, y), low = strokes(x, b, x.min, y);
    c.globalAlpha = 0.28;
    c.fillStyle = p.css(ink.colour);
    for (let s = 0; s < high.length; s++) {
      c.beginPath();
      for (const [px, py] of high[s]!) c.lineTo(px, Math.min(py, py - 0.5));
      for (const [px, py] of [...(low[s] ?? [])].reverse()) c.lineTo(px, py + 0.5);
      c.fill();
    }
    c.globalAlpha = 1;
  }
  const all = strokes(x, b, x.mean, y);
  const pass = (width: number, colour: string, dash: readonly number[]): void => {
    c.lineWidth = width;
    c.strokeStyle = colour;
    c.setLineDash([...dash]);
    c.beginPath();
    for (const s of all) {
      // A single sample is a dot.
      if (s.length === 1) c.rect(s[0]![0] - 1, s[0]![1] - 1, 2, 2);
      for (const [n, [px, py]] of s.entries()) {
        if (n === 0) c.moveTo(px, py);
        else c.lineTo(px, py);
      }
    }
    c.stroke();
    c.setLineDash([]);
  };
  if (halo) pass(4, p.css("bg"), []);
  pass(1.5, p.css(ink.colour), ink.dash ?? []);
}

function drawPoints(c: CanvasRenderingContext2D, x: LaneLine, b: Box, y: (v: number) => number, n: number): void {
  c.strokeStyle = palette().css(inkOf(x.key).colour);
  c.lineWidth = 1.25;
  c.beginPath();
  for (let i = 0; i < (x.at?.length ?? 0); i++) {
    const v = x.max?.[i] ?? x.mean[i];
    if (v === null || v === undefined) continue;
    const px = xOf(b, x.at![i]!), py = Math.max(3, Math.min(b.height - 3, y(v)));
    if (n === 0) {
      c.moveTo(px + 2, py);
      c.arc(px, py, 2, 0, 7);
    } else {
      c.moveTo(px - 2, py - 2);
      c.lineTo(px + 2, py + 2);
      c.moveTo(px - 2, py + 2);
      c.lineTo(px + 2, py - 2);
    }
  }
  c.stroke();
}

/** fillOf is the colour of an ink in its texture. */
export function fillOf(c: CanvasRenderingContext2D, ink: Ink): string | CanvasPattern {
  const p = palette();
  if (!ink.texture) return p.css(ink.colour);
  const tile = new OffscreenCanvas(8, 8), data = new ImageData(8, 8);
  new Uint32Array(data.data.buffer).set(p.pattern(ink.colour, ink.texture));
  tile.getContext("2d")!.putImageData(data, 0, 0);
  return c.createPattern(tile, "repeat") ?? p.css(ink.colour);
}

/** rare are states that are marked however little of them there is. */
const rare = ["stw", "failed"];

function drawStack(c: CanvasRenderingContext2D, lines: readonly LaneLine[], b: Box, top: number): void {
  const at = lines[0]?.at ?? [], n = at.length;
  const base = new Float64Array(n), pixels = (b.height - 1) / top;
  for (const line of lines) {
    c.fillStyle = fillOf(c, inkOf(line.key));
    c.beginPath();
    const ticks: number[] = [];
    let open = -1;
    const close = (to: number): void => {
      if (open < 0) return;
      // Along the upper edge from left to right, and back along the lower one.
      for (let i = open; i < to; i++) {
        const left = xOf(b, at[i]!), right = i + 1 < n ? xOf(b, at[i + 1]!) : b.width, y = b.height - (base[i]! + (line.mean[i] ?? 0)) * pixels;
        if (i === open) c.moveTo(left, y);
        else c.lineTo(left, y);
        c.lineTo(right, y);
      }
      for (let i = to - 1; i >= open; i--) {
        const left = xOf(b, at[i]!), right = i + 1 < n ? xOf(b, at[i + 1]!) : b.width, y = b.height - base[i]! * pixels;
        c.lineTo(right, y);
        c.lineTo(left, y);
      }
      c.closePath();
      open = -1;
    };
    for (let i = 0; i < n; i++) {
      const v = line.mean[i];
      if (v === null || v === undefined) close(i);
      else if (open < 0) open = i;
      if (v && v * pixels < 1 && rare.includes(line.key)) ticks.push(i);
    }
    close(n);
    c.fill();
    for (const i of ticks) {
      const x = xOf(b, at[i]!);
      c.fillRect(x, 0, Math.max(1, (i + 1 < n ? xOf(b, at[i + 1]!) : b.width) - x), 3);
    }
    for (let i = 0; i < n; i++) base[i]! += line.mean[i] ?? 0;
  }
}

/** shade is the colour of a count in a heat map: one hue, by the logarithm; a single one is visible. */
function shades(steps: number): Uint32Array {
  const p = palette(), a = channels(p.css("bg")), z = channels(p.css("running"));
  const out = new Uint32Array(steps);
  for (let i = 0; i < steps; i++) {
    const share = 0.22 + 0.78 * i / (steps - 1), mix = (k: number): number => Math.round(a[k]! + (z[k]! - a[k]!) * share);
    out[i] = (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
  }
  return out;
}

function drawHeat(c: CanvasRenderingContext2D, h: LaneHeat, b: Box): void {
  const rows = h.rows.length - 1, columns = Math.round(h.counts.length / rows);
  if (columns < 1 || rows < 1) return;
  let most = 1;
  for (const n of h.counts) most = Math.max(most, n ?? 0);
  const colours = shades(64), full = Math.log1p(most);
  const data = new ImageData(columns, rows), pixels = new Uint32Array(data.data.buffer);
  for (let x = 0; x < columns; x++) {
    for (let r = 0; r < rows; r++) {
      const n = h.counts[x * rows + r] ?? 0;
      if (n > 0) pixels[(rows - 1 - r) * columns + x] = colours[Math.min(63, Math.floor(63 * Math.log1p(n) / full))]!;
    }
  }
  const tile = new OffscreenCanvas(columns, rows);
  tile.getContext("2d")!.putImageData(data, 0, 0);
  c.imageSmoothingEnabled = false;
  const left = xOf(b, h.start), right = xOf(b, h.start + h.width * columns);
  c.drawImage(tile, left, 0, right - left, b.height);
}

/** spanRow is how high a row of stretches is. */
export const spanRow = 20;

function drawSpans(c: CanvasRenderingContext2D, s: LaneSpans, b: Box): void {
  const p = palette(), start = s.start ?? [];
  c.font = font;
  c.textBaseline = "middle";
  for (let i = 0; i < start.length; i++) {
    const x0 = xOf(b, start[i]!), x1 = xOf(b, s.end![i]!), label = s.label?.[i], y = (s.row?.[i] ?? 0) * spanRow;
    if (label === undefined) {
      // A collection: how long it took, and above it how long it stopped the world.
      c.fillStyle = p.css("mark");
      c.fillRect(x0, b.height - 7, Math.max(1, x1 - x0), 7);
      const worst = s.worst?.[i];
      if (worst) {
        const high = Math.max(2, Math.min(1, Math.log10(worst / 1e3) / 4) * (b.height - 9));
        c.fillStyle = p.css("stw");
        c.fillRect(x0, b.height - 8 - high, 1, high);
      }
      continue;
    }
    if (start[i] === s.end![i]) {
      c.fillStyle = p.css("text");
      c.beginPath();
      c.moveTo(x0 - 4, y + 4);
      c.lineTo(x0 + 4, y + 4);
      c.lineTo(x0, y + 12);
      c.fill();
      // On the side that has the room, and shortened there: squeezed nobody can read it.
      const right = b.width - x0 - 8, before = x0 - 8 > right && !fits(c, label, right);
      const text = shorten(c, label, before ? x0 - 8 : right);
      c.fillText(text, before ? x0 - 6 - c.measureText(text).width : x0 + 6, y + spanRow / 2);
      continue;
    }
    const left = Math.max(0, x0), wide = Math.min(b.width, x1) - left;
    c.fillStyle = p.css("select");
    c.fillRect(left, y + 2, Math.max(1, wide - 1), spanRow - 4);
    c.fillStyle = p.css("accent");
    c.fillRect(x0, y + 2, 1, spanRow - 4);
    if (wide > 20) {
      c.save();
      c.beginPath();
      c.rect(left, y, wide - 3, spanRow);
      c.clip();
      c.fillStyle = p.css("text");
      c.fillText(label, left + 4, y + spanRow / 2 + 0.5);
      c.restore();
    }
  }
}
