/** How the user came to the range that is chosen: the ranges around it, widest first. */
import { effect, signal } from "@preact/signals";
import type { Span } from "../base/units.ts";
import { range, route } from "./route.ts";

/** steps is how many ranges are remembered. */
const steps = 4;

/** trail ends with the range that is chosen; it is empty for the whole time. */
export const trail = signal<readonly Span[]>([]);

/**
 * follow returns the trail after another range was chosen: a range within the
 * last one is a step further in, any other leads back to the one around it.
 */
export function follow(before: readonly Span[], to: Span | null): readonly Span[] {
  if (!to) return [];
  const around = before.filter((s) => s.start <= to.start && to.end <= s.end && s.end - s.start > to.end - to.start);
  return [...around.slice(1 - steps), to];
}

let source = "";
effect(() => {
  const to = range.value;
  const before = route.value.source === source ? trail.peek() : [];
  source = route.value.source;
  trail.value = follow(before, to);
});
