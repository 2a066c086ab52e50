/** The load view: what was sent, how it was answered, and what slow requests met. */
import { useEffect } from "preact/hooks";
import type { LoadList, LoadView } from "../../api/types.ts";
import { count, exactSpan, type Span } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { param, range, rangeParams, set, setRange } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactList } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";
import { Answers, cellAt, Flying, Heat } from "./over.tsx";
import { formatPick, pickOf, Requests } from "./requests.tsx";
import { Bars, Curve } from "./spread.tsx";

export function Load({ source }: PanelProps) {
  const runs = useAnswer("load/runs", { s: source.id });
  return (
    <>
      <h1>Load</h1>
      <Answer of={runs} source={source.id}>{(list) => list && <Runs of={list} source={source.id} />}</Answer>
    </>
  );
}

/** Runs shows the run that is chosen: by name, else the first one within the range. */
function Runs({ of: list, source }: { of: LoadList; source: string }) {
  const all = list.runs ?? [], wanted = param("phase"), r = range.value;
  const run = all.find((x) => x.phase === wanted) ?? all.find((x) => !x.damage && (!r || x.span.start_ns < r.end && x.span.end_ns > r.start)) ?? all[0]!;
  const view = useAnswer("load/run", { s: source, phase: run.phase, columns: 240, ...rangeParams() });
  const choose = (phase: string): void => set({ phase, req: undefined, pick: undefined, t: undefined });
  useEffect(() => {
    localCommands.value = [
      ...["requests", "met", "spread", "figures"].map((id) => ({ name: "Load: " + tabNames[id], run: () => set({ tab: id === "requests" ? undefined : id }) })),
      ...all.slice(0, 30).map((x) => ({ name: "Load of phase " + x.phase, run: () => choose(x.phase) })),
    ];
    return () => { localCommands.value = []; };
  }, [list]);
  return (
    <>
      <div class="load-bar">
        {all.length > 1 ? (
          <label>Run{" "}
            <select value={run.phase} onChange={(e) => choose(e.currentTarget.value)}>
              {all.map((x) => <option key={x.phase} value={x.phase}>{x.phase}{x.profiler ? ", with " + x.profiler : ""}{x.damage ? ", damaged" : `, ${count(x.requests)} requests`}</option>)}
            </select>
          </label>
        ) : null}
        <span class="load-url">{run.url}</span>
        <span class="chip" title={run.open ? "requests were sent on a schedule (open loop): times count from when each was due" : "each connection waits for its response (closed loop): a stall affects only one request of each"}>{run.model}</span>
        {run.profiler ? <span class="chip" title="the profiler slows the program: compare with the bare phases">with {run.profiler}</span> : null}
        {r ? <span class="chip">{exactSpan(r)}</span> : null}
      </div>
      {run.damage ? <p class="load-bad" role="note">The file is damaged: {run.damage}. What comes before that is shown.</p> : null}
      <Answer of={view} source={source}>{(v) => v && <Run of={v} list={list} source={source} choose={choose} />}</Answer>
    </>
  );
}

const tabNames: Record<string, string> = { requests: "Slow requests", met: "Coinciding events", spread: "Distribution", figures: "Figures", steps: "Stages", runs: "All runs" };

function Run({ of: v, list, source, choose }: { of: LoadView; list: LoadList; source: string; choose: (phase: string) => void }) {
  const o = v.over!;
  const onRange = (s: Span): void => setRange(s);
  const tabs = ["requests", "met", "spread", "figures", ...(v.steps ? ["steps"] : []), ...((list.runs?.length ?? 0) > 1 ? ["runs"] : [])];
  const tab = tabs.includes(param("tab")) ? param("tab") : "requests";
  const none = (v.over?.most ?? 0) === 0;
  return (
    <>
      <FactList of={v.page?.facts ?? []} />
      {none ? <p class="muted">No responses in this period.</p> : (
        <Heat of={v} onRange={onRange} picked={pickOf(param("pick"))} onPick={(x, y) => set({ pick: formatPick(cellAt(o, x, y)), tab: undefined, failed: undefined, req: undefined })} />
      )}
      <div class="load-two">
        <Answers of={v} onRange={onRange} />
        <Flying of={v} onRange={onRange} />
      </div>
      <Tabs label="more of this load" of={tabs.map((id) => ({ id, name: tabNames[id]! }))} value={tab} onChange={(id) => set({ tab: id === "requests" ? undefined : id })} />
      <div role="tabpanel" aria-label={tabNames[tab]}>
        {tab === "requests" ? <Requests run={v} /> : null}
        {tab === "met" ? <Met source={source} phase={v.phase} /> : null}
        {tab === "spread" ? (none ? null : <div class="load-two"><Curve of={v} /><Bars of={v} /></div>) : null}
        {tab === "figures" ? <div class="load-tables">{(v.page?.tables ?? []).map((t) => t && <Table key={t.key} of={t} bare />)}</div> : null}
        {tab === "steps" && v.steps ? <Table of={v.steps} selected={v.last >= 0 ? v.last : null} /> : null}
        {tab === "runs" && list.table ? <Table of={list.table} onRow={(r) => choose(list.runs![r]!.phase)} selected={list.runs!.findIndex((x) => x.phase === v.phase)} /> : null}
      </div>
    </>
  );
}

/** Met is what the slowest requests met, in comparison with all. */
function Met({ source, phase }: { source: string; phase: string }) {
  const met = useAnswer("load/met", { s: source, phase, ...rangeParams() });
  return (
    <Answer of={met} source={source}>
      {(m) => m && (
        <>
          <p>{m.head}.</p>
          {(m.tables ?? []).map((t) => t && <Table key={t.key} of={t} />)}
          {(m.tables ?? []).length ? <p class="note">“By chance” is what the slowest requests would coincide with at other times: all requests are shifted along the time axis. A lift of 2 means that slow requests coincide with it twice as often as all requests do; p is the probability of at least that much by chance alone.</p> : null}
        </>
      )}
    </Answer>
  );
}
