/** A drawing as SVG: what draws on a canvas draws on it too, and it stays sharp at any size. */
import { font } from "./axis.ts";
import { textures, type Palette, type Texture } from "./palette.ts";

/** Pen is the part of a canvas that labels, axes and arrows are drawn with. */
export type Pen = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textBaseline" |
  "clearRect" | "fillRect" | "strokeRect" | "fillText" | "strokeText" | "measureText" | "beginPath" | "moveTo" | "lineTo" | "bezierCurveTo" | "fill" | "stroke" | "setLineDash">;

/** safe is a text as XML may have it: what a name has in it is never markup, nor a character that no reader takes. */
export function safe(text: string): string {
  return text.replace(/[\p{Cs}\p{Cc}\ufffe\uffff]/gu, "\ufffd").replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

const round = (n: number): string => String(Math.round(n * 100) / 100);

/** hex is a pixel of ImageData as a colour. */
const hex = (v: number): string => "#" + [v & 255, v >> 8 & 255, v >> 16 & 255].map((b) => b.toString(16).padStart(2, "0")).join("");

/** SVG collects a drawing. */
export class SVG implements Pen {
  fillStyle: string | CanvasGradient | CanvasPattern = "#000";
  strokeStyle: string | CanvasGradient | CanvasPattern = "#000";
  lineWidth = 1;
  globalAlpha = 1;
  font = font;
  textBaseline: CanvasTextBaseline = "middle";
  private readonly out: string[] = [];
  private readonly patterns = new Map<string, string>();
  private readonly ruler = document.createElement("canvas").getContext("2d")!;
  private path = "";
  private dash: readonly number[] = [];

  constructor(readonly width: number, readonly height: number, private readonly palette: Palette) {}

  /** fill of a class: its colour in its texture. */
  texture(colour: string, texture: Texture, between = 0.45): string {
    if (texture === "solid") return this.palette.css(colour);
    const key = `${colour}-${texture}`;
    if (!this.patterns.has(key)) {
      let d = "";
      for (let y = 0; y < 8; y++) for (let x = 0; x < 8; x++) if (textures[texture](x, y)) d += `M${x} ${y}h1v1h-1z`;
      const paint = (share: number): string => hex(this.palette.pixel(colour, "bg", share));
      this.patterns.set(key, `<pattern id="${key}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${paint(between)}"/><path d="${d}" fill="${paint(1)}"/></pattern>`);
    }
    return `url(#${key})`;
  }

  /** shade is a colour of which a share lies over the ground. */
  shade(colour: string, share: number): string {
    return hex(this.palette.pixel(colour, "bg", share));
  }

  /** area fills a path; what it shows is told where a reader points. */
  area(d: string, fill: string, title = ""): void {
    if (d) this.out.push(`<path d="${d}" fill="${fill}"${title ? `><title>${safe(title)}</title></path>` : "/>"}`);
  }

  /** part draws what belongs together, moved and cut to a box. */
  part(x: number, y: number, width: number, height: number, draw: () => void): void {
    this.out.push(`<svg x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}">`);
    draw();
    this.out.push("</svg>");
  }

  private put(shape: string, stroked: boolean): void {
    const how = stroked ? `fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"${this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}` : `fill="${this.fillStyle}"`;
    this.out.push(`<${shape} ${how}${this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : ""}/>`);
  }

  private rectangle(x: number, y: number, w: number, h: number, stroked: boolean): void {
    if (w > 0 && h > 0) this.put(`rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"`, stroked);
  }

  private text(text: string, x: number, y: number, stroked: boolean): void {
    const how = stroked ? `fill="none" stroke="${this.strokeStyle}" stroke-width="${round(this.lineWidth)}"` : `fill="${this.fillStyle}"`;
    // The middle of letters is a third of their size above the line that they stand on.
    this.out.push(`<text x="${round(x)}" y="${round(y + (this.textBaseline === "middle" ? parseFloat(this.font) * 0.34 : 0))}" ${how}>${safe(text)}</text>`);
  }

  clearRect(): void {}
  fillRect(x: number, y: number, w: number, h: number): void { this.rectangle(x, y, w, h, false); }
  strokeRect(x: number, y: number, w: number, h: number): void { this.rectangle(x, y, w, h, true); }
  fillText(text: string, x: number, y: number): void { this.text(text, x, y, false); }
  strokeText(text: string, x: number, y: number): void { this.text(text, x, y, true); }
  beginPath(): void { this.path = ""; }
  moveTo(x: number, y: number): void { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x: number, y: number): void { this.path += `L${round(x)} ${round(y)}`; }
  bezierCurveTo(...p: [number, number, number, number, number, number]): void { this.path += "C" + p.map(round).join(" "); }
  fill(): void { this.put(`path d="${this.path}"`, false); }
  stroke(): void { this.put(`path d="${this.path}"`, true); }
  setLineDash(dash: number[]): void { this.dash = dash; }

  measureText(text: string): TextMetrics {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  /** file is the whole drawing, which needs nothing else. */
  file(title: string): string {
    const family = this.font.slice(this.font.indexOf(" ") + 1).replaceAll('"', "'");
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(this.width)}" height="${round(this.height)}" viewBox="0 0 ${round(this.width)} ${round(this.height)}" font-family="${family}" font-size="${parseFloat(this.font)}" shape-rendering="crispEdges">` +
      `<title>${safe(title)}</title><defs>${[...this.patterns.values()].join("")}</defs><rect width="100%" height="100%" fill="${this.palette.css("bg")}"/>\n${this.out.join("\n")}\n</svg>\n`;
  }
}

/** Area is the outline of columns between two heights; neighbours that are alike become one. */
export class Area {
  private d = "";
  private from = 0;
  private to = 0;
  private top = "";
  private bottom = "";

  /** put adds the column x. */
  put(x: number, top: number, bottom: number): void {
    const a = round(top), b = round(bottom);
    if (a === b) return;
    if (x === this.to && a === this.top && b === this.bottom) {
      this.to = x + 1;
      return;
    }
    this.end();
    this.from = x;
    this.to = x + 1;
    this.top = a;
    this.bottom = b;
  }

  private end(): void {
    if (this.to > this.from) this.d += `M${this.from} ${this.top}H${this.to}V${this.bottom}H${this.from}z`;
  }

  done(): string {
    this.end();
    this.to = this.from;
    return this.d;
  }
}
