/** Memory against the collector's share: a curve through settings, and points on or beside it. */
import { percent } from "../base/units.ts";
import { font } from "./axis.ts";
import { palette } from "./palette.ts";

/** TradeOff is a setting's peak heap, and the share of the Ps that the collector takes. */
export interface TradeOff {
  readonly gogc: number;
  readonly heap_mb: number;
  readonly share: number;
}

/** Point is one that is marked: round, or a square for what was measured. */
export interface Point {
  readonly at: TradeOff;
  readonly name: string;
  readonly round: boolean;
}

const foot = 18, side = 44;

/** drawTradeOffs draws megabytes to the right, logarithmic, and the share upwards. */
export function drawTradeOffs(c: CanvasRenderingContext2D, curve: readonly TradeOff[], points: readonly Point[], width: number, height: number): void {
  const p = palette(), all = [...curve, ...points.map((m) => m.at)].filter((t) => t.heap_mb > 0);
  c.clearRect(0, 0, width, height);
  if (!all.length) return;
  const least = Math.min(...all.map((t) => t.heap_mb)) / 1.1, most = Math.max(...all.map((t) => t.heap_mb)) * 1.1;
  const top = Math.max(0.01, ...all.map((t) => t.share)) * 1.15, floor = height - foot;
  const x = (t: TradeOff): number => side + Math.log(Math.max(t.heap_mb, least) / least) / Math.log(most / least) * (width - side - 12);
  const y = (share: number): number => floor - share / top * (floor - 6);
  c.font = font;
  const step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].find((s) => top / s <= 5) ?? 0.5;
  for (let share = 0; share <= top; share += step) {
    c.fillStyle = p.css("line");
    c.fillRect(side, Math.round(y(share)), width - side, 1);
    c.fillStyle = p.css("muted");
    c.textBaseline = "middle";
    if (share > 0) c.fillText(percent(share), 0, y(share));
  }
  c.textBaseline = "bottom";
  let free = 0;
  for (const t of curve) {
    const text = `${Math.round(t.heap_mb)} MB`, wide = c.measureText(text).width, left = Math.min(width - wide, x(t) - wide / 2);
    if (left < Math.max(free, side)) continue;
    c.fillStyle = p.css("muted");
    c.fillText(text, left, height);
    free = left + wide + 24;
  }
  c.strokeStyle = p.css("running");
  c.lineWidth = 2;
  c.lineJoin = "round";
  c.beginPath();
  for (const t of curve) c.lineTo(x(t), y(t.share));
  c.stroke();
  for (const t of curve) dot(c, x(t), y(t.share), 2.5, true, p.css("running"));
  for (const m of points) {
    const at = x(m.at), high = y(m.at.share);
    dot(c, at, high, 6, m.round, p.css(m.round ? "worse" : "text"));
    const wide = c.measureText(m.name).width, right = at + 12 + wide < width;
    c.fillStyle = p.css("text");
    c.textBaseline = "bottom";
    c.fillText(m.name, right ? at + 10 : at - 10 - wide, Math.max(14, high - (m.round ? 4 : -14)));
  }
}

function dot(c: CanvasRenderingContext2D, x: number, y: number, r: number, round: boolean, colour: string): void {
  c.fillStyle = colour;
  if (!round) {
    c.fillRect(x - r, y - r, 2 * r, 2 * r);
    return;
  }
  c.beginPath();
  c.arc(x, y, r, 0, 2 * Math.PI);
  c.fill();
}
