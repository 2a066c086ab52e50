/** The pointer over the lanes: drag is a range, Shift or the middle button moves, Ctrl and the wheel zoom, two fingers too; one that stays and then moves is a range. */
import type { Span, Time } from "../../base/units.ts";
import { pan, toTime, zoom } from "../../model/viewport.ts";
import { slop } from "../../tracks/brush.ts";
import type { Stage } from "./stage.ts";

export interface Handlers {
  /** brush is told of the range while it is dragged out, and null when that ends. */
  readonly brush: (s: Span | null) => void;
  readonly range: (s: Span) => void;
  readonly click: (t: Time, y: number) => void;
  readonly open: (t: Time, y: number) => void;
  readonly hover: (at: { x: number; y: number } | null) => void;
  readonly scroll: (dy: number) => void;
}

/** longPress is for how many ms a finger stays where it is before it chooses a range. */
const longPress = 450;

/** pointer listens on an element, whose pixels are those of the stage; what it returns stops that. */
export function pointer(element: HTMLElement, stage: Stage, on: Handlers): () => void {
  let mode: "" | "press" | "brush" | "pan" | "pinch" = "";
  let fromX = 0, fromT: Time = 0, lastX = 0, lastY = 0;
  let held = 0; // the timer of a finger that may stay where it is
  const fingers = new Map<number, { x: number; y: number }>();
  const place = (e: MouseEvent): { x: number; y: number } => {
    const box = element.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const span = (x: number): Span => {
    const t = toTime(stage.view, Math.max(0, Math.min(stage.view.width, x)));
    return { start: Math.round(Math.min(t, fromT)), end: Math.round(Math.max(t, fromT)) };
  };
  const down = (e: PointerEvent): void => {
    const { x, y } = place(e);
    element.focus({ preventScroll: true });
    if (e.pointerType === "touch") {
      fingers.set(e.pointerId, { x, y });
      if (mode === "brush") on.brush(null);
      on.hover(null);
      mode = fingers.size > 1 ? "pinch" : "press";
      clearTimeout(held);
      // A finger that stays chooses a range from there on.
      if (mode === "press") held = setTimeout(() => {
        mode = "brush";
        on.brush(span(lastX));
      }, longPress);
    } else if (e.button === 1 || e.button === 0 && e.shiftKey) {
      e.preventDefault();
      mode = "pan";
      element.classList.add("moving");
    } else if (e.button === 0) {
      mode = "press";
    } else {
      return;
    }
    fromX = lastX = x;
    lastY = y;
    fromT = toTime(stage.view, x);
    element.setPointerCapture(e.pointerId);
  };
  const move = (e: PointerEvent): void => {
    const { x, y } = place(e);
    if (mode === "pinch" && fingers.has(e.pointerId)) {
      const before = [...fingers.values()];
      fingers.set(e.pointerId, { x, y });
      const after = [...fingers.values()];
      const wide = (f: { x: number }[]): number => Math.max(10, Math.abs(f[0]!.x - f[1]!.x)), middle = (f: { x: number }[]): number => (f[0]!.x + f[1]!.x) / 2;
      stage.show(pan(zoom(stage.view, wide(before) / wide(after), middle(before)), middle(before) - middle(after)));
      return;
    }
    if (mode === "") {
      if (e.pointerType !== "touch") on.hover({ x, y });
      return;
    }
    if (mode === "press" && Math.abs(x - fromX) > slop) {
      clearTimeout(held);
      mode = e.pointerType === "touch" ? "pan" : "brush";
      on.hover(null);
    }
    if (mode === "pan") {
      stage.show(pan(stage.view, lastX - x));
      if (e.pointerType !== "touch") on.scroll(lastY - y);
    } else if (mode === "brush") {
      on.brush(span(x));
    }
    lastX = x;
    lastY = y;
  };
  const up = (e: PointerEvent): void => {
    const { x, y } = place(e), was = mode;
    clearTimeout(held);
    fingers.delete(e.pointerId);
    mode = "";
    element.classList.remove("moving");
    if (was === "brush") {
      on.brush(null);
      const s = span(x);
      if (Math.abs(x - fromX) > slop) on.range(s);
      else on.hover({ x, y }); // a finger that has stayed asks what is there
    } else if (was === "press") {
      on.click(toTime(stage.view, x), y);
    }
  };
  const cancel = (e: PointerEvent): void => {
    clearTimeout(held);
    fingers.delete(e.pointerId);
    if (mode === "brush") on.brush(null);
    mode = "";
    element.classList.remove("moving");
  };
  // Where a finger stays some browsers offer a menu.
  const menu = (e: Event): void => {
    if (fingers.size > 0) e.preventDefault();
  };
  const leave = (e: PointerEvent): void => {
    if (e.pointerType !== "touch") on.hover(null);
  };
  const twice = (e: MouseEvent): void => {
    const { x, y } = place(e);
    on.open(toTime(stage.view, x), y);
  };
  const wheel = (e: WheelEvent): void => {
    const unit = e.deltaMode === 1 ? 20 : e.deltaMode === 2 ? 400 : 1;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      stage.show(zoom(stage.view, Math.exp(Math.max(-200, Math.min(200, e.deltaY * unit)) * 0.003), place(e).x));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      stage.show(pan(stage.view, (e.shiftKey && e.deltaX === 0 ? e.deltaY : e.deltaX) * unit));
    }
  };
  const events: [string, EventListener, AddEventListenerOptions?][] = [
    ["pointerdown", down as EventListener], ["pointermove", move as EventListener], ["pointerup", up as EventListener], ["pointercancel", cancel as EventListener],
    ["pointerleave", leave as EventListener], ["contextmenu", menu], ["dblclick", twice as EventListener], ["wheel", wheel as EventListener, { passive: false }],
  ];
  for (const [name, f, options] of events) element.addEventListener(name, f, options);
  return () => {
    clearTimeout(held);
    for (const [name, f, options] of events) element.removeEventListener(name, f, options);
  };
}
