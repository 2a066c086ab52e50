/** How the range was spent, in figures; the life of one goroutine. */
import type { ClassTime, Table as Sheet } from "../../api/types.ts";
import { count, duration, percent } from "../../base/units.ts";
import { short } from "../../model/lanes.ts";
import { rangeParams } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";

export type Cell = readonly [shown: string, value: unknown];

/** sheet makes a table of rows. */
export function sheet(key: string, title: string, heads: readonly string[], rows: readonly (readonly Cell[])[], notes: readonly string[] = []): Sheet {
  return {
    key, title, notes: [...notes], columns: heads.map((h, i) => ({ key: h, head: h, left: i === 0 })),
    shown: rows.map((r) => r.map((c) => c[0])), values: rows.map((r) => r.map((c) => c[1])),
  } as Sheet;
}

export const time = (ns: number): Cell => [duration(ns), ns];
export const number = (n: number): Cell => [count(n), n];
export const text = (s: string): Cell => [s, s];

function classSheet(key: string, title: string, of: readonly ClassTime[]): Sheet {
  const all = of.reduce((sum, c) => sum + c.time_ns, 0);
  return sheet(key, title, ["state", "time", "share", "longest", "spans"],
    [...of].sort((a, b) => b.time_ns - a.time_ns).map((c) => [text(c.name), time(c.time_ns), [all > 0 ? percent(c.time_ns / all) : "", all > 0 ? c.time_ns / all : null], time(c.longest_ns), number(c.spans)]));
}

/** RangeFigures tells how time in the range was spent. */
export function RangeFigures({ source, onLane }: { source: string; onLane: (name: string) => void }) {
  const asked = useAnswer("timeline/stats", { s: source, ...rangeParams() });
  return (
    <Answer of={asked} source={source}>
      {(s) => {
        if (!s) return null;
        const groups = s.groups ?? [], of = (list: readonly ClassTime[] | null, k: number): number => list?.find((c) => c.class === k)?.time_ns ?? 0;
        return (
          <>
            {s.exact ? null : <p class="note">The trace is too large to keep the spans of some lanes: these figures cover the others.</p>}
            <dl class="facts">
              <div><dt>length</dt><dd>{duration(s.within.end_ns - s.within.start_ns)}</dd></div>
              <div><dt>stop-the-world</dt><dd>{count(s.stops.spans)}{s.stops.spans ? `, ${duration(s.stops.time_ns)}` : ""}</dd></div>
              <div><dt>mark phases</dt><dd>{count(s.marks.spans)}{s.marks.spans ? `, ${duration(s.marks.time_ns)}` : ""}</dd></div>
            </dl>
            <Table of={classSheet("procs", "Ps", s.procs ?? [])} bare rows={8} />
            <Table of={classSheet("goroutines", "Goroutines", s.goroutines ?? [])} bare rows={8} />
            <Table of={sheet("groups", "By function", ["function", "goroutines", "ran", "runnable", "sync", "chan", "network", "syscall"],
              groups.map((g) => [[short(g.name) || "unknown", g.name], number(g.members), ...[0, 1, 4, 5, 6, 3].map((k) => time(of(g.classes, k)))]),
              s.groupsTotal > groups.length ? [`${count(s.groupsTotal - groups.length)} more functions ran less`] : [])} rows={10} onRow={(i) => onLane(groups[i]!.name)} />
          </>
        );
      }}
    </Answer>
  );
}

/** Life tells what a goroutine did all its life, or in the range. */
export function Life({ source, g }: { source: string; g: number }) {
  const asked = useAnswer("timeline/goroutine", { s: source, g, ...rangeParams() });
  return <Answer of={asked} source={source}>{(l) => (l ? <>{l.function ? <p class="muted"><bdi>{l.function}</bdi></p> : null}{l.page ? <FactPage of={l.page} /> : null}</> : null)}</Answer>;
}
