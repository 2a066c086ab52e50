/** The first page: what is wrong, how it went, and where the time goes; all of it for any range. */
import type { SourceInfo, TopPage } from "../../api/types.ts";
import { bytes, count, duration, instant } from "../../base/units.ts";
import { go, rangeParams, viewRoute } from "../../model/route.ts";
import { axis } from "../../model/source.ts";
import { Shares } from "../../tracks/figures.tsx";
import { Lanes } from "../../tracks/lanes.tsx";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Table } from "../../widgets/table.tsx";
import type { PanelProps } from "../panel.ts";
import { Cores } from "./cores.tsx";
import { Findings } from "./findings.tsx";

const lanes = ["phases", "latency", "rps", "heap", "gc", "goroutines", "procs", "samples", "cpu", "rss", "vars", "states"];

export function Overview({ source }: PanelProps) {
  const findings = useAnswer("findings", { s: source.id });
  const cut = useAnswer("incomplete", { s: source.id });
  return (
    <>
      <h1>{source.title}</h1>
      <Head of={source} />
      <Cores of={source} />
      {source.live ? null : <Answer of={cut} source={source.id}>{(all) => <>{(all ?? []).map((why) => <p class="ov-cut" key={why}>▲ Incomplete: {why}</p>)}</>}</Answer>}
      <Answer of={findings} source={source.id}>{(all) => <Findings source={source} all={all ?? []} />}</Answer>
      {axis.value ? <Figures source={source.id} /> : null}
      {axis.value ? <Lanes source={source.id} keys={lanes} label="Over time" /> : null}
      <div class="ov-two">
        <Spent source={source.id} />
        <Top source={source} />
      </div>
      <Said source={source.id} />
      <Contents of={source} />
    </>
  );
}

/** Head is what was recorded, where and when. */
function Head({ of: s }: { of: SourceInfo }) {
  const t = s.target, h = s.host;
  const parts = [
    s.start ? new Date(s.start).toLocaleString() : "", t.package && t.package !== "command-line-arguments" ? t.package : t.name === s.title ? "" : t.name, (t.args ?? []).join(" "), t.go ?? "",
    h.cpus ? h.cpus + " CPUs" : "", h.cpu ?? "", h.memory ? bytes(h.memory) + " of memory" : "", (t.env ?? []).join(" "),
  ].filter(Boolean);
  return (
    <>
      {parts.length ? <p class="muted ov-head">{parts.join(" · ")}</p> : null}
      {(s.notes ?? []).map((n) => <p class="ov-cut" key={n}>▲ {n}</p>)}
    </>
  );
}

/** Figures are the key figures of the range, in the words of loupe report. */
function Figures({ source }: { source: string }) {
  const page = useAnswer("overview/figures", { s: source, ...rangeParams() });
  if (page.error?.missing) return <section class="ov-figures"><h2>Key figures</h2><p class="muted">{page.error.message}</p></section>;
  return (
    <section class="ov-figures" aria-label="Key figures">
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <h2>Key figures <span class="muted">{p.of}</span></h2>
            <dl class="facts">
              {(p.figures?.shown ?? []).map((r) => r && (
                <div key={r[0]}><dt>{r[0]}</dt><dd title={r[2] ? "rounds: " + r[2] : undefined}>{r[1]}</dd></div>
              ))}
            </dl>
            {(p.figures?.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
          </>
        )}
      </Answer>
    </section>
  );
}

/** Spent is where the time of goroutines and Ps goes. */
function Spent({ source }: { source: string }) {
  const page = useAnswer("overview/time", { s: source, ...rangeParams() }, axis.value !== null);
  if (!axis.value) return null;
  return (
    <section aria-label="Where time goes">
      <h2>Where time goes</h2>
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <p class="muted">From the execution trace, {instant(p.span.start_ns, 1e7)} to {instant(p.span.end_ns, 1e7)}.</p>
            <Shares title="Ps" of={p.procs ?? []} />
            <Shares title="Goroutines" of={p.goroutines ?? []} />
          </>
        )}
      </Answer>
    </section>
  );
}

/** Top is the heaviest functions; a row opens them where there is more. */
function Top({ source }: { source: SourceInfo }) {
  const page = useAnswer("overview/top", { s: source.id, ...rangeParams() });
  const open = (p: TopPage, row: number): void => {
    const at = (p.table?.columns ?? []).findIndex((c) => c.key === "function"), name = String(p.table?.values?.[row]?.[at] ?? "");
    if (p.view === "profile") {
      go(viewRoute("profile", { p: p.path ?? "", f: name }));
    } else go(viewRoute(p.view, { lanes: name }));
  };
  return (
    <section aria-label="Top functions">
      <h2>Top functions</h2>
      <Answer of={page} source={source.id}>
        {(p) => p?.table && (
          <>
            {p.note ? <p class="muted">{p.note}</p> : null}
            <Table of={p.table} rows={12} label="Top functions" onRow={(r) => open(p, r)} />
          </>
        )}
      </Answer>
    </section>
  );
}

/** Said is what logs and the compiler say that no view is about. */
function Said({ source }: { source: string }) {
  const said = useAnswer("overview/said", { s: source });
  const tables = said.value ?? [];
  if (tables.length === 0) return null;
  return (
    <section aria-label="About the files">
      <h2>About the files</h2>
      {tables.map((t, i) => t && <Table key={i} of={t} rows={20} />)}
    </section>
  );
}

/** viewOf is the view that shows a kind of entry. */
function viewOf(kind: string): string {
  if (kind.startsWith("pprof.goroutine") || kind === "stacks" || kind === "core") return "goroutines";
  if (kind.startsWith("pprof.")) return "profile";
  return ({ exectrace: "timeline", stderr: "gc", load: "load" } as Record<string, string>)[kind] ?? "";
}

/** Contents is what there is, each with the view that shows it. */
function Contents({ of: s }: { of: SourceInfo }) {
  const entries = (s.entries ?? []).filter((e, i, all) => e.kind !== "source" && e.kind !== "stderr.times" && e.kind !== "compiler" &&
    all.findIndex((o) => o.path === e.path) === i); // a dump can be read as a profile too
  if (entries.length === 0) return null;
  return (
    <details class="ov-rest" open={!axis.value}>
      <summary>What there is ({count(entries.length)} {entries.length === 1 ? "file" : "files"})</summary>
      <ul class="ov-files">
        {entries.map((e) => {
          const view = viewOf(e.kind), params: Record<string, string> = view === "profile" ? { p: e.path } : {};
          const length = e.span.end_ns - e.span.start_ns;
          return (
            <li key={e.path}>
              {view ? <button type="button" onClick={() => go(viewRoute(view, params))}>{e.path}</button> : <code>{e.path}</code>}
              <span class="muted"> {[e.kind, e.phase ? "phase " + e.phase : "", length > 0 ? duration(length) : "", e.bytes ? bytes(e.bytes) : ""].filter(Boolean).join(", ")}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
