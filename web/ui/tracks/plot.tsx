/** A picture with two axes: what is drawn in it is given; it has a cursor, a brush over time, and keys for both. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { say } from "../base/dom.ts";
import { sharp } from "../draw/axis.ts";
import { theme } from "../model/theme.ts";
import { slop } from "./brush.ts";
import { useWidth } from "./axis.tsx";

/** Scale maps values from one end of an axis to the other. */
export interface Scale {
  readonly from: number;
  readonly to: number;
  readonly log?: boolean;
}

export interface Mark {
  readonly at: number;
  readonly label: string;
}

/** share is where a value lies on a scale, 0 at its begin and 1 at its end. */
export function share(s: Scale, v: number): number {
  if (s.log) return Math.log(Math.max(v, 1e-9) / s.from) / Math.log(s.to / s.from);
  return (v - s.from) / (s.to - s.from || 1);
}

/** valueAt is the inverse of share. */
export function valueAt(s: Scale, part: number): number {
  return s.log ? s.from * (s.to / s.from) ** part : s.from + (s.to - s.from) * part;
}

/** logMarks are the round values of a logarithmic scale: 1, 2 and 5 of each power of ten while there is room. */
export function logMarks(s: Scale, print: (v: number) => string, most: number): Mark[] {
  for (const digits of [[1, 2, 5], [1, 3], [1]]) {
    const out: Mark[] = [];
    for (let power = 10 ** Math.floor(Math.log10(s.from)); power <= s.to; power *= 10) {
      for (const d of digits) {
        if (d * power >= s.from && d * power <= s.to) out.push({ at: d * power, label: print(d * power) });
      }
    }
    if (out.length <= most || digits.length === 1) return out;
  }
  return [];
}

/** linearMarks are about three round values from zero on. */
export function linearMarks(s: Scale, print: (v: number) => string): Mark[] {
  const rough = (s.to - s.from) / 3, power = 10 ** Math.floor(Math.log10(rough || 1));
  const step = [1, 2, 5, 10].map((f) => f * power).find((v) => v >= rough) ?? power;
  const out: Mark[] = [];
  for (let v = 0; v <= s.to * 1.0001; v += step) out.push({ at: v, label: print(v) });
  return out;
}

export interface PlotProps {
  label: string;
  height: number;
  x: Scale;
  y: Scale;
  marksX: (width: number) => readonly Mark[];
  marksY: readonly Mark[];
  /** under paints a canvas below everything, of the size of the plot. */
  under?: (c: CanvasRenderingContext2D, width: number, height: number) => void;
  /** key changes when under paints something else. */
  underKey?: string;
  children: (px: (v: number) => number, py: (v: number) => number, width: number, height: number) => ComponentChildren;
  /** columns is how many places the cursor has from left to right; rows from top to bottom. */
  columns: number;
  rows?: number;
  /** tell says what is at a place of the cursor, both parts from 0 to 1, in lines. */
  tell: (x: number, y: number) => readonly string[];
  onBrush?: (from: number, to: number) => void;
  onPick?: (x: number, y: number) => void;
  /** hint says what keys and pointer do. */
  hint?: string;
}

const left = 60, bottom = 20, right = 8, top = 6;

