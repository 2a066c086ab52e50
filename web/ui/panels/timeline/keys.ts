/** The keys of the lanes. They hold while the picture has the focus, by their place on the keyboard. */
import { keys } from "../../model/keys.ts";
import { clamp, pan, zoom } from "../../model/viewport.ts";
import type { Stage } from "./stage.ts";

/** Doings are what the keys can do beyond moving the viewport. */
export interface Doings {
  readonly lane: (step: number) => void;
  readonly event: (step: number) => void;
  readonly fitChosen: () => void;
  readonly whole: () => void;
  readonly clear: () => void;
  readonly waker: () => void;
  readonly woken: () => void;
  readonly pin: () => void;
  readonly mark: () => void;
  readonly choose: () => void;
  readonly range: () => void;
  readonly table: () => void;
}

/** list is what the keys do, for the help. */
export const list: readonly { name: string; keys: string; does: keyof Doings | "" }[] = [
  { name: "Zoom in and out (Shift: faster)", keys: "w s", does: "" },
  { name: "Move left and right (Shift: faster)", keys: "a d", does: "" },
  { name: "Next lane", keys: "↑ ↓", does: "" },
  { name: "Next span in the lane", keys: "← → , .", does: "" },
  { name: "Select what is at the cursor", keys: "Enter", does: "choose" },
  { name: "Zoom to the selection, or to the range", keys: "f", does: "fitChosen" },
  { name: "Show the whole trace", keys: "0", does: "whole" },
  { name: "Set the range to the visible time", keys: "r", does: "range" },
  { name: "Go to what woke it", keys: "[", does: "waker" },
  { name: "Go to what it woke", keys: "]", does: "woken" },
  { name: "Pin the lane", keys: "p", does: "pin" },
  { name: "Set a marker", keys: "m", does: "mark" },
  { name: "Show the lanes as a table", keys: "t", does: "table" },
  { name: "Clear the selection, then the range", keys: "Esc", does: "clear" },
  { name: "Drag: select a range. Shift or middle button: move. Ctrl and wheel: zoom", keys: "mouse", does: "" },
];

/** speed of moving, in widths of the window a second, and of zooming, in powers of e. */
const moving = 1.1, zooming = 2.2;

/** Held moves the viewport for as long as keys are held. */
export class Held {
  private readonly down = new Map<string, boolean>();
  private frame = 0;
  private last = 0;

  constructor(private readonly stage: Stage, private readonly at: () => number) {}

  press(code: string, fast: boolean): void {
    this.down.set(code, fast);
    if (this.frame) return;
    // The first step comes at once: a short press has an effect too.
    this.last = performance.now() - 60;
    this.frame = requestAnimationFrame((now) => this.step(now));
  }

  release(code?: string): void {
    if (code === undefined) this.down.clear();
    else if (this.frame && this.down.has(code)) {
      const gone = code;
      requestAnimationFrame(() => this.down.delete(gone));
    }
  }

  private step(now: number): void {
    this.frame = 0;
    if (this.down.size === 0) return;
    const dt = Math.min(0.06, Math.max(0, now - this.last) / 1000);
    this.last = now;
    let v = this.stage.view;
    for (const [code, fast] of this.down) {
      const f = fast ? 4 : 1;
      if (code === "KeyW" || code === "Equal") v = zoom(v, Math.exp(-zooming * dt * f), this.at());
      if (code === "KeyS" || code === "Minus") v = zoom(v, Math.exp(zooming * dt * f), this.at());
      if (code === "KeyA") v = pan(v, -v.width * moving * dt * f);
      if (code === "KeyD") v = pan(v, v.width * moving * dt * f);
    }
    this.stage.show(clamp(v, this.stage.all));
    this.frame = requestAnimationFrame((t) => this.step(t));
  }
}

const held = new Set(["KeyW", "KeyS", "KeyA", "KeyD", "Equal", "Minus"]);

/** press does what a key stands for, true when it stands for something. */
export function press(e: KeyboardEvent, h: Held, d: Doings): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  switch (e.code) {
    case "ArrowUp": d.lane(-1); return true;
    case "ArrowDown": d.lane(1); return true;
    case "PageUp": d.lane(-10); return true;
    case "PageDown": d.lane(10); return true;
    case "ArrowLeft": d.event(-1); return true;
    case "ArrowRight": d.event(1); return true;
    case "Enter": case "Space": d.choose(); return true;
    case "Escape": d.clear(); return true;
  }
  if (!keys.value.on) return false; // single letters are turned off
  if (held.has(e.code)) {
    h.press(e.code, e.shiftKey);
    return true;
  }
  if (e.shiftKey) return false;
  switch (e.code) {
    case "Comma": d.event(-1); return true;
    case "Period": d.event(1); return true;
    case "KeyF": d.fitChosen(); return true;
    case "Digit0": case "Numpad0": d.whole(); return true;
    case "BracketLeft": d.waker(); return true;
    case "BracketRight": d.woken(); return true;
    case "KeyP": d.pin(); return true;
    case "KeyM": d.mark(); return true;
    case "KeyR": d.range(); return true;
    case "KeyT": d.table(); return true;
  }
  return false;
}

