/** How a load went over time: a heat map of latencies, what was answered, and how much was in flight. */
import type { LoadOver, LoadView } from "../../api/types.ts";
import { count, duration, instant, number, type Span } from "../../base/units.ts";
import { ticks } from "../../draw/axis.ts";
import { paintHeat } from "../../draw/heat.ts";
import { linearMarks, logMarks, Plot, steps, area, type Mark, type Scale } from "../../tracks/plot.tsx";

/** classes are the classes of status codes, as the server counts them. */
const classes = ["2xx", "3xx", "4xx", "5xx", "other status"] as const;

const shownTicks = (span: Span) => (width: number): Mark[] => ticks(span, width).map((t) => ({ at: t.t, label: t.label }));

/** cellAt is the stretch of time and the class of latencies at a place of the heat map. */
export function cellAt(o: LoadOver, x: number, y: number): { time: Span; latency: Span } {
  const length = (o.span.end_ns - o.span.start_ns) / o.columns;
  const col = Math.min(o.columns - 1, Math.max(0, Math.floor(x * o.columns))), row = Math.min(o.rows - 1, Math.max(0, Math.floor(y * o.rows)));
  return {
    time: { start: Math.round(o.span.start_ns + col * length), end: Math.round(o.span.start_ns + (col + 1) * length) },
    latency: { start: Math.round(o.low_ns * o.growth ** row), end: Math.round(o.low_ns * o.growth ** (row + 1)) },
  };
}

export function Heat({ of: v, onRange, onPick, picked }: { of: LoadView; onRange: (s: Span) => void; onPick: (x: number, y: number) => void; picked: { time: Span; latency: Span } | null }) {
  const o = v.over!;
  const span: Span = { start: o.span.start_ns, end: o.span.end_ns }, length = span.end - span.start;
  const y: Scale = { from: o.low_ns, to: o.low_ns * o.growth ** o.rows, log: true };
  const at = (col: number): number => span.start + col * length / o.columns;
  const lines = (o.lines ?? []).filter((l) => l.step > 0), missing = (o.lines ?? []).filter((l) => l.step === 0);
  const tell = (px: number, py: number): string[] => {
    const { time, latency } = cellAt(o, px, py), col = Math.min(o.columns - 1, Math.floor(px * o.columns)), row = Math.min(o.rows - 1, Math.floor(py * o.rows));
    const n = o.cells?.[row * o.columns + col] ?? 0;
    const out = [instant(time.start, length), `${count(n)} request${n === 1 ? "" : "s"} took ${duration(latency.start)} to ${duration(latency.end)}`];
    for (const l of lines) {
      const q = l.values?.[Math.floor(col / l.step)] ?? -1;
      if (q >= 0) out.push(`${l.name} ${duration(q)}`);
    }
    const failed = o.failed?.[col] ?? 0;
    if (failed) out.push(`${count(failed)} failed`);
    return out;
  };
  const failures = (o.failed ?? []).some((n) => n > 0);
  return (
    <figure class="plot-figure">
      <figcaption>
        <h2>Latency over time</h2>
        <span class="plot-legend">
          <span><i class="load-ramp" aria-hidden="true" /> 1 to {count(o.most)} requests a cell</span>
          {lines.map((l) => <span key={l.name}><svg width="24" height="8" aria-hidden="true"><path class={"load-q " + lineClass(l.name)} d="M0 4H24" /></svg> {l.name}</span>)}
          {missing.map((l) => <span key={l.name} class="muted">{l.name} needs {count(l.need)} answers</span>)}
          {failures ? <span><svg width="10" height="10" aria-hidden="true"><path class="load-fail" d="M1 1L9 9M9 1L1 9" /></svg> failed</span> : null}
        </span>
      </figcaption>
      <Plot label={`Heat map of response times over time, from ${duration(y.from)} to ${duration(y.to)}, ${instant(span.start, length)} to ${instant(span.end, length)}`} height={248} x={{ from: span.start, to: span.end }} y={y}
        marksX={shownTicks(span)} marksY={logMarks(y, duration, 9)} columns={o.columns} rows={o.rows} tell={tell}
        under={(c, w, h) => paintHeat({ columns: o.columns, rows: o.rows, most: o.most, cells: o.cells ?? [] }, c, w, h)} underKey={`${v.phase} ${span.start} ${span.end} ${o.columns} ${o.most}`}
        onBrush={(a, b) => onRange({ start: Math.round(a), end: Math.round(b) })} onPick={onPick}
        hint="Arrows move the cursor, Enter lists the requests of the cell, Shift with an arrow and Enter select a range">
        {(px, py, w, h) => (
          <>
            {lines.map((l) => {
              const d = steps((l.values ?? []).map((q) => q < 0 ? null : q), (i) => px(at(Math.min(i * l.step, o.columns))), py);
              return <g key={l.name}><path class="load-halo" d={d} /><path class={"load-q " + lineClass(l.name)} d={d} /></g>;
            })}
            {failures ? (o.failed ?? []).map((n, i) => n > 0 ? <path key={i} class="load-fail" d={`M${px(at(i + 0.5)) - 3} ${h - 3}l6 6m0 -6l-6 6`} /> : null) : null}
            {picked ? <rect class="cell" x={px(picked.time.start)} width={Math.max(3, px(picked.time.end) - px(picked.time.start))} y={py(picked.latency.end)} height={Math.max(3, py(picked.latency.start) - py(picked.latency.end))} /> : null}
            <line class="tick" x1={px(span.start)} x2={px(span.start) + w} y1={h + 6} y2={h + 6} />
          </>
        )}
      </Plot>
    </figure>
  );
}

