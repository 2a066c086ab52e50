/** The sources, and the one that is looked at. */
import { computed, signal } from "@preact/signals";
import type { Span } from "../base/units.ts";
import type { SourceInfo, SourceList } from "../api/types.ts";
import { range } from "./route.ts";

/** list is what can be looked at; null until the server has told. */
export const list = signal<SourceList | null>(null);

/** current describes the source that is looked at; null until it is open. */
export const current = signal<SourceInfo | null>(null);

/** axis is the time that the source covers; null for one without time. */
export const axis = computed<Span | null>(() => {
  const a = current.value?.axis;
  return a && a.end_ns > a.start_ns ? { start: a.start_ns, end: a.end_ns } : null;
});

/** shown is the range where there is one, else the whole axis. */
export const shown = computed<Span | null>(() => range.value ?? axis.value);

/** has tells whether the source has an entry of a kind; "pprof." stands for all profiles. */
export function has(kind: string): boolean {
  return current.value?.kinds?.some((k) => k === kind || kind.endsWith(".") && k.startsWith(kind)) ?? false;
}
