/** The whole trace in one strip: how busy the Ps are, where stop-the-world was, what part of it is seen. */
import type { Span } from "../../base/units.ts";
import { sharp } from "../../draw/axis.ts";
import { drawStates, style, type Style } from "../../draw/states.ts";
import { palette, type Palette } from "../../draw/palette.ts";
import { addPieces, Columns, Grids, rest } from "../../model/columns.ts";
import { classesOf } from "../../model/lanes.ts";
import type { Piece } from "../../model/tilecache.ts";
import type { Stage } from "./stage.ts";

/** minimapHeight is how high the strip is. */
export const minimapHeight = 36;

export class Minimap {
  private image: ImageData | null = null;
  private readonly ground = document.createElement("canvas");
  private drawnOf = "";
  private stamp = -1;
  private theme: Palette | null = null;
  private style: Style | null = null;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  /** draw draws it for a range and marks; the ground only when it may be another one. */
  draw(stage: Stage, range: Span | null, marks: readonly number[]): void {
    const { width } = stage.view, { all } = stage, p = palette();
    const c = sharp(this.canvas, width, minimapHeight);
    if (this.stamp !== stage.cache.stamp || this.theme !== p || this.image?.width !== width) this.paint(stage, p);
    c.clearRect(0, 0, width, minimapHeight);
    c.imageSmoothingEnabled = false;
    if (this.image) c.drawImage(this.ground, 0, 0);
    const x = (t: number): number => (t - all.start) / (all.end - all.start) * width;
    const { start, end } = stage.seen;
    const a = Math.max(0, x(start)), b = Math.min(width, x(end));
    c.fillStyle = p.css("bg");
    c.globalAlpha = 0.65;
    c.fillRect(0, 0, a, minimapHeight);
    c.fillRect(b, 0, width - b, minimapHeight);
    c.globalAlpha = 1;
    if (range) {
      c.fillStyle = p.css("accent");
      c.globalAlpha = 0.22;
      c.fillRect(x(range.start), 0, Math.max(1, x(range.end) - x(range.start)), minimapHeight);
      c.globalAlpha = 1;
      c.fillRect(x(range.start), minimapHeight - 3, Math.max(2, x(range.end) - x(range.start)), 3);
    }
    c.fillStyle = p.css("critical");
    for (const m of marks) c.fillRect(Math.round(x(m)), 0, 1, minimapHeight);
    c.strokeStyle = p.css("text");
    c.lineWidth = 1.5;
    // A window of less than two pixels is seen as one of two.
    const w = Math.max(2, b - a);
    c.strokeRect(Math.min(a, width - w) + 0.75, 0.75, Math.max(0.5, w - 1.5), minimapHeight - 1.5);
  }

  private paint(stage: Stage, p: Palette): void {
    const { width } = stage.view, info = stage.lanes.info;
    if (!info || width <= 0) return;
    const lanes = stage.lanes.few("proc");
    const w = { from: stage.own(stage.all.start), perPx: (stage.all.end - stage.all.start) / width / stage.rate, width };
    const level = Math.round(Math.log2(w.perPx)), pieces: Piece[] = [];
    for (const l of lanes) pieces.push(...stage.cache.pieces(l, level, w.from, w.from + w.perPx * width, false));
    this.stamp = stage.cache.stamp;
    if (this.theme !== p || !this.style) {
      this.theme = p;
      this.style = style(classesOf.proc.map((k) => ({ ...k, rare: false, name: k.name === "syscall" ? "syscalls" : k.name })), p, false); // marks would cover it
      this.drawnOf = "";
    }
    const of = width + " " + pieces.map((q) => q.tile.lane + "/" + q.tile.level + "/" + q.tile.index + "/" + q.tile.bytes).join(" ");
    if (of === this.drawnOf) return;
    this.drawnOf = of;
    const c = new Columns(width);
    c.clear();
    addPieces(c, pieces, new Grids(w));
    const n = Math.max(1, lanes.length);
    for (let k = 0; k <= rest; k++) for (let x = 0; x < width; x++) c.time[k]![x]! /= n;
    for (let x = 0; x < width; x++) c.known[x] = c.known[x]! > 0 ? 1 : 0;
    this.image = new ImageData(width, minimapHeight);
    drawStates({ width, height: minimapHeight, pixels: new Uint32Array(this.image.data.buffer) }, c, this.style);
    this.ground.width = width;
    this.ground.height = minimapHeight;
    this.ground.getContext("2d")!.putImageData(this.image, 0, 0);
  }
}
