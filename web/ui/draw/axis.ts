/** The axis of time: where its ticks are, what they say, and how it is drawn. */
import { instant, type Span, type Time } from "../base/units.ts";
import { palette } from "./palette.ts";
import type { Pen } from "./svg.ts";

/** Tick is one place of the axis that is marked. */
export interface Tick {
  readonly t: Time;
  /** x is where it is, in pixels from the left. */
  readonly x: number;
  readonly label: string;
}

/** step is the least of 1, 2 and 5 times a power of ten that is at least so much. */
export function step(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const f of [1, 2, 5]) {
    if (f * power >= least * (1 - 1e-9)) return f * power;
  }
  return 10 * power;
}

/** ticks are the round instants of a stretch of time that is so many pixels wide. */
export function ticks(span: Span, width: number): Tick[] {
  const length = span.end - span.start;
  if (!(length > 0) || !(width > 0)) return [];
  // Labels have as many digits as the distance of ticks asks for, and that
  // distance depends on the labels.
  let gap = 80;
  for (let round = 0; round < 3; round++) {
    const s = Math.max(1, step(length / width * gap));
    const wide = Math.max(instant(span.start, s * 10).length, instant(span.end, s * 10).length) * 7 + 20;
    if (wide <= s / length * width) break;
    gap = wide;
  }
  const s = Math.max(1, step(length / width * gap));
  const out: Tick[] = [];
  for (let n = Math.ceil(span.start / s); n * s < span.end; n++) {
    const t = n * s;
    out.push({ t, x: (t - span.start) / length * width, label: instant(t, s * 10) });
  }
  return out;
}

/** sharp sizes a canvas so that a pixel of it is one of the screen, and returns what draws on it in CSS pixels. */
export function sharp(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1, w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const c = canvas.getContext("2d")!;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  return c;
}

/** font is that of labels on canvases. */
export const font = "11px system-ui, 'Segoe UI', Roboto, sans-serif";

/** fits tells whether a text is at most so wide, without measuring short ones. */
export function fits(c: Pick<CanvasRenderingContext2D, "measureText">, text: string, width: number): boolean {
  return text.length * 12 <= width || c.measureText(text).width <= width;
}

/** shorten cuts the end of a text that is too wide; "" where not more than least letters would stay. */
export function shorten(c: Pick<CanvasRenderingContext2D, "measureText">, text: string, width: number, least = 1): string {
  if (fits(c, text, width)) return text;
  // A letter has five pixels or more: begin near the truth, for this is most of the time.
  let n = Math.min(text.length, Math.ceil(width / 5));
  while (n > least && c.measureText(text.slice(0, n) + "…").width > width) n--;
  return n > least ? text.slice(0, n) + "…" : "";
}

/** drawAxis draws ticks with their labels into a strip of the canvas. */
export function drawAxis(c: Pen, span: Span, width: number, height: number): void {
  const p = palette();
  c.clearRect(0, 0, width, height);
  c.font = font;
  c.textBaseline = "middle";
  c.fillStyle = p.css("line");
  c.fillRect(0, height - 1, width, 1);
  for (const t of ticks(span, width)) {
    c.fillStyle = p.css("control");
    c.fillRect(Math.round(t.x), height - 6, 1, 6);
    c.fillStyle = p.css("muted");
    // Beside the tick, so that the first and the last one are whole too.
    if (t.x + t.label.length * 6 < width) c.fillText(t.label, Math.round(t.x) + 4, height / 2 - 1);
  }
}
