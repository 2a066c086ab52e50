/**
 * Where the user is: all of it is in the address, "#/2/timeline?t=1.2s-3s", so
 * that a copied link shows the same, and the browser's own back and forward
 * undo and redo.
 */
import { computed, signal } from "@preact/signals";
import { exactSpan, parseSpan, type Span } from "../base/units.ts";

export interface Route {
  /** source is the id of what is looked at, "" for the list. */
  readonly source: string;
  readonly view: string;
  readonly params: Readonly<Record<string, string>>;
}

/** parseRoute reads the part of an address behind "#". */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [source = "", view = ""] = path.split("/").map(decodeURIComponent);
  return { source, view, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** formatRoute is the inverse of parseRoute. */
export function formatRoute(r: Route): string {
  const q = new URLSearchParams(r.params).toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return "#/" + encodeURIComponent(r.source) + (r.view ? "/" + r.view : "") + (q ? "?" + q : "");
}

const hasWindow = typeof window !== "undefined";

/** route is where the user is. */
export const route = signal<Route>(parseRoute(hasWindow ? location.hash : ""));

/** depth is how many steps of ours lie behind the current one in the browser's history. */
let depth = 0;

if (hasWindow) {
  addEventListener("popstate", (e) => {
    depth = (e.state as { depth?: number } | null)?.depth ?? 0;
    route.value = parseRoute(location.hash);
  });
}

/** go goes somewhere. A step that only refines the last one replaces it. */
export function go(to: Route, replace = false): void {
  const hash = formatRoute(to);
  if (hash === formatRoute(route.value)) return;
  if (hasWindow) {
    if (replace) history.replaceState({ depth }, "", hash);
    else history.pushState({ depth: ++depth }, "", hash);
  }
  route.value = to;
}

/** undo goes back one step, but never off the page; redo is the browser's forward. */
export function undo(): void {
  if (depth > 0) history.back();
}

export function redo(): void {
  history.forward();
}

/** shared are the settings that a change of view keeps. */
const shared = ["t"];

/** viewRoute is the address of another view of the same source. */
export function viewRoute(view: string, params: Record<string, string> = {}, source = route.value.source): Route {
  const kept: Record<string, string> = {};
  if (source === route.value.source) {
    for (const k of shared) {
      const v = route.value.params[k];
      if (v !== undefined) kept[k] = v;
    }
  }
  return { source, view, params: { ...kept, ...params } };
}

/** set changes settings of the view; undefined and "" remove one. */
export function set(patch: Record<string, string | undefined>, replace = false): void {
  const params: Record<string, string> = { ...route.value.params };
  for (const [k, v] of Object.entries(patch)) {
    if (v === undefined || v === "") delete params[k];
    else params[k] = v;
  }
  go({ ...route.value, params }, replace);
}

/** param is a setting of the view. */
export function param(name: string, without = ""): string {
  return route.value.params[name] ?? without;
}

/** range is the part of the axis that everything is restricted to; null is all of it. */
export const range = computed<Span | null>(() => parseSpan(route.value.params["t"] ?? ""));

/** setRange chooses a part of the axis, null all of it. */
export function setRange(s: Span | null, replace = false): void {
  set({ t: s ? exactSpan(s) : undefined }, replace);
}

/** rangeParams are the parameters that restrict a question to the range. */
export function rangeParams(): { t0?: number; t1?: number } {
  const r = range.value;
  return r ? { t0: Math.round(r.start), t1: Math.round(r.end) } : {};
}
