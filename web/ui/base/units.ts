/**
 * Quantities as people read them, in the forms of Go's package unit: three
 * significant digits and one unit.
 */

/** Time is an instant on the source's axis, or a length, in nanoseconds. */
export type Time = number & { readonly time?: never };

/** Span is the half-open stretch of time start <= t < end. */
export interface Span {
  readonly start: Time;
  readonly end: Time;
}

/** digits prints x with three significant digits. */
function digits(x: number): string {
  const a = Math.abs(x);
  if (a >= 100) return x.toFixed(0);
  if (a >= 10) return x.toFixed(1);
  return x.toFixed(2);
}

/** scale divides x by the largest of the factors that it reaches. */
function scale(x: number, units: readonly (readonly [number, string])[]): string {
  const a = Math.abs(x);
  for (let i = 0; i < units.length; i++) {
    const [factor, name] = units[i]!;
    // 999.6 of a unit reads 1.00 of the next one.
    if (a >= factor * 0.9995 || i === units.length - 1) {
      return (factor === 1 && Number.isInteger(x) ? String(x) : digits(x / factor)) + " " + name;
    }
  }
  return String(x);
}

const times = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]] as const;

/** duration prints a length of time: "1.88 ms", "3m12s" from a minute on. */
export function duration(ns: Time): string {
  if (ns === 0) return "0";
  if (Math.abs(ns) < 60e9) return scale(ns, times);
  const sign = ns < 0 ? "-" : "";
  const s = Math.round(Math.abs(ns) / 1e9);
  const h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60);
  return sign + (h > 0 ? `${h}h${m}m${s % 60}s` : `${m}m${s % 60}s`);
}

const sizes = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]] as const;

/** bytes prints an amount of memory: "4.75 MiB". */
export function bytes(n: number): string {
  return scale(n, sizes);
}

/** count prints a whole number with commas: "10,000". */
export function count(n: number): string {
  return Math.round(n).toLocaleString("en-US");
}

/** number prints x with three digits, or whole with commas beyond that. */
export function number(x: number): string {
  return Math.abs(x) >= 1000 ? count(x) : Number.isInteger(x) ? String(x) : digits(x);
}

/** percent prints a share, where 1 is the whole: "14.3%". */
export function percent(share: number): string {
  return digits(share * 100) + "%";
}

/**
 * exact prints an instant so that parse gives the same one again: the shortest
 * of "1.25s", "12.5ms", "7us" and "13ns".
 */
export function exact(t: Time): string {
  const ns = Math.round(t);
  for (const [factor, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]] as const) {
    if (Math.abs(ns) >= factor || ns === 0) {
      const whole = Math.trunc(ns / factor), rest = Math.abs(ns % factor);
      const places = Math.log10(factor);
      const tail = rest ? "." + String(rest).padStart(places, "0").replace(/0+$/, "") : "";
      return (whole === 0 && ns < 0 ? "-0" : String(whole)) + tail + name;
    }
  }
  return ns + "ns";
}

/** parse reads an instant or a length: "1.25s", "12ms", "7µs", "13ns", "1m5s", "2" (seconds). */
export function parse(text: string): Time | null {
  const s = text.trim().replace(/\s+/g, "");
  if (/^[+-]?\d+(\.\d+)?$/.test(s)) return Math.round(Number(s) * 1e9);
  const sign = s.startsWith("-") ? -1 : 1;
  const parts = s.replace(/^[+-]/, "");
  if (!/^(\d+(\.\d+)?(h|ms|m|us|µs|μs|ns|s))+$/.test(parts)) return null;
  const factor: Record<string, number> = { h: 3600e9, m: 60e9, s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, "μs": 1e3, ns: 1 };
  let sum = 0;
  for (const [, value, unit] of parts.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|us|µs|μs|ns|s)/g)) {
    sum += Number(value) * factor[unit!]!;
  }
  return sign * Math.round(sum);
}

/** parseSpan reads "1.2s-3.4s". */
export function parseSpan(text: string): Span | null {
  const m = /^(-?[^-]+)-(-?[^-]+)$/.exec(text.trim());
  const start = m && parse(m[1]!), end = m && parse(m[2]!);
  return start !== null && end !== null && start < end ? { start, end } : null;
}

/** exactSpan prints a span for parseSpan. */
export function exactSpan(s: Span): string {
  return exact(s.start) + "-" + exact(s.end);
}

/**
 * instant prints a place on the axis with as many digits as a stretch of a
 * length needs: "12.304 s" in a window of 100 ms.
 */
export function instant(t: Time, window: Time): string {
  const [factor, name] = Math.abs(t) >= 1e9 || window >= 1e9 ? [1e9, "s"] : Math.abs(t) >= 1e6 || window >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  const places = Math.min(9, Math.max(0, Math.ceil(-Math.log10(Math.max(1, window) / factor / 100))));
  return (t / factor).toFixed(places) + " " + name;
}
