/** The cells of a heat map. */
import { palette } from "./palette.ts";

/** HeatGrid are counts, so many columns for each row, the lowest row first. */
export interface HeatGrid {
  readonly columns: number;
  readonly rows: number;
  readonly most: number;
  readonly cells: readonly number[];
}

/** paintHeat fills a canvas with the counts, darker where more are; one alone is seen. */
export function paintHeat(o: HeatGrid, c: CanvasRenderingContext2D, w: number, h: number): void {
  const p = palette(), shades: number[] = [];
  const most = Math.max(1, o.most);
  for (let i = 0; i <= 32; i++) shades.push(p.pixel("accent", "bg", 0.24 + 0.76 * i / 32));
  const image = new ImageData(o.columns, o.rows), to = new Uint32Array(image.data.buffer);
  for (let row = 0; row < o.rows; row++) {
    for (let col = 0; col < o.columns; col++) {
      const n = o.cells[row * o.columns + col]!;
      if (n > 0) to[(o.rows - 1 - row) * o.columns + col] = shades[most > 1 ? Math.round(Math.log(n) / Math.log(most) * 32) : 32]!;
    }
  }
  const buffer = document.createElement("canvas");
  buffer.width = o.columns;
  buffer.height = o.rows;
  buffer.getContext("2d")!.putImageData(image, 0, 0);
  c.clearRect(0, 0, w, h);
  c.imageSmoothingEnabled = false;
  c.drawImage(buffer, 0, 0, w, h);
}
