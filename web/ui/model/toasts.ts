/** Short messages over the page: that something is done, or why it is not. */
import { signal } from "@preact/signals";

export interface Toast {
  readonly id: number;
  readonly text: string;
  /** bad is a failure: it stays until the user has taken it away. */
  readonly bad: boolean;
}

export const toasts = signal<readonly Toast[]>([]);

/** stays is how long good news stay, in ms. They are told in the page's live region as well. */
const stays = 5000;

let last = 0;

/** toast shows a message. */
export function toast(text: string, bad = false): void {
  if (toasts.value.some((t) => t.text === text)) return; // one is enough
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  if (!bad) setTimeout(() => dismiss(id), stays);
}

/** failed shows why something that the user wanted was not done. */
export function failed(e: unknown): void {
  if (e instanceof DOMException && e.name === "AbortError") return;
  toast(e instanceof Error ? e.message : String(e), true);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}
