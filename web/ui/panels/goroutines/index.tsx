/** What goroutines do, at one instant and over time: what is suspicious first. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { GoroutineView, ShotItem, Trend } from "../../api/types.ts";
import { count, duration, exact, parse } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { param, range, rangeParams, set } from "../../model/route.ts";
import { axis, has } from "../../model/source.ts";
import { Answer, useAnswer, type Asked } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import type { PanelProps } from "../panel.ts";
import { Failure, Races } from "./failure.tsx";
import { Group } from "./group.tsx";
import { Spark, States } from "./pictures.tsx";
import { Threads } from "./threads.tsx";

const groupings = [
  { id: "stack", name: "Stack" }, { id: "state", name: "State" }, { id: "creator", name: "Go statement" }, { id: "function", name: "Function" },
] as const;

export function Goroutines({ source }: PanelProps) {
  const traced = has("exectrace"), cores = has("core");
  const tabs = [{ id: "now", name: traced ? "At an instant" : "Goroutines" }, ...(traced ? [{ id: "range", name: "Over the time" }] : []), ...(cores ? [{ id: "threads", name: "Threads" }] : [])];
  const tab = tabs.find((t) => t.id === param("tab"))?.id ?? "now";
  return (
    <div class="goroutines">
      <h1>Goroutines</h1>
      {tabs.length > 1 ? <Tabs label="when" value={tab} onChange={(id) => set({ tab: id === "now" ? undefined : id, group: undefined })} of={tabs} /> : null}
      {tab === "threads" ? <Threads source={source.id} /> : tab === "range" ? <Over source={source.id} /> : <Shots source={source.id} />}
    </div>
  );
}

function Shots({ source }: { source: string }) {
  const shots = useAnswer("goroutines/shots", { s: source, ...rangeParams() });
  return <Answer of={shots} source={source}>{(list) => <Now source={source} shots={list ?? []} />}</Answer>;
}

/** Over is what loupe trace goroutines prints. */
function Over({ source }: { source: string }) {
  const by = param("by") === "creator" ? "creator" : "function";
  const page = useAnswer("goroutines/range", { s: source, by, ...rangeParams() });
  return (
    <>
      <Tabs label="group by" value={by} onChange={(id) => set({ by: id })} of={[{ id: "function", name: "Function" }, { id: "creator", name: "Go statement" }]} />
      <h2 class="unseen">Over the time</h2>
      <p class="muted">{range.value ? "All goroutines that existed in the selected range of the trace, and what they did in it." : "All goroutines of the trace, and what they did."}</p>
      <Answer of={page} source={source}>{(p) => (p ? <FactPage of={p} /> : null)}</Answer>
    </>
  );
}

function Now({ source, shots }: { source: string; shots: readonly ShotItem[] }) {
  const by = param("by", "stack"), group = param("group");
  const ask = { s: source, of: param("of"), vs: param("vs"), by, q: param("q"), ...rangeParams() };
  const view = useAnswer("goroutines/view", ask);
  const traced = view.value?.of.kind === "trace";
  const trends = useAnswer("goroutines/trends", { s: source, ...rangeParams() }, traced);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    localCommands.value = [
      ...groupings.map((g) => ({ name: "Group goroutines by " + g.name.toLowerCase(), run: () => set({ by: g.id, group: undefined }) })),
      { name: "Filter goroutines", run: () => field.current?.focus() },
    ];
    return () => (localCommands.value = []);
  }, []);
  return (
    <>
      <div class="gocontrols">
        <Shot label="At" shots={shots} value={view.value?.of.id ?? ""} onChange={(id) => set({ of: id, vs: undefined, group: undefined })} />
        <Shot label="compared with" shots={shots} value={view.value?.against?.id ?? "none"} none onChange={(id) => set({ vs: id })} />
        {shots.some((s) => s.kind === "trace") ? <Instant shown={view.value?.of} /> : null}
        <label class="gofilter">
          <span class="unseen">filter</span>
          <input type="search" ref={field} placeholder="Filter: state:sync age>10s pool.go" title="state:chan  func:handle  creator:Serve  age>10s  g12  label:users  leaked; all else is a part of a function or file"
            value={param("q")} aria-invalid={!!view.error && !view.error.missing && param("q") !== ""} onInput={(e) => set({ q: e.currentTarget.value }, true)} />
        </label>
      </div>
      <Answer of={view} source={source}>
        {(v) => (v ? <View of={v} trends={trends} by={by} group={group} /> : null)}
      </Answer>
      {group ? <Group ask={ask} id={group} kind={view.value?.of.kind ?? ""} core={coreOf(view.value?.of)} traced={shots.some((s) => s.kind === "trace")} /> : null}
    </>
  );
}

function Shot({ label, shots, value, none, onChange }: { label: string; shots: readonly ShotItem[]; value: string; none?: boolean; onChange: (id: string) => void }) {
  const known = value === "none" || shots.some((s) => s.id === value);
  const name = (s: ShotItem): string => (s.kind === "trace" ? s.title : s.name + ", " + s.title).slice(0, 90) + (s.goroutines >= 0 ? ` (${count(s.goroutines)})` : "");
  return (
    <label class="goshot">
      {label}{" "}
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {none ? <option value="none">nothing</option> : null}
        {known ? null : <option value={value}>{value.startsWith("trace-") ? "the trace at " + duration(Number(value.slice(6))) : value}</option>}
        {shots.map((s) => <option key={s.id} value={s.id}>{name(s)}</option>)}
      </select>
    </label>
  );
}

