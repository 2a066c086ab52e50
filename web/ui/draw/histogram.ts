/** Bars of a distribution over time classes that grow, and curves over lengths of time: both with logarithmic axes. */
import { duration } from "../base/units.ts";
import { font } from "./axis.ts";
import { palette } from "./palette.ts";

/** Histogram counts durations in classes. */
export interface Histogram {
  readonly from: readonly (number | null)[];
  readonly to: readonly (number | null)[];
  readonly count: readonly (number | null)[];
}

/** Mark is a value that is marked on the axis. */
export interface Mark {
  readonly name: string;
  readonly at: number;
}

const foot = 18, head = 14;

/** scaleOf maps durations to pixels, by their logarithm. */
function scaleOf(low: number, high: number, width: number): (v: number) => number {
  const a = Math.log(Math.max(1, low)), b = Math.log(Math.max(2, high));
  return (v) => (Math.log(Math.max(1, v)) - a) / Math.max(1e-9, b - a) * width;
}

/** powers labels the powers of ten between two durations. */
function powers(c: CanvasRenderingContext2D, low: number, high: number, x: (v: number) => number, width: number, height: number): void {
  const p = palette();
  c.font = font;
  c.textBaseline = "bottom";
  for (let e = Math.ceil(Math.log10(Math.max(1, low))); 10 ** e <= high; e++) {
    const at = Math.round(x(10 ** e)), text = duration(10 ** e).replace(/\.0+(?= )/, "");
    c.fillStyle = p.css("control");
    c.fillRect(at, height - foot, 1, 4);
    c.fillStyle = p.css("muted");
    if (at + 5 + c.measureText(text).width < width) c.fillText(text, at + 3, height - 1);
  }
}

/** drawHistogram draws bars whose height is the square root of the count: one is visible beside a million. Marks are lines with names. */
export function drawHistogram(c: CanvasRenderingContext2D, h: Histogram, marks: readonly Mark[], colour: string, width: number, height: number): void {
  const p = palette(), n = h.from.length;
  c.clearRect(0, 0, width, height);
  if (n === 0) return;
  const low = Math.max(1, h.from[0] ?? 1), high = Math.max(low * 1.25, h.to[n - 1] ?? low), x = scaleOf(low, high, width);
  let most = 0;
  for (const v of h.count) most = Math.max(most, v ?? 0);
  const floor = height - foot;
  c.fillStyle = p.css(colour);
  for (let i = 0; i < n; i++) {
    const v = h.count[i] ?? 0;
    if (v === 0) continue;
    const left = x(Math.max(low, h.from[i] ?? low)), right = x(h.to[i] ?? high), tall = Math.max(1, Math.sqrt(v / most) * (floor - head));
    c.fillRect(left, floor - tall, Math.max(1, right - left - 1), tall);
  }
  c.fillStyle = p.css("control");
  c.fillRect(0, floor, width, 1);
  powers(c, low, high, x, width, height);
  c.textBaseline = "top";
  // From the right: a name that has no room is left out, its line stays.
  let free = width;
  for (const m of [...marks].reverse()) {
    const at = Math.min(width - 1, Math.max(0, Math.round(x(m.at))));
    c.fillStyle = p.css("text");
    for (let y = head; y < floor; y += 4) c.fillRect(at, y, 1, 2);
    const wide = c.measureText(m.name).width, left = Math.max(0, Math.min(free - wide - 6, at - wide / 2));
    if (left + wide < at - 24 || left + wide > free) continue;
    c.fillText(m.name, left, 1);
    free = left;
  }
}

/** Curve is shares from 0 to 1 over lengths of time. */
export interface Curve {
  readonly colour: string;
  readonly dash: readonly number[];
  readonly values: readonly (number | null)[];
}

/** drawCurves draws curves over the same lengths, with a grid of quarters. */
export function drawCurves(c: CanvasRenderingContext2D, at: readonly (number | null)[], curves: readonly Curve[], width: number, height: number): void {
  const p = palette(), n = at.length, floor = height - foot;
  c.clearRect(0, 0, width, height);
  if (n === 0) return;
  const low = at[0] ?? 1, high = at[n - 1] ?? 1, x = scaleOf(low, high, width), y = (v: number): number => 4 + (1 - v) * (floor - 4);
  c.font = font;
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    c.fillStyle = p.css("line");
    c.fillRect(0, Math.round(y(share)), width, 1);
    c.fillStyle = p.css("muted");
    c.textBaseline = share === 1 ? "top" : "bottom";
    if (share > 0) c.fillText(share * 100 + "%", 2, Math.round(y(share)) + (share === 1 ? 2 : 0));
  }
  powers(c, low, high, x, width, height);
  c.lineJoin = "round";
  for (const k of curves) {
    c.strokeStyle = p.css(k.colour);
    c.lineWidth = 2;
    c.setLineDash([...k.dash]);
    c.beginPath();
    for (let i = 0; i < n; i++) {
      const v = k.values[i];
      if (v !== null && v !== undefined) c.lineTo(x(at[i] ?? 1), y(v));
    }
    c.stroke();
    c.setLineDash([]);
  }
}
