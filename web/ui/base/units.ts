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

/**
 * even corrects what toFixed and toExponential do with a number that lies
 * exactly between two texts: Go takes the one with the even digit. The number's
 * further digits tell: a 5 and nothing behind it.
 */
function even(text: string, further: string, unit: number): number {
  const between = /^50*$/.test(further) && Number(text.at(-1)) % 2 === 1;
  return between ? Number(text) - unit : Number(text);
}

/** fixed prints x with so many places. */
function fixed(x: number, places: number): string {
  const a = Math.abs(x), text = a.toFixed(places), longer = a.toFixed(Math.min(100, places + 30));
  const rounded = a < 1e15 ? even(text, longer.slice(longer.indexOf(".") + 1 + places), 10 ** -places).toFixed(places) : text;
  return (x < 0 || Object.is(x, -0) ? "-" : "") + rounded;
}

/** digits prints x with n significant digits and no exponent; with n = 0 it is rounded to a whole number. */
function digits(x: number, n = 3): string {
  if (n === 0 || x === 0) return fixed(x, 0);
  const [mantissa = "", e = ""] = Math.abs(x).toExponential(n - 1).split("e");
  const further = Math.abs(x).toExponential(n + 30).split("e")[0]!;
  const rounded = Number(even(mantissa, further.slice(further.indexOf(".") + n), 10 ** (1 - n)).toFixed(n - 1) + "e" + e);
  // The digits before the point are counted on the rounded value: 9.996 with three digits is 10.0.
  const before = Math.floor(Math.log10(rounded)) + 1;
  return (x < 0 ? "-" : "") + fixed(rounded, Math.min(Math.max(n - before, 0), 6));
}

/** duration prints a length of time: "1.88 ms", "3m12s" from a minute on. */
export function duration(ns: Time): string {
  const a = Math.abs(ns);
  if (a === 0) return "0";
  if (a < 999.5) return digits(ns) + " ns";
  if (a < 999.5e3) return digits(ns / 1e3) + " µs";
  if (a < 999.5e6) return digits(ns / 1e6) + " ms";
  if (a < 60e9) return digits(ns / 1e9) + " s";
  const sign = ns < 0 ? "-" : "";
  const s = Math.round(Math.trunc(a) / 1e9);
  const h = Math.floor(s / 3600), m = Math.floor((s % 3600) / 60);
  return sign + (h > 0 ? `${h}h${m}m${s % 60}s` : `${m}m${s % 60}s`);
}

const sizes = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/** bytes prints an amount of memory: "4.75 MiB". */
export function bytes(n: number): string {
  let i = 0;
  for (; i < sizes.length - 1 && Math.abs(n) >= 1023.5; i++) n /= 1024;
  const a = Math.abs(n), whole = i === 0 && (n === Math.trunc(n) || a >= 100 || a < 0.1);
  return (whole ? digits(n, 0) : digits(n)) + " " + sizes[i];
}

/** count prints a whole number with commas: "10,000". */
export function count(n: number): string {
  const a = Math.round(Math.abs(n)); // halves away from zero
  return (n < 0 && a > 0 ? "-" : "") + String(a).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** number prints x with three digits, or whole with commas beyond that. */
export function number(x: number): string {
  if (!Number.isFinite(x)) return "n/a";
  return Math.abs(x) >= 999.5 ? count(x) : digits(x);
}

/** percent prints a share, where 1 is the whole: "14.3%". */
export function percent(share: number): string {
  return Number.isFinite(share) ? digits(share * 100) + "%" : "n/a";
}

/** change prints the ratio of a new value to an old one: "+93%", "-45%", "-99.6%", "×3.2". */
export function change(ratio: number): string {
  if (!Number.isFinite(ratio)) return "n/a";
  if (ratio >= 3) return "×" + digits(ratio, 2);
  const p = (ratio - 1) * 100;
  let s = fixed(p, Math.abs(p) < 9.95 ? 1 : 0);
  for (let places = 1; s === "-100" && ratio > 0 && places < 10; places++) {
    const more = fixed(p, places);
    if (more.replace(/0+$/, "") !== "-100.") s = more;
  }
  if (s === "-0" || s === "-0.0" || s === "0.0") return "0%";
  return (p > 0 ? "+" : "") + s + "%";
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