/** Instant chooses any instant of the trace by typing it. */
function Instant({ shown }: { shown: ShotItem | undefined }) {
  const [text, setText] = useState<string | null>(null);
  const at = shown?.kind === "trace" ? exact(shown.at) : "";
  const bad = text !== null && text.trim() !== "" && parse(text) === null;
  const enter = (): void => {
    const t = text === null ? null : parse(text);
    if (t !== null) set({ of: "trace-" + Math.round(t), group: undefined });
    setText(null);
  };
  return (
    <form class="goinstant" onSubmit={(e) => { e.preventDefault(); enter(); }}>
      <label>instant <input value={text ?? at} placeholder={axis.value ? "0s to " + duration(axis.value.end) : "1.2s"} aria-invalid={bad} size={14}
        onInput={(e) => setText(e.currentTarget.value)} onBlur={() => setText(null)} /></label>
    </form>
  );
}

function View({ of: v, trends, by, group }: { of: GoroutineView; trends: Asked<Trend[] | null>; by: string; group: string }) {
  const rows = v.rows ?? [], change = v.total - v.before;
  const courses = new Map((trends.value ?? []).map((t) => [t.entry, t.values ?? []]));
  const table = v.groups;
  const withTrend = courses.size > 0 && by !== "state" && table ? {
    ...table,
    columns: [...(table.columns ?? []), { key: "trend", head: "over time", left: true }],
    shown: (table.shown ?? []).map((r, i) => [...(r ?? []), courseText(courses.get(rows[i]?.entry ?? ""))]),
    values: (table.values ?? []).map((r) => [...(r ?? []), null]),
  } : table;
  const last = (withTrend?.columns?.length ?? 0) - 1, moved = (table?.columns ?? []).findIndex((c) => c.key === "change");
  return (
    <>
      {v.panic ? <Failure of={v.panic} core={coreOf(v.of)} /> : null}
      <Races of={v.races ?? []} />
      {v.suspects?.length ? (
        <section class="gofirst" aria-label="look at first">
          <h2>Look at first</h2>
          <ul>{v.suspects.map((s) => <li key={s}>{s}</li>)}</ul>
        </section>
      ) : null}
      <p class="gototal">
        <strong>{count(v.total)}</strong> {v.total === 1 ? "goroutine" : "goroutines"} in {count(rows.length)} {rows.length === 1 ? "group" : "groups"}
        {v.against ? <span class={change > 0 ? "goworse" : change < 0 ? "gobetter" : ""}> {change > 0 ? "+" : ""}{change === 0 ? "as many as" : count(change)}{change === 0 ? " " : " since "}{v.against.kind === "trace" ? duration(v.against.at) : v.against.name + ", " + v.against.title}</span> : null}
      </p>
      {v.states ? <States of={v.states} /> : null}
      {v.ages?.length ? <p class="muted">Waited {v.ages.map((a) => a.text + ": " + count(a.count)).join(", ")}.</p> : null}
      <Tabs label="group by" value={by} onChange={(id) => set({ by: id === "stack" ? undefined : id, group: undefined })} of={groupings} />
      {withTrend ? (
        <Table of={withTrend} label={"goroutines by " + by} rows={22} selected={group ? rows.findIndex((r) => r.key === group) : null}
          onRow={(r) => set({ group: rows[r]?.key === group ? undefined : rows[r]?.key })}
          rowClass={(r) => (rows[r]?.suspect ? "suspect" : undefined)}
          cell={(r, c, shown) => (c === last && withTrend !== table ? <Spark of={courses.get(rows[r]?.entry ?? "")} /> :
            c === 0 && rows[r]?.suspect ? <><span class="gomark" title={rows[r]!.suspect}>!</span>{shown}</> :
            c === moved && shown.startsWith("+") ? <span class="goworse">{shown}</span> : c === moved && shown.startsWith("-") ? <span class="gobetter">{shown}</span> : shown)} />
      ) : null}
      {(v.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
      {(v.of.kind === "dump" || v.of.kind === "core") && range.value ? <p class="note">A {v.of.kind} is one instant: it does not follow the range.</p> : null}
      {v.of.kind === "profile" && range.value ? <p class="note">A profile is taken at one instant: the range does not apply.</p> : null}
    </>
  );
}

/** coreOf is the core that a shot is of. */
const coreOf = (s: ShotItem | undefined): string | undefined => (s?.kind === "core" ? s.name : undefined);

/** courseText says in words what a sparkline shows. */
function courseText(values: readonly number[] | undefined): string {
  if (!values?.length) return "";
  const first = values[0]!, last = values[values.length - 1]!, most = values.reduce((a, b) => Math.max(a, b), 0);
  return `${Math.round(first)} → ${Math.round(last)}, at most ${Math.round(most)}`;
}
