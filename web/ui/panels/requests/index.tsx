/** Requests: where the time of requests goes, line by line, of typical and of slow ones; and of a single one. */
import { useEffect } from "preact/hooks";
import type { RequestsPage, Table as Sheet, UnitsPart } from "../../api/types.ts";
import { instant } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { go, param, range, rangeParams, set, setRange, viewRoute } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactList } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import type { PanelProps } from "../panel.ts";

export function Requests({ source }: PanelProps) {
  const page = useAnswer("requests", { s: source.id, ...rangeParams() });
  const id = param("unit");
  return (
    <>
      <h1>Requests</h1>
      {id ? <One id={id} source={source.id} /> : null}
      <Answer of={page} source={source.id}>{(p) => p && <All of={p} />}</Answer>
    </>
  );
}

/** All is where the time goes in the range. */
function All({ of: p }: { of: RequestsPage }) {
  const tables = (p.page?.tables ?? []).filter((t): t is Sheet => t !== null);
  useEffect(() => {
    localCommands.value = tables.filter((t) => t.key.startsWith("parts_")).map((t) => ({ name: "Requests: " + t.title, run: () => document.getElementById("rq-" + t.key)?.scrollIntoView() }));
    return () => { localCommands.value = []; };
  }, [p]);
  return (
    <>
      <h2>In the execution trace</h2>
      <p class="muted">
        {instant(p.covers.start_ns, 1e7)} to {instant(p.covers.end_ns, 1e7)}{range.value && p.filter ? <>: the same as <code>loupe trace requests -filter '{p.filter}'</code></> : null}
      </p>
      <FactList of={p.page?.facts ?? []} />
      {tables.map((t) => {
        const n = t.key.startsWith("parts_") ? Number(t.key.slice(6)) - 1 : -1;
        const of = p.divisions?.[n];
        return (
          <section key={t.key} id={"rq-" + t.key} aria-label={t.title}>
            {of ? <Bars title={of.title} parts={of.parts ?? []} /> : null}
            {t.key === "slowest" ? <Slowest of={t} page={p} /> : <Table of={t} rows={12} />}
          </section>
        );
      })}
    </>
  );
}

/** colours are those that the timeline has for the same. */
const colours: Readonly<Record<string, string>> = {
  running: "running", cgo: "running", mark_assist: "assist", collector: "mark", stop_the_world: "stw", runnable: "runnable", lock: "sync", cond: "sync", wait_group: "chan", channel: "chan", pool: "chan",
  sleep: "sleep", timer: "sleep", time_limit: "sleep", dial: "net", dns: "net", tls: "net", network: "net", network_write: "net", client: "net", accept: "net", pipe: "syscall",
  socket_call: "syscall", file_call: "syscall", system_call: "syscall", process: "syscall",
};

/** Bars are typical and slow ones above each other, on one scale. */
function Bars({ title, parts }: { title: string; parts: readonly UnitsPart[] }) {
  const longest = Math.max(1, ...parts.map((p) => p.each_ns));
  const named = new Map<string, string>();
  for (const p of parts) for (const s of p.slices ?? []) if (s.share >= 0.01) named.set(s.kind, s.name);
  return (
    <figure class="rq-bars">
      <figcaption>{title}: what one of them takes</figcaption>
      {parts.map((p) => (
        <div key={p.name} class="rq-row">
          <span class="rq-name">{p.name}</span>
          <span class="rq-track">
            <span class="rq-bar" role="img" aria-label={`${p.name}: ${p.shown}; ` + (p.slices ?? []).slice(0, 4).map((s) => `${s.name} ${(100 * s.share).toFixed(1)}%`).join(", ")} style={{ width: 100 * p.each_ns / longest + "%" }}>
              {(p.slices ?? []).map((s) => (
                <span key={s.kind} class="rq-slice" title={`${s.name}: ${s.shown}, ${(100 * s.share).toFixed(1)}%`} style={{ flexGrow: s.share, background: `var(--${colours[s.kind] ?? "idle"})` }} />
              ))}
            </span>
          </span>
          <span class="rq-time">{p.shown}</span>
        </div>
      ))}
      <div class="rq-legend">
        {[...named].map(([kind, name]) => <span key={kind}><span class="swatch" style={{ background: `var(--${colours[kind] ?? "idle"})` }} />{name}</span>)}
      </div>
    </figure>
  );
}

/** Slowest are single ones; a row opens one. */
function Slowest({ of: t, page }: { of: Sheet; page: RequestsPage }) {
  const column = (key: string): number => (t.columns ?? []).findIndex((c) => c.key === key);
  const id = column("id"), at = column("at_ns"), long = column("time_ns");
  const chosen = (t.values ?? []).findIndex((r) => String(r?.[id]) === param("unit"));
  return (
    <Table of={t} rows={10} selected={chosen < 0 ? null : chosen} onRow={(r) => {
      const start = page.start + Number(t.values?.[r]?.[at] ?? 0), d = Number(t.values?.[r]?.[long] ?? 0);
      set({ unit: String(t.values?.[r]?.[id]) });
      if (range.value) setRange({ start: Math.round(start), end: Math.round(start + Math.max(1000, d)) });
    }} />
  );
}

/** One is a single request: where its time went, and in which order. */
function One({ id, source }: { id: string; source: string }) {
  const one = useAnswer("requests/one", { s: source, id });
  return (
    <section aria-label={"Request " + id} class="rq-one">
      <h2>Request {id} <button type="button" class="quiet" aria-label="close the request" onClick={() => set({ unit: undefined })}>✕</button></h2>
      <Answer of={one} source={source}>
        {(p) => p && (
          <>
            <p><button type="button" onClick={() => go(viewRoute("timeline", { t: `${p.span.start_ns}ns-${p.span.end_ns}ns`, sel: `g${p.goroutine}@${Math.round((p.span.start_ns + p.span.end_ns) / 2)}ns` }))}>Show on the timeline</button></p>
            <FactList of={p.page?.facts ?? []} />
            {(p.page?.tables ?? []).map((t) => t && <Table key={t.key} of={t} rows={14} />)}
          </>
        )}
      </Answer>
    </section>
  );
}
