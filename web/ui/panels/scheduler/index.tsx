/** The scheduler: how the Ps were used, who waited for one, and who kept them; of any range. */
import { useState } from "preact/hooks";
import type { Fact, SchedPage, Table as Sheet } from "../../api/types.ts";
import { instant } from "../../base/units.ts";
import { param, range, rangeParams, set, setRange } from "../../model/route.ts";
import { axis } from "../../model/source.ts";
import { Distribution } from "../../tracks/charts.tsx";
import { Parts } from "../../tracks/figures.tsx";
import { Lanes } from "../../tracks/lanes.tsx";
import { Answer, Empty, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import type { PanelProps } from "../panel.ts";

const lanes = ["phases", "procs", "wait", "states", "samples", "queue", "goroutines"];

export function Scheduler({ source }: PanelProps) {
  if (!axis.value) {
    return (
      <>
        <h1>Scheduler</h1>
        <Empty><p>No scheduler data over time here. Take an execution trace, or run the program with <code>GODEBUG=schedtrace=1000</code> and open its log; <code>loupe run ./cmd/server</code> records both.</p></Empty>
      </>
    );
  }
  return (
    <>
      <h1>Scheduler</h1>
      <Lanes source={source.id} keys={lanes} label="Scheduler over time" />
      <Traced source={source.id} />
      <Samples source={source.id} />
    </>
  );
}

/** shapes are facts that are pictures elsewhere on the page, or for programs. */
const shapes = ["use", "sched_wait_histogram", "runs_histogram"];

/** Traced is what the execution trace tells, as loupe trace sched and loupe trace blocked do. */
function Traced({ source }: { source: string }) {
  const page = useAnswer("sched/trace", { s: source, ...rangeParams() });
  return (
    <section aria-label="In the execution trace">
      <h2>In the execution trace</h2>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <p class="muted">
              {instant(p.covers.start_ns, 1e7)} to {instant(p.covers.end_ns, 1e7)}{range.value && p.filter ? <>: the same as <code>loupe trace sched -filter '{p.filter}'</code></> : null}
            </p>
            <dl class="facts sc-facts">
              {(p.sched?.facts ?? []).filter((f: Fact) => f.head && !shapes.includes(f.key)).map((f: Fact) => <div key={f.key}><dt>{f.head}</dt><dd>{f.shown}</dd></div>)}
            </dl>
            <div class="charts">
              <Distribution of={p.waits} colour="runnable" />
              <Distribution of={p.runs} colour="running" />
            </div>
            {p.hogs ? <Timed of={p.hogs} page={p} length="longest_ns" /> : null}
            {(p.sched?.tables ?? []).map((t) => t && <Timed key={t.key} of={t} page={p} length="length_ns" />)}
            <h2>What goroutines wait for</h2>
            {(p.blocked?.tables ?? []).map((t) => t && <Timed key={t.key} of={t} page={p} length="length_ns" />)}
            {p.tasks ? <Tasks page={p} source={source} /> : null}
          </>
        )}
      </Answer>
    </section>
  );
}

/** Timed is a table whose rows choose their time as the range, where they have one. */
function Timed({ of: t, page, length }: { of: Sheet; page: SchedPage; length: string }) {
  const at = (t.columns ?? []).findIndex((c) => c.key === "at_ns"), long = (t.columns ?? []).findIndex((c) => c.key === length);
  if (at < 0) return <Table of={t} rows={10} />;
  return (
    <Table of={t} rows={10} onRow={(r) => {
      const start = page.start + Number(t.values?.[r]?.[at] ?? 0), d = long < 0 ? 0 : Number(t.values?.[r]?.[long] ?? 0);
      setRange({ start: Math.round(start), end: Math.round(start + Math.max(1000, d)) });
    }} />
  );
}

/** Tasks are the user tasks; one of them opens with its tree and its critical path. */
function Tasks({ page, source }: { page: SchedPage; source: string }) {
  const id = param("task");
  const task = useAnswer("timeline/task", { s: source, id }, id !== "");
  const [none, setNone] = useState("");
  return (
    <>
      <h2>User tasks</h2>
      {(page.tasks?.tables ?? []).map((t) => {
        if (!t) return null;
        const at = (t.columns ?? []).findIndex((c) => c.key === "id");
        return at < 0 ? <Table key={t.key} of={t} rows={8} /> : (
          <Table key={t.key} of={t} rows={8} onRow={(r) => {
            const chosen = String(t.values?.[r]?.[at] ?? "");
            setNone(chosen ? "" : "This task has no number.");
            if (chosen) set({ task: chosen });
          }} />
        );
      })}
      {none ? <p class="note">{none}</p> : null}
      {id ? (
        <section aria-label={"Task " + id}>
          <h3>Task {id}: its tree and its critical path <button type="button" class="quiet" aria-label="close the task" onClick={() => set({ task: undefined })}>✕</button></h3>
          <Answer of={task} source={source}>{(p) => p?.page && <FactPage of={{ ...p.page, facts: (p.page.facts ?? []).filter((f) => f.head) }} />}</Answer>
        </section>
      ) : null}
    </>
  );
}

/** Samples is what loupe sched prints of schedtrace: of every bare phase, or of the range. */
function Samples({ source }: { source: string }) {
  const page = useAnswer("sched/samples", { s: source, ...rangeParams() });
  return (
    <section aria-label="In schedtrace">
      <h2>In the samples from schedtrace</h2>
      <Answer of={page} source={source}>
        {(p) => p && <Parts of={p.parts ?? []} more={(part) => part.waits ? <Table of={part.waits} rows={8} /> : null} />}
      </Answer>
    </section>
  );
}
