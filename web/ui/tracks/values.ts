/** What lanes say at an instant, in words. */
import type { Lane, LaneLine, Table } from "../api/types.ts";
import { bytes, count, duration, instant, number, percent, type Span, type Time } from "../base/units.ts";

/** figure prints a value in the unit of its lane. */
export function figure(v: number, unit: string): string {
  switch (unit) {
    case "ns": return duration(v);
    case "bytes": return bytes(v);
    case "share": return percent(v);
    case "per_second": return number(v) + "/s";
    case "cpus": return number(v);
    default: return Number.isInteger(v) || v >= 1000 ? count(v) : number(v);
  }
}

/** before is the number of the last instant of a column that is not after t, -1 when there is none. */
export function before(at: readonly number[], t: Time): number {
  let low = 0, high = at.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (at[mid]! <= t) low = mid + 1;
    else high = mid;
  }
  return low - 1;
}

/** pointAt is the number of the point that tells of an instant: of sampled values the nearest one. */
export function pointAt(l: LaneLine, t: Time): number {
  const at = l.at ?? [], i = before(at, t);
  if (l.step) return i >= 0 && l.mean[i] !== null ? i : -1;
  const known = (n: number): boolean => n >= 0 && n < at.length && l.mean[n] !== null && l.mean[n] !== undefined;
  if (!known(i) || !known(i + 1)) return known(i) && at[i] === t ? i : known(i + 1) && at[i + 1] === t ? i + 1 : -1;
  return t - at[i]! <= at[i + 1]! - t ? i : i + 1;
}

/** textAt is what a line says at an instant, "" where it knows nothing: with its bounds where a point stands for several values. */
export function textAt(l: LaneLine, t: Time, unit: string): string {
  const i = pointAt(l, t);
  if (i < 0) return "";
  const mean = l.mean[i]!, low = l.min?.[i], high = l.max?.[i];
  const text = figure(mean, unit);
  if (low === undefined || low === null || high === undefined || high === null || low === high) return text;
  return `${text} (${figure(low, unit)} to ${figure(high, unit)})`;
}

/** briefAt is the same in few letters: the mean, and behind ▲ the greatest. */
export function briefAt(l: LaneLine, t: Time, unit: string): string {
  const i = pointAt(l, t);
  if (i < 0) return "";
  const text = figure(l.mean[i]!, unit), high = l.max?.[i];
  const most = high === undefined || high === null ? text : figure(high, unit);
  return most === text ? text : text + " ▲" + most;
}

/** spanAt is the stretch of a lane of spans that an instant lies in, -1 when there is none; slack is how far off it may be. */
export function spanAt(l: Lane, t: Time, slack: Time): number {
  const s = l.spans;
  let best = -1;
  for (let i = 0; i < (s?.start?.length ?? 0); i++) {
    if (s!.start![i]! - slack <= t && t <= s!.end![i]! + slack) best = i;
  }
  return best;
}

/** laneText says what a lane shows at an instant. */
export function laneText(l: Lane, t: Time, slack: Time): string {
  if (l.shape === "spans") {
    const i = spanAt(l, t, slack);
    if (i < 0) return "";
    const label = l.spans!.label?.[i], worst = l.spans!.worst?.[i], n = l.spans!.count![i]!;
    return label ?? (n > 1 ? n + " collections" : "a collection") + (worst ? ", longest stop " + duration(worst) : "");
  }
  const parts: string[] = [];
  for (const line of l.lines ?? []) {
    const text = textAt(line, t, l.unit);
    if (text) parts.push(line.title + " " + text);
  }
  if (l.heat) {
    const n = heatAt(l, t);
    if (n !== null) parts.push(count(n) + " counted");
  }
  return parts.join(", ");
}

/** heatAt is how many things the column of an instant holds. */
export function heatAt(l: Lane, t: Time): number | null {
  const h = l.heat!, rows = h.rows.length - 1, c = Math.floor((t - h.start) / h.width);
  if (c < 0 || (c + 1) * rows > h.counts.length) return null;
  let sum = 0;
  for (let r = 0; r < rows; r++) sum += h.counts[c * rows + r] ?? 0;
  return Math.round(sum);
}

/** tableOf is the lanes as a table: so many instants, and what each line says there. */
export function tableOf(lanes: readonly Lane[], span: Span, rows: number): Table {
  const t: Table = { key: "lanes", title: "", columns: [{ key: "at_ns", head: "at", left: false }], shown: [], values: [], notes: null };
  for (const l of lanes) {
    for (const x of l.lines ?? []) {
      const name = (l.lines?.length ?? 0) > 1 || l.heat ? l.title + ": " + x.title : l.title;
      t.columns!.push({ key: l.key + "_" + x.key, head: name, left: false });
      if (x.max) t.columns!.push({ key: l.key + "_" + x.key + "_max", head: name + ", greatest", left: false });
    }
    if (l.spans) t.columns!.push({ key: l.key, head: l.title, left: true });
  }
  const gap = (span.end - span.start) / rows;
  for (let r = 0; r < rows; r++) {
    const at = Math.round(span.start + (r + 0.5) * gap);
    const shown = [instant(at, span.end - span.start)], values: unknown[] = [at];
    for (const l of lanes) {
      for (const x of l.lines ?? []) {
        const i = pointAt(x, at);
        for (const column of x.max ? [x.mean, x.max] : [x.mean]) {
          const v = i < 0 ? null : column[i] ?? null;
          values.push(v);
          shown.push(v === null ? "–" : figure(v, l.unit));
        }
      }
      if (l.spans) {
        const text = laneText(l, at, gap / 2);
        values.push(text);
        shown.push(text || "–");
      }
    }
    t.shown!.push(shown);
    t.values!.push(values);
  }
  return t;
}
