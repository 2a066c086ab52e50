/**
 * What part of the axis is seen, and how wide: instants to pixels and back.
 * Values; every change makes a new one.
 */
import type { Span, Time } from "../base/units.ts";

/** finest is the shortest time that a pixel may be: a trace's clock ticks every 64 ns. */
const finest = 0.5;

export interface Viewport {
  /** start is the instant at the left edge; it may lie between two nanoseconds. */
  readonly start: Time;
  /** perPx is how many ns a pixel is. */
  readonly perPx: number;
  /** width is in CSS pixels. */
  readonly width: number;
}

/** fit shows a span, with a margin that is a share of it on either side. */
export function fit(s: Span, width: number, margin = 0): Viewport {
  width = Math.max(1, width);
  const length = Math.max(s.end - s.start, finest * width), pad = length * margin;
  const middle = (s.start + s.end) / 2;
  return { start: middle - length / 2 - pad, perPx: (length + 2 * pad) / width, width };
}

/** seen is the span that a viewport shows. */
export function seen(v: Viewport): Span {
  return { start: v.start, end: v.start + v.perPx * v.width };
}

/** toX is where an instant lies. The difference is taken first: it is exact where the instants are large and near. */
export function toX(v: Viewport, t: Time): number {
  return (t - v.start) / v.perPx;
}

/** toTime is the instant at a pixel. */
export function toTime(v: Viewport, x: number): Time {
  return v.start + x * v.perPx;
}

/** clamp keeps a viewport where there is something: at least a part of it within all, and no wider than all and a tenth. */
export function clamp(v: Viewport, all: Span): Viewport {
  const length = Math.max(all.end - all.start, finest * v.width);
  const perPx = Math.min(Math.max(v.perPx, finest), length * 1.1 / v.width);
  const window = perPx * v.width;
  const slack = Math.max(0, Math.min(window * 0.5, window - length * 0.5), (window - length) / 2);
  const low = all.start - slack, high = all.end + slack - window;
  const start = low > high ? (low + high) / 2 : Math.min(Math.max(v.start, low), high);
  return start === v.start && perPx === v.perPx ? v : { start, perPx, width: v.width };
}

/** zoom makes the seen span so many times as long; what is at x stays there. */
export function zoom(v: Viewport, factor: number, x: number): Viewport {
  const perPx = Math.max(finest, v.perPx * factor);
  return { start: v.start + x * (v.perPx - perPx), perPx, width: v.width };
}

/** pan moves the seen span by so many pixels. */
export function pan(v: Viewport, px: number): Viewport {
  return { ...v, start: v.start + px * v.perPx };
}

/** resize shows the same span in another width. */
export function resize(v: Viewport, width: number): Viewport {
  return width === v.width || width <= 0 ? v : { start: v.start, perPx: v.perPx * v.width / width, width };
}

/** reveal moves a viewport so that an instant is well within it; it stays where it is when the instant is already. */
export function reveal(v: Viewport, t: Time): Viewport {
  const x = toX(v, t);
  return x >= v.width * 0.05 && x <= v.width * 0.95 ? v : { ...v, start: t - v.perPx * v.width / 2 };
}
