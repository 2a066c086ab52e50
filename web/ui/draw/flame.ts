/** The boxes of a flame graph: pixels first, then their names. */
import { fits, font, sharp, shorten } from "./axis.ts";
import { channels, palette } from "./palette.ts";

/** Box is one rectangle to draw; x and w are in CSS pixels, row is its level. */
export interface FlameBox {
  readonly x: number;
  readonly w: number;
  readonly row: number;
  readonly label: string;
  /** prefix stands before the label and is never cut. */
  readonly prefix: string;
  /** colour is a custom property; share of it lies over another, "bg" to dim it. */
  readonly colour: string;
  readonly share: number;
  readonly over: string;
  /** vary makes neighbours of one colour differ a little, from -1 to 1. */
  readonly vary: number;
  readonly hatch: boolean;
  /** joined boxes have no gap to the one above: the call was inlined. */
  readonly joined: boolean;
  /** mark is what the box is outlined for: a hit of the search, the chosen function, the one under the cursor. */
  readonly mark: "" | "hit" | "chosen" | "here";
  /** dim boxes are there for their place alone: what is above the one zoomed into. */
  readonly dim: boolean;
}

/** rowHeight is the height of a level in CSS pixels. */
export const rowHeight = 20;

/** drawFlame draws the boxes whose rows are in sight. */
export function drawFlame(canvas: HTMLCanvasElement, boxes: readonly FlameBox[], width: number, height: number, top: number): void {
  const c = sharp(canvas, width, height), ratio = devicePixelRatio || 1, p = palette();
  const wide = canvas.width, high = canvas.height;
  const image = c.createImageData(wide, high), pixels = new Uint32Array(image.data.buffer);
  pixels.fill(p.pixel("bg"));
  const colours = new Map<string, number>();
  const colourOf = (b: FlameBox, between: boolean): number => {
    const vary = Math.round(b.vary * 4), key = b.colour + b.share.toFixed(2) + b.over + vary + between + b.dim;
    let v = colours.get(key);
    if (v === undefined) {
      const a = channels(p.css(b.colour)), o = channels(p.css(b.over)), g = channels(p.css("bg"));
      const mix = (i: number): number => {
        let x = o[i]! + (a[i]! - o[i]!) * b.share;
        x = Math.max(0, Math.min(255, x * (1 + 0.04 * vary / 4)));
        if (b.dim) x = g[i]! + (x - g[i]!) * 0.45;
        return Math.round(between ? x + (g[i]! - x) * 0.3 : x);
      };
      v = (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
      colours.set(key, v);
    }
    return v;
  };
  const seen: FlameBox[] = [];
  for (const b of boxes) {
    const y0 = b.row * rowHeight - top;
    if (y0 + rowHeight <= 0 || y0 >= height || b.w <= 0) continue;
    seen.push(b);
    const gap = b.joined ? 0 : 1;
    const fromX = Math.max(0, Math.round(b.x * ratio)), toX = Math.min(wide, Math.max(fromX + 1, Math.round((b.x + b.w) * ratio) - (b.w > 2 ? Math.round(ratio) : 0)));
    const fromY = Math.max(0, Math.round((y0 + gap) * ratio)), toY = Math.min(high, Math.round((y0 + rowHeight) * ratio));
    const ink = colourOf(b, false), pale = b.hatch ? colourOf(b, true) : ink, period = Math.round(6 * ratio), stripe = Math.round(3 * ratio);
    for (let y = fromY; y < toY; y++) {
      if (!b.hatch) pixels.fill(ink, y * wide + fromX, y * wide + toX);
      else for (let x = fromX; x < toX; x++) pixels[y * wide + x] = (x + y) % period < stripe ? ink : pale;
    }
  }
  c.putImageData(image, 0, 0);
  c.font = font.replace("11px", "12px");
  c.textBaseline = "middle";
  for (const b of seen) {
    const y = b.row * rowHeight - top, x = Math.max(0, b.x), w = Math.min(width, b.x + b.w) - x;
    if (b.mark === "hit") {
      c.fillStyle = p.css("f-text");
      c.fillRect(x, y + rowHeight - 3, Math.max(1, w - 1), 3);
    } else if (b.mark) {
      c.strokeStyle = p.css(b.mark === "here" ? "ring" : "text");
      c.lineWidth = b.mark === "here" ? 3 : 2;
      c.strokeRect(x + 1, y + 2, Math.max(1, w - 3), rowHeight - 3);
    }
    if (w < 22) continue;
    c.fillStyle = p.css(b.dim ? "text" : "f-text");
    c.fillText(fit(c, b.prefix, b.label, w - 8), x + 4, y + rowHeight / 2 + 1);
  }
}

/** fit shortens a name so that what tells it from others stays: first the path of its package goes, then its end. */
function fit(c: CanvasRenderingContext2D, prefix: string, text: string, width: number): string {
  if (fits(c, prefix + text, width)) return prefix + text;
  const short = shorten(c, prefix + text.slice(text.lastIndexOf("/") + 1), width, prefix.length + 1);
  return short || (prefix && fits(c, prefix.trim(), width) ? prefix.trim() : "");
}
