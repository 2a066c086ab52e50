/** What lies over the lanes: the range, stop-the-world, what is chosen and who woke whom. */
import type { Span, Time } from "../../base/units.ts";
import { exact } from "../../base/units.ts";
import { font, sharp } from "../../draw/axis.ts";
import { palette } from "../../draw/palette.ts";
import type { Pen } from "../../draw/svg.ts";
import { toX } from "../../model/viewport.ts";
import type { Row, Stage } from "./stage.ts";

/** Arrow leads from who woke to who was woken. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly t: Time;
  readonly label: string;
}

/** Over is what is to be drawn. */
export interface Over {
  range: Span | null;
  /** brush is the range that is being dragged out. */
  brush: Span | null;
  /** hover is where the pointer is. */
  hover: Time | null;
  /** cursor is the row and the instant that the keyboard is at. */
  cursor: { key: string; t: Time } | null;
  focused: boolean;
  chosen: { key: string; span: Span } | null;
  arrows: readonly Arrow[];
  marks: readonly Time[];
}

/** mostStops is how many stop-the-world phases may be seen for each to have its rule. */
const mostStops = 40;

export class Overlay {
  private stops: number[] = [];
  private stopsOf = "";

  constructor(private readonly canvas: HTMLCanvasElement) {}

  draw(stage: Stage, o: Over): void {
    this.drawOn(sharp(this.canvas, stage.view.width, stage.height), stage, o);
  }

  /** drawOn draws on something else than the page. */
  drawOn(c: Pen, stage: Stage, o: Over): void {
    const { view, height } = stage, { width } = view, p = palette();
    c.clearRect(0, 0, width, height);
    if (!stage.lanes.info) return;
    const x = (t: Time): number => toX(view, t);
    for (const s of this.stopsSeen(stage)) {
      c.fillStyle = p.css("stw");
      c.globalAlpha = 0.22;
      c.fillRect(s, 0, 1, height);
      c.globalAlpha = 1;
    }
    for (const [s, ground] of [[o.range, 0.08], [o.brush, 0.2]] as const) {
      if (!s) continue;
      const a = Math.max(-2, x(s.start)), b = Math.min(width + 2, x(s.end));
      if (b < 0 || a > width) continue;
      c.fillStyle = p.css("accent");
      c.globalAlpha = ground;
      c.fillRect(a, 0, b - a, height);
      c.globalAlpha = 1;
      c.fillRect(Math.round(a), 0, 1, height);
      c.fillRect(Math.round(b), 0, 1, height);
    }
    for (const m of o.marks) {
      c.fillStyle = p.css("critical");
      c.fillRect(Math.round(x(m)), 0, 1, height);
    }
    const rows = stage.rows();
    const rowOf = (key: string): Row | undefined => rows.find((r) => r.lane?.key === key && (r.pinned || r.at >= stage.lanes.pinned.height - 4));
    if (o.hover !== null) {
      c.fillStyle = p.css("text");
      c.globalAlpha = 0.35;
      c.fillRect(Math.round(x(o.hover)), 0, 1, height);
      c.globalAlpha = 1;
    }
    if (o.chosen) {
      const r = rowOf(o.chosen.key);
      if (r) {
        const a = Math.max(-3, x(o.chosen.span.start)), b = Math.min(width + 3, Math.max(x(o.chosen.span.end), a + 2));
        c.strokeStyle = p.css("bg");
        c.lineWidth = 4;
        c.strokeRect(a, r.at + 1, b - a, r.block.height - 3);
        c.strokeStyle = p.css("ring");
        c.lineWidth = 2;
        c.strokeRect(a, r.at + 1, b - a, r.block.height - 3);
      }
    }
    for (const a of o.arrows) this.arrow(c, stage, a, rowOf);
    if (o.cursor && o.focused) {
      const r = rowOf(o.cursor.key);
      if (r) {
        c.strokeStyle = p.css("ring");
        c.lineWidth = 1;
        c.setLineDash([4, 3]);
        c.strokeRect(0.5, r.at - 0.5, width - 1, r.block.height);
        c.setLineDash([]);
        c.fillStyle = p.css("ring");
        const at = Math.round(x(o.cursor.t));
        c.beginPath();
        c.moveTo(at - 5, r.at - 1);
        c.lineTo(at + 5, r.at - 1);
        c.lineTo(at, r.at + 6);
        c.fill();
      }
    }
    if (o.hover !== null && !o.brush) this.instant(c, x(o.hover), exact(Math.round(o.hover)), width);
    if (o.brush) this.instant(c, Math.min(width, x(o.brush.end)), exact(o.brush.end - o.brush.start), width);
  }