function lineClass(name: string): string {
  return "q" + name.slice(1).replace(".", "");
}

/** Answers shows what was answered a second, by class of status, beside what was due. */
export function Answers({ of: v, onRange }: { of: LoadView; onRange: (s: Span) => void }) {
  const o = v.over!, span: Span = { start: o.span.start_ns, end: o.span.end_ns }, length = span.end - span.start;
  const seconds = length / o.columns / 1e9;
  // A column has some tens of requests at least, so that what is drawn is not noise alone.
  const total = (o.status ?? []).reduce((n, list) => n + (list ?? []).reduce((a, b) => a + b, 0), 0);
  const merge = Math.max(1, Math.min(Math.ceil(o.columns / 20), Math.ceil(30 / Math.max(1e-9, total / o.columns))));
  const merged = (list: readonly number[] | null | undefined): number[] => {
    const out: number[] = [];
    for (let i = 0; i < (list?.length ?? 0); i += merge) {
      const part = list!.slice(i, i + merge);
      out.push(part.reduce((a, b) => a + b, 0) / (part.length * seconds));
    }
    return out;
  };
  const kinds = [...classes.map((name, i) => ({ name: name as string, rate: merged(o.status?.[i]) })), { name: "failed", rate: merged(o.failed) }].filter((k) => k.rate.some((r) => r > 0));
  const due = v.open ? merged(o.due) : [];
  const sums = kinds.reduce<number[][]>((all, k) => [...all, k.rate.map((r, i) => r + (all[all.length - 1]?.[i] ?? 0))], []);
  const y: Scale = { from: 0, to: Math.max(1e-9, ...(sums[sums.length - 1] ?? [1]), ...due) * 1.1 };
  const at = (i: number): number => span.start + Math.min(i * merge, o.columns) * length / o.columns;
  const place = (x: number): number => Math.min((kinds[0]?.rate.length ?? 1) - 1, Math.floor(x * o.columns / merge));
  return (
    <figure class="plot-figure">
      <figcaption>
        <h2>Answers a second</h2>
        <span class="plot-legend">
          {kinds.map((k) => <span key={k.name}><i class={"load-key " + kindClass(k.name)} aria-hidden="true" /> {k.name}</span>)}
          {due.length ? <span><svg width="24" height="8" aria-hidden="true"><path class="load-q q99" d="M0 4H24" /></svg> due</span> : null}
        </span>
      </figcaption>
      <Plot label={"Responses per second over time: " + kinds.map((k) => `${k.name} up to ${number(Math.max(...k.rate))}`).join(", ")} height={112} x={{ from: span.start, to: span.end }} y={y} marksX={shownTicks(span)}
        marksY={linearMarks(y, number)} columns={kinds[0]?.rate.length ?? 1} onBrush={(a, b) => onRange({ start: Math.round(a), end: Math.round(b) })}
        hint="Shift with an arrow and Enter select a range"
        tell={(x) => [instant(at(place(x)), length), ...kinds.map((k) => `${k.name} ${number(k.rate[place(x)] ?? 0)}/s`), ...(due.length ? [`due ${number(due[place(x)] ?? 0)}/s`] : [])]}>
        {(px, py) => (
          <>
            <defs>
              <pattern id="load-hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="load-hatch" width="2.500" height="4" /></pattern>
            </defs>
            {kinds.map((k, n) => <path key={k.name} class={"load-area " + kindClass(k.name)} d={area(sums[n]!, (i) => px(at(i)), py, sums[n - 1] ?? null)} />)}
            {due.length ? <path class="load-q q99" d={steps(due, (i) => px(at(i)), py)} /> : null}
          </>
        )}
      </Plot>
    </figure>
  );
}

