/** Choosing a span by dragging over something that shows time. Whoever uses it has fields to type it into as well. */
import { useRef, useState } from "preact/hooks";
import type { Span, Time } from "../base/units.ts";

/** slop is how far a pointer may move before it drags. */
export const slop = 4;

export interface Brush {
  /** drawing is the span that is being dragged out, null otherwise. */
  readonly drawing: Span | null;
  readonly onPointerDown: (e: PointerEvent) => void;
  readonly onPointerMove: (e: PointerEvent) => void;
  readonly onPointerUp: (e: PointerEvent) => void;
  readonly onPointerCancel: () => void;
}

/**
 * useBrush gives handlers for an element whose pixels are time: time maps a
 * pixel of it to an instant, done gets the span at the end of a drag, and click
 * the instant of a press that was none.
 */
export function useBrush(time: (x: number) => Time, done: (s: Span) => void, click?: (t: Time) => void): Brush {
  const from = useRef<number | null>(null);
  const [drawing, setDrawing] = useState<Span | null>(null);
  const place = (e: PointerEvent): number => e.clientX - (e.currentTarget as Element).getBoundingClientRect().left;
  const between = (a: number, b: number): Span => ({ start: Math.round(time(Math.min(a, b))), end: Math.round(time(Math.max(a, b))) });
  return {
    drawing,
    onPointerDown(e) {
      if (e.button !== 0 || !e.isPrimary) return;
      from.current = place(e);
      (e.currentTarget as Element).setPointerCapture(e.pointerId);
    },
    onPointerMove(e) {
      if (from.current === null) return;
      const x = place(e);
      if (drawing || Math.abs(x - from.current) > slop) setDrawing(between(from.current, x));
    },
    onPointerUp(e) {
      if (from.current === null) return;
      const x = place(e), s = between(from.current, x), dragged = Math.abs(x - from.current) > slop;
      from.current = null;
      setDrawing(null);
      if (dragged && s.end > s.start) done(s);
      else if (!dragged) click?.(Math.round(time(x)));
    },
    onPointerCancel() {
      from.current = null;
      setDrawing(null);
    },
  };
}
