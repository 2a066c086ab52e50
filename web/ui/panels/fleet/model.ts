/** What the fleet view has in its address, and the times and values that it shows. Pure. */
import { bytes, count, number } from "../../base/units.ts";

/** Ask are the parameters of a question about a fleet. */
export interface Ask {
  readonly select?: string;
  readonly last?: number;
  readonly from?: number;
  readonly until?: number;
}

/** lasts are the ranges that end now, in ms. */
export const lasts: readonly { readonly id: string; readonly name: string; readonly ms: number }[] = [
  { id: "15m", name: "last 15 minutes", ms: 15 * 60e3 },
  { id: "1h", name: "last hour", ms: 3600e3 },
  { id: "6h", name: "last 6 hours", ms: 6 * 3600e3 },
  { id: "1d", name: "last day", ms: 24 * 3600e3 },
  { id: "7d", name: "last 7 days", ms: 7 * 24 * 3600e3 },
  { id: "30d", name: "last 30 days", ms: 30 * 24 * 3600e3 },
  { id: "1y", name: "last year", ms: 365 * 24 * 3600e3 },
];

/** usual is the range where none is chosen. */
export const usual = "1h";

/** askOf are the parameters of what an address has: from and until in ms, or one of lasts. */
export function askOf(params: Readonly<Record<string, string>>): Ask {
  const from = Number(params["from"]), until = Number(params["until"]);
  const select = params["select"] ? { select: params["select"] } : {};
  if (Number.isFinite(from) && until > from) return { ...select, from, until };
  const last = lasts.find((l) => l.id === params["last"]) ?? lasts.find((l) => l.id === usual)!;
  return { ...select, last: last.ms };
}

/** shownValue prints a value in the unit of its type, as the server does. */
export function shownValue(v: number, unit: string): string {
  switch (unit) {
    case "B": return bytes(v);
    case "B/s": return bytes(v) + "/s";
    case "/s": return number(v) + "/s";
  }
  return number(v) + (unit ? " " + unit : "");
}

/** marks are the lengths of time between two marks of an axis. */
const marks = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7 * 1440, 14 * 1440, 28 * 1440, 91 * 1440, 182 * 1440, 364 * 1440].map((m) => m * 60e3);

/** clockMarks are the round moments of a range in local time, for so many pixels. */
export function clockMarks(from: number, until: number, width: number): { at: number; label: string }[] {
  const step = marks.find((m) => (until - from) / m * 90 <= Math.max(width, 90)) ?? until - from;
  const zone = new Date(from).getTimezoneOffset() * 60e3;
  const out: { at: number; label: string }[] = [];
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= until; t += step) out.push({ at: t, label: moment(t, step >= 1440 * 60e3) });
  return out;
}

/** moment prints a time of day, or the day where that is what tells. */
function moment(t: number, day: boolean): string {
  const d = new Date(t);
  if (day || d.getHours() === 0 && d.getMinutes() === 0) return d.toLocaleDateString(undefined, { day: "numeric", month: "short" });
  return String(d.getHours()).padStart(2, "0") + ":" + String(d.getMinutes()).padStart(2, "0");
}

/** clock prints a moment, with its day where the range has several. */
export function clock(t: number, range: number): string {
  const d = new Date(t), time = [d.getHours(), d.getMinutes(), d.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
  return range > 12 * 3600e3 ? d.toLocaleDateString(undefined, { day: "numeric", month: "short" }) + " " + time : time;
}

/** bridged are the stretches of a course: up to so many missing steps are drawn over, since profiles come in rounds. */
export function bridged(course: readonly (number | null)[], gap: number): [number, number][][] {
  const out: [number, number][][] = [];
  let last = -Infinity;
  course.forEach((v, i) => {
    if (v === null) return;
    if (i - last > gap + 1) out.push([]);
    out[out.length - 1]!.push([i, v]);
    last = i;
  });
  return out;
}

/** serviceOf is the service that a selector names alone, "" for any other selector. */
export function serviceOf(select: string): string {
  const m = /^\{service_name="((?:[^"\\]|\\.)*)"\}$/.exec(select);
  try {
    return m ? JSON.parse(`"${m[1]}"`) as string : "";
  } catch {
    return ""; // an escape of Go that JSON does not have
  }
}

/** total says how many there are of something. */
export const total = (n: number, noun: string): string => count(n) + " " + noun + (n === 1 ? "" : "s");