function kindClass(name: string): string {
  return name === "2xx" ? "good" : name === "3xx" ? "moved" : name === "4xx" ? "refused" : "bad";
}

/** Flying shows how many requests waited for an answer, and how many for a connection. */
export function Flying({ of: v, onRange }: { of: LoadView; onRange: (s: Span) => void }) {
  const o = v.over!, span: Span = { start: o.span.start_ns, end: o.span.end_ns }, length = span.end - span.start;
  const flying = o.flying ?? [], waiting = o.waiting ?? [], late = o.late_ns ?? [];
  const queued = waiting.some((n) => n > 0);
  const y: Scale = { from: 0, to: Math.max(1, ...flying, ...waiting) * 1.1 };
  const at = (i: number): number => span.start + i * length / o.columns;
  const place = (x: number): number => Math.min(o.columns - 1, Math.floor(x * o.columns));
  return (
    <figure class="plot-figure">
      <figcaption>
        <h2>In flight</h2>
        <span class="plot-legend">
          <span><svg width="24" height="8" aria-hidden="true"><path class="load-q q50" d="M0 4H24" /></svg> waiting for a response</span>
          {queued ? <span><i class="load-key queued" aria-hidden="true" /> due but not sent</span> : null}
        </span>
      </figcaption>
      <Plot label={`Requests in flight over time, up to ${count(Math.max(0, ...flying))}${queued ? `; due and not sent up to ${count(Math.max(...waiting))}` : ""}`} height={112} x={{ from: span.start, to: span.end }} y={y} marksX={shownTicks(span)}
        marksY={linearMarks(y, number)} columns={o.columns} onBrush={(a, b) => onRange({ start: Math.round(a), end: Math.round(b) })} hint="Shift with an arrow and Enter select a range"
        tell={(x) => { const i = place(x); return [instant(at(i), length), `${count(flying[i] ?? 0)} in flight`, ...(queued ? [`${count(waiting[i] ?? 0)} due but not sent`] : []), ...(v.open ? [`sent at most ${duration(late[i] ?? 0)} late`] : [])]; }}>
        {(px, py) => (
          <>
            {queued ? <path class="load-area queued" d={area(waiting, (i) => px(at(i)), py)} /> : null}
            <path class="load-q q50" d={steps(flying, (i) => px(at(i)), py)} />
          </>
        )}
      </Plot>
    </figure>
  );
}