export function Plot({ label, height, x, y, marksX, marksY, under, underKey, children, columns, rows = 1, tell, onBrush, onPick, hint }: PlotProps) {
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box);
  const w = Math.max(1, width - left - right), h = height - bottom - top;
  const [cursor, setCursor] = useState<{ x: number; y: number } | null>(null);
  const [drag, setDrag] = useState<{ from: number; to: number } | null>(null);
  const pressed = useRef<number | null>(null);
  const [keyed, setKeyed] = useState(false);
  const colours = theme.value;
  useEffect(() => {
    if (!under || !canvas.current || width === 0) return;
    under(sharp(canvas.current, w, h), w, h);
  }, [w, h, colours, underKey]);
  const px = (v: number): number => left + share(x, v) * w;
  const py = (v: number): number => top + (1 - share(y, v)) * h;
  const place = (e: PointerEvent): { x: number; y: number } => {
    const r = box.current!.getBoundingClientRect();
    return { x: Math.min(1, Math.max(0, (e.clientX - r.left - left) / w)), y: Math.min(1, Math.max(0, 1 - (e.clientY - r.top - top) / h)) };
  };
  const ends = (d: { from: number; to: number }): [number, number] => [valueAt(x, Math.min(d.from, d.to)), valueAt(x, Math.max(d.from, d.to))];
  const keys = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1], PageUp: [0, 6], PageDown: [0, -6], Home: [-columns, 0], End: [columns, 0] };
    const s = step[e.key];
    if (s) {
      const at = cursor ?? { x: 0.5 / columns, y: 0.5 / rows };
      const move = (v: number, by: number, n: number): number => (Math.min(n - 1, Math.max(0, Math.floor(v * n + 1e-9) + by)) + 0.5) / n;
      const to = { x: move(at.x, s[0] * (e.shiftKey && !onBrush ? 10 : 1), columns), y: move(at.y, s[1], rows) };
      if (e.shiftKey && onBrush && s[0] !== 0) setDrag({ from: drag?.from ?? at.x - 0.5 / columns, to: to.x + 0.5 / columns });
      setCursor(to);
      setKeyed(true);
      say(tell(to.x, to.y).join(", "));
    } else if (e.key === "Enter" && drag && onBrush) {
      onBrush(...ends(drag));
      setDrag(null);
    } else if (e.key === "Enter" && cursor && onPick) {
      onPick(cursor.x, cursor.y);
    } else if (e.key === "Escape" && (drag || cursor)) {
      setDrag(null);
      setCursor(null);
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const lines = cursor ? tell(cursor.x, cursor.y) : [];
  const at = cursor ? left + cursor.x * w : 0;
  return (
    <div class={"plot" + (onPick || onBrush ? " live" : "")} ref={box} style={{ height: height + "px" }} tabIndex={0} role="group" aria-label={label + (hint ? ". " + hint : "")} onKeyDown={keys}
      onBlur={() => { setCursor(null); setDrag(null); }}
      onPointerDown={(e) => {
        if (e.button !== 0 || !e.isPrimary) return;
        pressed.current = place(e).x;
        e.currentTarget.setPointerCapture(e.pointerId);
      }}
      onPointerMove={(e) => {
        const p = place(e);
        setKeyed(false);
        setCursor(p);
        if (pressed.current !== null && onBrush && (drag || Math.abs(p.x - pressed.current) * w > slop)) setDrag({ from: pressed.current, to: p.x });
      }}
      onPointerUp={(e) => {
        const p = place(e);
        if (drag && onBrush) onBrush(...ends({ from: drag.from, to: p.x }));
        else if (pressed.current !== null && onPick) onPick(p.x, p.y);
        pressed.current = null;
        setDrag(null);
      }}
      onPointerCancel={() => { pressed.current = null; setDrag(null); }}
      onPointerLeave={() => { if (pressed.current === null && !keyed) setCursor(null); }}>
      {under ? <canvas ref={canvas} style={{ left: left + "px", top: top + "px", width: w + "px", height: h + "px" }} aria-hidden="true" /> : null}
      {width > 0 ? (
        <svg width={width} height={height} role="img" aria-label={label}>
          {marksY.map((m) => (
            <g key={m.at}>
              <line class="grid" x1={left} x2={left + w} y1={py(m.at)} y2={py(m.at)} />
              <text x={left - 6} y={py(m.at)} text-anchor="end" dominant-baseline="middle">{m.label}</text>
            </g>
          ))}
          {marksX(w).map((m) => (
            <g key={m.at}>
              <line class="tick" x1={px(m.at)} x2={px(m.at)} y1={top + h} y2={top + h + 4} />
              <text x={Math.min(px(m.at), left + w - m.label.length * 3.2)} y={height - 4} text-anchor="middle">{m.label}</text>
            </g>
          ))}
          {children(px, py, w, h)}
          {drag ? <rect class="brush" x={left + Math.min(drag.from, drag.to) * w} width={Math.abs(drag.to - drag.from) * w} y={top} height={h} /> : null}
          {cursor ? <line class="cursor" x1={at} x2={at} y1={top} y2={top + h} /> : null}
          {cursor && rows > 1 && keyed ? <rect class="cell" x={left + Math.floor(cursor.x * columns) / columns * w} width={Math.max(3, w / columns)} y={top + (1 - Math.ceil(cursor.y * rows) / rows) * h} height={h / rows} /> : null}
        </svg>
      ) : null}
      {cursor && lines.length ? (
        <div class="plot-tip" style={at > left + w / 2 ? { right: width - at + 8 + "px" } : { left: at + 8 + "px" }}>
          {lines.map((l, i) => <div key={i}>{l}</div>)}
        </div>
      ) : null}
    </div>
  );
}

/** path is a line through points; a point that is null breaks it. */
export function path(points: readonly (readonly [number, number] | null)[]): string {
  let out = "", pen = false;
  for (const p of points) {
    if (p) out += (pen ? "L" : "M") + p[0].toFixed(1) + " " + p[1].toFixed(1);
    pen = p !== null;
  }
  return out;
}

/** steps is a line of values that each hold for a stretch; null leaves one out. */
export function steps(values: readonly (number | null)[], x: (i: number) => number, y: (v: number) => number): string {
  return path(values.flatMap((v, i) => v === null ? [null] : [[x(i), y(v)] as const, [x(i + 1), y(v)] as const]));
}

/** area is what lies below steps. */
export function area(values: readonly number[], x: (i: number) => number, y: (v: number) => number, ground: readonly number[] | null = null): string {
  const upper = values.flatMap((v, i) => [[x(i), y(v)] as const, [x(i + 1), y(v)] as const]);
  const lower = values.flatMap((_, i) => { const g = y(ground?.[i] ?? 0); return [[x(i), g] as const, [x(i + 1), g] as const]; }).reverse();
  return path([...upper, ...lower]) + "Z";
}