  /** instant says at the top when something is. */
  private instant(c: Pen, x: number, text: string, width: number): void {
    const p = palette();
    c.font = font;
    c.textBaseline = "middle";
    const w = c.measureText(text).width + 8, at = Math.min(Math.max(0, x + 4), width - w);
    c.fillStyle = p.css("raised");
    c.fillRect(at, 0, w, 16);
    c.strokeStyle = p.css("line");
    c.lineWidth = 1;
    c.strokeRect(at + 0.5, 0.5, w - 1, 15);
    c.fillStyle = p.css("text");
    c.fillText(text, at + 4, 8.5);
  }

  /** arrow goes from lane to lane; one that is not seen is shown by an arrow to the edge with its name. */
  private arrow(c: Pen, stage: Stage, a: Arrow, rowOf: (key: string) => Row | undefined): void {
    const from = rowOf(a.from), to = rowOf(a.to), p = palette(), at = toX(stage.view, a.t);
    if (!from && !to || at < -20 || at > stage.view.width + 20) return;
    const middle = (r: Row): number => r.at + r.block.height / 2;
    const y0 = from ? middle(from) : to ? Math.max(14, middle(to) - 34) : 0, y1 = to ? middle(to) : from ? Math.min(stage.height - 8, middle(from) + 34) : 0;
    const bend = from && to ? 14 : 8;
    for (const [colour, wide] of [[p.css("bg"), 4], [p.css("worse"), 1.75]] as const) {
      c.strokeStyle = colour;
      c.fillStyle = colour;
      c.lineWidth = wide;
      c.beginPath();
      c.moveTo(at - (from ? 0 : bend), y0);
      c.bezierCurveTo(at - bend, y0 + (y1 - y0) * 0.3, at - bend, y0 + (y1 - y0) * 0.7, at, y1);
      c.stroke();
      const s = wide > 2 ? 6 : 5, up = y1 < y0 ? -1 : 1;
      c.beginPath();
      c.moveTo(at + 1, y1);
      c.lineTo(at - s, y1 - s * up * 0.4);
      c.lineTo(at - s * 0.2, y1 - s * up * 1.2);
      c.fill();
    }
    const text = from && to ? "" : a.label;
    if (!text) return;
    c.font = font;
    c.textBaseline = "middle";
    c.lineWidth = 3;
    c.strokeStyle = p.css("bg");
    const y = from ? y1 + 2 : y0;
    c.strokeText(text, at + 6, y);
    c.fillStyle = p.css("text");
    c.fillText(text, at + 6, y);
  }

  /** stopsSeen are the pixels with stop-the-world in them, none when they are many. */
  private stopsSeen(stage: Stage): readonly number[] {
    const of = stage.view.start + " " + stage.view.perPx + " " + stage.view.width + " " + stage.cache.stamp;
    if (of === this.stopsOf) return this.stops;
    this.stopsOf = of;
    this.stops = [];
    const lane = stage.lanes.few("gc")[0];
    if (!lane) return this.stops;
    const c = stage.look(lane, stage.seen, stage.view.width);
    for (let i = 0; i < c.width; i++) if ((c.present[i]! & 2) !== 0) this.stops.push(i);
    // A long one is a stretch, of which the first pixel is the rule.
    const begins = this.stops.filter((v, i) => i === 0 || this.stops[i - 1] !== v - 1);
    this.stops = begins.length <= mostStops ? begins : [];
    return this.stops;
  }
}
