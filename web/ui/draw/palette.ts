/**
 * The colours of the theme as canvases need them. They come from the custom
 * properties of app/theme.css, and are read again when the theme has changed.
 */
import type { Texture } from "../model/lanes.ts";

export type { Texture };

/** Pattern is eight by eight pixels, row by row, as ImageData has them in a Uint32Array. */
export type Pattern = Uint32Array;

/** textures say which of eight by eight pixels are ink. */
export const textures: Record<Texture, (x: number, y: number) => boolean> = {
  solid: () => true,
  hatch: (x) => x % 4 !== 3,
  diagonal: (x, y) => (x + y) % 4 !== 0,
  sparse: (x, y) => (x - y + 8) % 8 > 1,
  dots: (x, y) => !(x % 4 === 0 && y % 8 === (x % 8 === 0 ? 2 : 6)),
  dashes: (x, y) => !(y % 8 === 3 && x % 8 < 5),
  check: (x, y) => (x % 8 === 0 && y % 8 === 0),
};

/** Palette is the colours of one theme. */
export class Palette {
  private readonly style = getComputedStyle(document.documentElement);
  private readonly texts = new Map<string, string>();
  private readonly patterns = new Map<string, Pattern>();

  constructor(readonly theme: string) {}

  /** css is the custom property --name. */
  css(name: string): string {
    let text = this.texts.get(name);
    if (text === undefined) {
      text = this.style.getPropertyValue("--" + name).trim() || "#808080";
      this.texts.set(name, text);
    }
    return text;
  }

  /** pixel is a colour as ImageData has it in a Uint32Array, where share of it lies over another one. */
  pixel(name: string, over = "bg", share = 1): number {
    const a = channels(this.css(name)), b = channels(this.css(over));
    const mix = (i: number): number => Math.round(b[i]! + (a[i]! - b[i]!) * share);
    return (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
  }

  /** pattern is a colour in a texture; between its strokes one sees less of it, over the ground. */
  pattern(name: string, texture: Texture = "solid", ground = "bg", between = 0.45): Pattern {
    const key = name + " " + texture + " " + ground + " " + between;
    let p = this.patterns.get(key);
    if (!p) {
      p = new Uint32Array(64);
      const ink = this.pixel(name, ground), gap = this.pixel(name, ground, between), drawn = textures[texture];
      for (let i = 0; i < 64; i++) p[i] = drawn(i & 7, i >> 3) ? ink : gap;
      this.patterns.set(key, p);
    }
    return p;
  }
}

/** channels reads "#rgb", "#rrggbb" or "rgb(1, 2, 3)". */
export function channels(css: string): [number, number, number] {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(css)?.[1];
  if (hex) {
    const wide = hex.length === 3 ? hex.replace(/./g, "$&$&") : hex;
    return [0, 2, 4].map((i) => parseInt(wide.slice(i, i + 2), 16)) as [number, number, number];
  }
  const parts = css.match(/[\d.]+/g)?.map(Number) ?? [];
  return [parts[0] ?? 128, parts[1] ?? 128, parts[2] ?? 128];
}

let last: Palette | null = null;

/** palette is that of the theme that the page has now. Ask for it when drawing. */
export function palette(): Palette {
  const theme = document.documentElement.dataset["theme"] ?? "";
  if (last?.theme !== theme) last = new Palette(theme);
  return last;
}
