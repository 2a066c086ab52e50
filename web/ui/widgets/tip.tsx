/**
 * What a picture or a word stands for, beside it: on whatever has data-tip.
 * It comes with the pointer and with the focus, stays while the pointer is on
 * it, and goes with Esc.
 */
import { useEffect, useRef, useState } from "preact/hooks";

/** wait is how long the pointer must rest, in ms; leave how long it may be on the way to the tip. */
const wait = 350, leave = 250;

interface Shown {
  readonly text: string;
  readonly at: DOMRect;
}

export function Tips() {
  const [shown, setShown] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null), timer = useRef(0), owner = useRef<Element | null>(null);
  useEffect(() => {
    const on = (target: EventTarget | null): Element | null => (target instanceof Element ? target.closest("[data-tip]") : null);
    const hide = (): void => {
      clearTimeout(timer.current);
      if (owner.current?.getAttribute("aria-describedby") === "tip") owner.current.removeAttribute("aria-describedby");
      owner.current = null;
      setShown(null);
    };
    const show = (e: Element): void => {
      const text = e.getAttribute("data-tip");
      if (!text || !e.isConnected) return hide();
      owner.current = e;
      if (!e.hasAttribute("aria-describedby")) e.setAttribute("aria-describedby", "tip");
      setShown({ text, at: e.getBoundingClientRect() });
    };
    const over = (e: PointerEvent): void => {
      if (e.pointerType === "touch") return;
      const to = on(e.target), inside = box.current?.contains(e.target as Node);
      if (inside || to && to === owner.current) return clearTimeout(timer.current);
      clearTimeout(timer.current);
      if (to) timer.current = setTimeout(() => { hide(); show(to); }, wait);
      else if (owner.current) timer.current = setTimeout(hide, leave);
    };
    const focus = (e: FocusEvent): void => {
      const to = on(e.target);
      if (to && to.matches(":focus-visible")) show(to);
      else if (!box.current?.contains(e.target as Node)) hide();
    };
    const key = (e: KeyboardEvent): void => {
      if (e.key !== "Escape" || !owner.current) return;
      hide();
      e.stopPropagation();
    };
    addEventListener("pointerover", over);
    addEventListener("focusin", focus);
    addEventListener("keydown", key, true);
    addEventListener("scroll", hide, true);
    return () => {
      hide();
      removeEventListener("pointerover", over);
      removeEventListener("focusin", focus);
      removeEventListener("keydown", key, true);
      removeEventListener("scroll", hide, true);
    };
  }, []);
  // Below its owner, above it where there is no room.
  useEffect(() => {
    const b = box.current;
    if (!b || !shown) return;
    const { at } = shown, size = b.getBoundingClientRect();
    b.style.left = Math.max(8, Math.min(at.left, innerWidth - size.width - 8)) + "px";
    b.style.top = (at.bottom + 4 + size.height > innerHeight ? Math.max(8, at.top - 4 - size.height) : at.bottom + 4) + "px";
  }, [shown]);
  return shown ? <div class="tip" id="tip" role="tooltip" ref={box}>{shown.text}</div> : null;
}
