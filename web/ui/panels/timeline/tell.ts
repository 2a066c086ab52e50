/** What lanes show, in words: for the tooltip, the table and people who do not see the picture. */
import type { Span, Time } from "../../base/units.ts";
import { count, duration, exactSpan, number, percent } from "../../base/units.ts";
import type { Table } from "../../api/types.ts";
import { rest, type Columns } from "../../model/columns.ts";
import { classesOf, figure, title, type Lane, type LaneKind } from "../../model/lanes.ts";
import { latencyRows } from "../../model/tiles.ts";
import type { Stage } from "./stage.ts";

/** Told is one line of what a lane does: a state with how much. */
export interface Told {
  readonly name: string;
  readonly colour: string;
  readonly shown: string;
  /** share of the time, or how many. */
  readonly value: number;
}

/** shares are how a lane spends a span, the most first; class 7 is what is left of the time that the lane is there. */
export function shares(c: Columns, lane: Lane): Told[] {
  const kind = lane.kind as LaneKind, list = classesOf[kind], sums = new Array<number>(8).fill(0);
  let known = 0, bits = 0;
  for (let x = 0; x < c.width; x++) {
    known += c.known[x]!;
    bits |= c.present[x]!;
    for (let k = 0; k < 8; k++) sums[k]! += c.time[k]![x]!;
  }
  if (known <= 0) return [];
  if (kind !== "group") sums[rest] = Math.max(0, known - sums.slice(0, rest).reduce((a, b) => a + b, 0));
  const out: Told[] = [];
  for (let k = 0; k < 8; k++) {
    const name = list[k]?.name ?? "";
    const v = sums[k]! / known;
    if (!name || v <= 0 && (bits >> k & 1) === 0 || k === rest && v < 0.001) continue;
    out.push({ name, colour: list[k]!.colour, value: v, shown: kind === "group" ? number(Math.round(v * 100) / 100) : v < 0.0005 ? "a trace" : percent(Math.min(1, v)) });
  }
  return out.sort((a, b) => b.value - a.value);
}

/** latencyBounds are from where up to where the latencies of a row are, in ns. */
export function latencyBounds(row: number): [number, number] {
  return row === 0 ? [0, 64] : [64 * 2 ** (row - 1), row === latencyRows - 1 ? Infinity : 64 * 2 ** row];
}

/** waits are how many goroutines waited how long for a P, the longest first. */
export function waits(c: Columns): Told[] {
  const out: Told[] = [];
  for (let r = latencyRows - 1; r >= 0; r--) {
    let n = 0;
    for (let x = 0; x < c.width; x++) n += c.heat[r * c.width + x] ?? 0;
    if (n < 0.05) continue;
    const [from, to] = latencyBounds(r);
    out.push({ name: to === Infinity ? `${duration(from)} and longer` : `${duration(from)} – ${duration(to)}`, colour: "runnable", value: n, shown: "≈ " + count(Math.max(1, n)) });
  }
  return out;
}

/** told is what a lane shows of a span in a few lines. */
export function told(stage: Stage, lane: Lane, s: Span): Told[] {
  const c = stage.look(lane, s);
  switch (lane.kind as LaneKind) {
    case "counter": {
      if (!(c.low[0]! <= c.high[0]!)) return [];
      const line = (name: string, v: number): Told => ({ name, colour: "accent", value: v, shown: figure(lane, v) });
      return [line("mean", c.mean[0]! / c.known[0]!), line("least", c.low[0]!), line("most", c.high[0]!)];
    }
    case "latency": return waits(c);
    default: return shares(c, lane);
  }
}

/** spoken is what a lane does at an instant, in one sentence. */
export function spoken(stage: Stage, lane: Lane, t: Time): string {
  const exactly = stage.spanAt(lane, t);
  if (exactly) return `${title(lane)} ${classesOf[lane.kind as LaneKind][exactly.class]?.name ?? ""} ${duration(exactly.span.end - exactly.span.start)}`;
  const all = told(stage, lane, { start: t - stage.view.perPx, end: t + stage.view.perPx }).slice(0, 3);
  return title(lane) + (all.length ? ": " + all.map((a) => a.name + " " + a.shown).join(", ") : " has nothing here");
}

/** tableOf is the lanes that are seen as a table: what each does in the time that is seen. */
export function tableOf(stage: Stage): Table {
  const s = stage.seen;
  const columns = [{ key: "lane", head: "lane", left: true }, { key: "name", head: "name", left: true }];
  const names: string[] = [];
  const rows: { lane: Lane; told: Told[] }[] = [];
  for (const { lane } of stage.rows()) {
    if (!lane) continue;
    const list = told(stage, lane, s);
    rows.push({ lane, told: list });
    for (const t of list) if (lane.kind !== "latency" && !names.includes(t.name)) names.push(t.name);
  }
  for (const n of names) columns.push({ key: n, head: n, left: false });
  const cell = (r: { lane: Lane; told: Told[] }, n: string): Told | undefined => r.told.find((t) => t.name === n);
  return {
    key: "lanes", title: "", columns,
    shown: rows.map((r) => [title(r.lane), r.lane.name, ...names.map((n) => cell(r, n)?.shown ?? "")]),
    values: rows.map((r) => [title(r.lane), r.lane.name, ...names.map((n) => cell(r, n)?.value ?? null)]),
    notes: ["Over the visible time: shares of it; for groups the mean number of goroutines; for counters their values."],
  };
}

/** shownSpan is what is seen, for the address; nothing when that is all. */
export function shownSpan(stage: Stage, short = true): string {
  // No more digits than there are pixels.
  const { start, end } = stage.seen, digit = 10 ** Math.max(0, Math.floor(Math.log10(stage.view.perPx)));
  const s = { start: Math.floor(start / digit) * digit, end: Math.ceil(end / digit) * digit };
  return short && s.start <= stage.all.start && s.end >= stage.all.end ? "" : exactSpan(s);
}
