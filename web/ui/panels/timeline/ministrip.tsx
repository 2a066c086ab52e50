/** The strip of the whole trace as a control: drag out what is to be seen, move it, take it by its ends, or use the keys. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { duration, instant, type Span, type Time } from "../../base/units.ts";
import { fit } from "../../model/viewport.ts";
import { slop } from "../../tracks/brush.ts";
import { minimapHeight } from "./minimap.ts";
import type { Stage } from "./stage.ts";

export interface MiniStripProps {
  readonly stage: Stage;
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  /** onBrush is told of a range while it is dragged out, and null when that ends. */
  readonly onBrush: (s: Span | null) => void;
  readonly onRange: (s: Span) => void;
  readonly onWhole: () => void;
}

/** End is one of the two ends of what is seen. */
type End = "start" | "end";

/** Grip is what a pointer has hold of: an end, all of what is seen, or nothing yet: a new stretch, or with Shift a range. */
type Grip = End | "move" | "draw" | "range";

/** near is how far from an end one may take it, in pixels; of a finger farther. */
const near = 7, nearFinger = 18;

/** gripWidth is how wide a grip is, of which only a bar is seen. */
const gripWidth = 24;

/** gripAt is what lies under a place of the strip, where what is seen goes from a to b. */
export function gripAt(x: number, a: number, b: number, width: number, reach: number): Grip {
  const inside = Math.min(reach, (b - a) / 4);
  if (x >= a - reach && x <= a + inside) return "start";
  if (x <= b + reach && x >= b - inside) return "end";
  // Where all is seen there is nothing to move.
  return x > a && x < b && b - a < width * 0.98 ? "move" : "draw";
}

export function MiniStrip({ stage, canvas, onBrush, onRange, onWhole }: MiniStripProps) {
  const grips = { start: useRef<HTMLDivElement>(null), end: useRef<HTMLDivElement>(null) };
  const held = useRef<{ grip: Grip; x: number; t: Time; seen: Span; moved: boolean } | null>(null);
  const length = stage.all.end - stage.all.start, v = stage.settled.value ?? stage.view, seen = { start: v.start, end: v.start + v.perPx * v.width };
  const toX = (t: Time): number => (t - stage.all.start) / (stage.all.end - stage.all.start) * stage.view.width;
  const timeAt = (x: number): Time => stage.all.start + Math.max(0, Math.min(1, x / stage.view.width)) * (stage.all.end - stage.all.start);
  const show = (a: Time, b: Time): void => stage.show(fit({ start: Math.min(a, b), end: Math.max(a, b) }, stage.view.width));
  const gripOf = (e: PointerEvent, x: number): Grip => gripAt(x, Math.max(0, toX(stage.seen.start)), Math.min(stage.view.width, toX(stage.seen.end)), stage.view.width, e.pointerType === "touch" ? nearFinger : near);
  const place = (e: PointerEvent): number => e.clientX - (e.currentTarget as Element).getBoundingClientRect().left;

  // The grips are where what is seen ends, in every frame.
  useEffect(() => {
    const part = (s: Stage): void => {
      for (const end of ["start", "end"] as const) {
        const at = Math.max(0, Math.min(s.view.width, toX(s.seen[end]))), style = grips[end].current?.style;
        // Beside what is seen, and whole at the edges.
        const left = end === "start" ? Math.max(0, at - gripWidth) : Math.min(s.view.width - gripWidth, at);
        style?.setProperty("left", left + "px");
        style?.setProperty("--bar", at - left + "px");
      }
    };
    stage.parts.add(part);
    stage.over();
    return () => void stage.parts.delete(part);
  }, [stage]);

  const down = (e: PointerEvent): void => {
    if (e.button !== 0 || !e.isPrimary) return;
    const x = place(e);
    held.current = { grip: e.shiftKey ? "range" : gripOf(e, x), x, t: timeAt(x), seen: stage.seen, moved: false };
    (e.currentTarget as Element).setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent): void => {
    const x = place(e), h = held.current, t = timeAt(x);
    if (!h) {
      const g = gripOf(e, x);
      (e.currentTarget as HTMLElement).style.cursor = g === "draw" ? "crosshair" : g === "move" ? "grab" : "ew-resize";
      return;
    }
    h.moved ||= Math.abs(x - h.x) > slop;
    if (!h.moved) return;
    switch (h.grip) {
      case "start": return show(t, h.seen.end);
      case "end": return show(h.seen.start, t);
      case "move": return stage.show({ ...stage.view, start: h.seen.start + t - h.t });
      case "draw": return show(h.t, t);
      case "range": return onBrush({ start: Math.round(Math.min(h.t, t)), end: Math.round(Math.max(h.t, t)) });
    }
  };
  const up = (e: PointerEvent): void => {
    const h = held.current, t = timeAt(place(e));
    held.current = null;
    onBrush(null);
    if (!h) return;
    if (h.grip === "range" && h.moved && t !== h.t) onRange({ start: Math.round(Math.min(h.t, t)), end: Math.round(Math.max(h.t, t)) });
    else if (!h.moved) stage.show({ ...stage.view, start: t - stage.view.perPx * stage.view.width / 2 });
  };
  const press = (e: KeyboardEvent, end: End): void => {
    const s = stage.seen, step = (s.end - s.start) / (e.shiftKey ? 10 : 100);
    const to = {
      ArrowLeft: s[end] - step, ArrowDown: s[end] - step, ArrowRight: s[end] + step, ArrowUp: s[end] + step,
      PageDown: s[end] - 10 * step, PageUp: s[end] + 10 * step, Home: stage.all.start, End: stage.all.end,
    }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    const at = Math.max(stage.all.start, Math.min(stage.all.end, to));
    // An end does not pass the other one.
    if (end === "start" ? at < s.end : at > s.start) show(end === "start" ? at : s.start, end === "end" ? at : s.end);
  };
  return (
    <div class="tl-strip" title="drag to choose the visible part, Shift+drag to select a range, double-click for the whole">
      <canvas ref={canvas} class="tl-mini" style={{ height: minimapHeight + "px" }} role="img" aria-label={`the whole trace, ${duration(length)}, and the visible part`}
        onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={() => { held.current = null; onBrush(null); }} onDblClick={onWhole} />
      {(["start", "end"] as const).map((end) => (
        <div key={end} ref={grips[end]} class="tl-grip" role="slider" tabIndex={0} aria-label={end === "start" ? "start of the visible part" : "end of the visible part"}
          aria-valuemin={0} aria-valuemax={Math.round(length / 1e3)} aria-valuenow={Math.round(Math.max(0, Math.min(length, seen[end] - stage.all.start)) / 1e3)} aria-valuetext={instant(seen[end], (seen.end - seen.start) / 10)}
          onKeyDown={(e) => press(e, end)} />
      ))}
    </div>
  );
}
