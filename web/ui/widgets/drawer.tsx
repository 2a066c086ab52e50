/** Details of what is chosen in a view: at the right where there is room, else from below. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

/**
 * Drawer does not take the focus: who walks through a lane or a table reads on
 * in it. Esc within it closes it and leads back.
 */
export function Drawer({ title, onClose, children }: { title: string; onClose: () => void; children: ComponentChildren }) {
  const box = useRef<HTMLElement>(null), before = useRef<Element | null>(null);
  useEffect(() => {
    before.current = document.activeElement;
  }, []);
  const close = (): void => {
    const inside = box.current?.contains(document.activeElement);
    onClose();
    if (inside && before.current instanceof HTMLElement) before.current.focus();
  };
  return (
    <aside class="drawer" aria-label={title} ref={box} onKeyDown={(e) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      close();
    }}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label="close the details" onClick={close}><Icon of="close" /></button>
      </header>
      <div class="drawerbody">{children}</div>
    </aside>
  );
}
