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

const cut = (text: string): string[] => {
  const at = text.indexOf("?");
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
};

/** parseRoute reads the part of an address behind "#". */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = cut(hash.replace(/^#\/?/, ""));
  const [source = "", view = ""] = path.split("/").map(decoded);
  return { source, view, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** decoded reads what was typed as well as what formatRoute has written. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** formatRoute is the inverse of parseRoute. */
export function formatRoute(r: Route): string {
  const q = new URLSearchParams(r.params).toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%40", "@").replaceAll("%2C", ",");
  return "#/" + encodeURIComponent(r.source) + (r.view ? "/" + r.view : "") + (q ? "?" + q : "");
}

const hasWindow = typeof window !== "undefined";

/** route is where the user is. */
export const route = signal<Route>(parseRoute(hasWindow ? location.hash : ""));

const depthOf = (state: unknown): number | undefined => (state as { depth?: number } | null)?.depth;

/**
 * depth is how many steps of ours lie behind the current one in the browser's
 * history, far is how deep it goes forward: undo and redo stay on the page.
 */
let depth = hasWindow ? depthOf(history.state) ?? 0 : 0;
let far = depth;

if (hasWindow) {
  // The page may have been loaded anew in the midst of its steps.
  try {
    far = Math.max(depth, Number(sessionStorage.getItem("loupe.far")) || 0);
  } catch {
    // then redo begins anew
  }
  addEventListener("popstate", (e) => {
    const to = depthOf(e.state);
    if (to === undefined) {
      // A link, or an address that was typed: a step like any other.
      stepped(++depth);
      history.replaceState({ depth }, "");
    } else {
      depth = to;
    }
    route.value = parseRoute(location.hash);
  });
}

function stepped(to: number): void {
  far = to;
  try {
    sessionStorage.setItem("loupe.far", String(to));
  } catch {
    // then redo begins anew after a reload
  }
}

/** go goes somewhere. A step that only refines the last one replaces it. */
export function go(to: Route, replace = false): void {
  const hash = formatRoute(to);
  if (hash === formatRoute(route.value)) return;
  if (hasWindow) {
    if (replace) history.replaceState({ depth }, "", hash);
    else {
      history.pushState({ depth: ++depth }, "", hash);
      stepped(depth);
    }
  }
  route.value = to;
}

/** undo goes back one step, but never off the page. */
export function undo(): void {
  if (depth > 0) history.back();
}

/** redo goes forward again, but never off the page either. */
export function redo(): void {
  if (depth < far) history.forward();
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
