/** The collector: what it cost, each collection, its pauses, and what it left to the program; of any range. */
import { useMemo } from "preact/hooks";
import type { CyclesPage } from "../../api/types.ts";
import { exactSpan, instant } from "../../base/units.ts";
import { range, rangeParams, setRange } from "../../model/route.ts";
import { axis, has } from "../../model/source.ts";
import { Distribution, ShareCurves } from "../../tracks/charts.tsx";
import { Parts, Shares } from "../../tracks/figures.tsx";
import { Lanes } from "../../tracks/lanes.tsx";
import { Answer, Empty, useAnswer } from "../../widgets/ask.tsx";
import { Table } from "../../widgets/table.tsx";
import type { PanelProps } from "../panel.ts";
import { WhatIf } from "./whatif.tsx";

const lanes = ["phases", "heap", "gc", "pauses", "gccpu", "alloc"];

export function Collector({ source }: PanelProps) {
  if (!axis.value) {
    return (
      <>
        <h1>GC</h1>
        <Empty>
          <p>No GC data over time here. Run the program with <code>GODEBUG=gctrace=1</code> and open its log, take an execution trace, or record both: <code>loupe run ./cmd/server</code></p>
          {has("pprof.") ? <p>For allocation sites, see the Profile view.</p> : null}
        </Empty>
      </>
    );
  }
  return (
    <>
      <h1>GC</h1>
      <Lanes source={source.id} keys={lanes} label="GC over time" />
      <Figures source={source.id} />
      <Cycles source={source.id} />
      <div class="gc-two">
        <Utilisation source={source.id} />
        <Traced source={source.id} />
      </div>
      <WhatIf source={source.id} />
    </>
  );
}

/** Figures are what loupe gc prints: of every bare phase, or of the range. */
function Figures({ source }: { source: string }) {
  const page = useAnswer("gc", { s: source, ...rangeParams() });
  if (page.error?.missing) return <p class="muted gc-none">{page.error.message}</p>;
  return (
    <section aria-label="In gctrace">
      <h2>In gctrace</h2>
      <Answer of={page} source={source}>{(p) => p && <Parts of={p.parts ?? []} />}</Answer>
    </section>
  );
}

/** Cycles are the collections of gctrace; a row is a brush. */
function Cycles({ source }: { source: string }) {
  const page = useAnswer("gc/cycles", { s: source, ...rangeParams() });
  if (page.error?.missing) return null;
  return (
    <Answer of={page} source={source}>
      {(p) => p && (
        <>
          <div class="charts">
            {(p.pauses ?? []).map((b) => <Distribution key={b.key} of={b} colour={b.key === "stw1" ? "running" : "worse"} />)}
            <Shares title="P time of the collections, by use" of={p.cpu ?? []} />
          </div>
          <CycleTable of={p} />
        </>
      )}
    </Answer>
  );
}

function CycleTable({ of: p }: { of: CyclesPage }) {
  const r = range.value;
  const selected = useMemo(() => r ? (p.start ?? []).findIndex((s, i) => exactSpan(around(p, i)) === exactSpan(r) && s >= 0) : -1, [p, r]);
  if (!p.table) return null;
  return <Table of={p.table} rows={14} selected={selected < 0 ? null : selected} onRow={(i) => setRange(around(p, i))} label="Collections: select a row to set the range to it" />;
}

/** around is the time of a collection, and at least a microsecond. */
function around(p: CyclesPage, i: number): { start: number; end: number } {
  const start = p.start![i]!, end = p.end![i]!;
  return { start, end: Math.max(end, start + 1000) };
}

/** Utilisation is what the collector leaves to the program in windows of growing length. */
function Utilisation({ source }: { source: string }) {
  const page = useAnswer("gc/mmu", { s: source, ...rangeParams() });
  return (
    <section aria-label="Minimum mutator utilisation">
      <h2>What GC leaves to the program</h2>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <p class="muted">From {p.source}; {instant(p.covers.start_ns, 1e7)} to {instant(p.covers.end_ns, 1e7)}. In any window of a length the program had at least this share of the machine.</p>
            {p.windows.length ? (
              <ShareCurves at={p.windows} label="Minimum mutator utilisation by length of window" curves={[
                { title: "in the worst window", colour: "running", dash: [], values: p.least },
                { title: "in 99 of 100 windows", colour: "worse", dash: [6, 3], values: p.most },
              ]} />
            ) : null}
            {(p.table?.tables ?? []).map((t) => t && <Table key={t.key} of={t} rows={12} bare />)}
          </>
        )}
      </Answer>
    </section>
  );
}

/** Traced is what the execution trace tells of the collector. */
function Traced({ source }: { source: string }) {
  const page = useAnswer("sched/trace", { s: source, ...rangeParams() });
  return (
    <section aria-label="GC in the trace">
      <h2>In the execution trace</h2>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            {(p.pauses ?? []).map((b) => <Distribution key={b.key} of={b} colour="stw" />)}
            {(p.stw?.tables ?? []).map((t) => {
              if (!t) return null;
              const at = (t.columns ?? []).findIndex((c) => c.key === "at_ns"), length = (t.columns ?? []).findIndex((c) => c.key === "length_ns" || c.key === "mark_ns");
              return at < 0 ? <Table key={t.key} of={t} rows={8} /> : (
                <Table key={t.key} of={t} rows={8} onRow={(r) => {
                  const start = p.start + Number(t.values?.[r]?.[at]), d = Number(t.values?.[r]?.[length] ?? 0);
                  setRange({ start, end: start + Math.max(1000, d) });
                }} />
              );
            })}
          </>
        )}
      </Answer>
    </section>
  );
}
