/** Single requests: a list, and one of them with its parts, what it met, and the way to the timeline. */
import type { LoadPick, LoadRequest, LoadView } from "../../api/types.ts";
import { count, duration, exact, exactSpan, parseSpan, type Span } from "../../base/units.ts";
import { formatRoute, param, rangeParams, route, set, viewRoute } from "../../model/route.ts";
import { has } from "../../model/source.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Drawer } from "../../widgets/drawer.tsx";
import { Table } from "../../widgets/table.tsx";

/** Pick is a cell of the heat map: when its requests ended, and how long they took. */
export interface Pick {
  readonly time: Span;
  readonly latency: Span;
}

/** pickOf reads the address, formatPick is its inverse. */
export function pickOf(text: string): Pick | null {
  const [a = "", b = ""] = text.split("~", 2);
  const time = parseSpan(a), latency = parseSpan(b);
  return time && latency ? { time, latency } : null;
}

export function formatPick(p: Pick): string {
  return exactSpan(p.time) + "~" + exactSpan(p.latency);
}

/** timelineLink leads to an instant in the timeline, to a goroutine when there is one. */
function timelineLink(s: Span, goroutine: number): string {
  const room = Math.max(1000, (s.end - s.start) * 0.25);
  return formatRoute(viewRoute("timeline", {
    v: exactSpan({ start: Math.max(0, Math.round(s.start - room)), end: Math.round(s.end + room) }),
    ...(goroutine ? { sel: "g" + goroutine + "@" + exact(Math.round((s.start + s.end) / 2)) } : {}),
  }));
}

export function Requests({ run }: { run: LoadView }) {
  const pick = pickOf(param("pick")), failed = param("failed") !== "", most = param("n") || "20";
  const asked = useAnswer("load/requests", {
    s: route.value.source, phase: run.phase, n: most, ...rangeParams(),
    ...(failed ? { failed: "1" } : {}), ...(pick ? { c0: Math.round(pick.time.start), c1: Math.round(pick.time.end), l0: Math.round(pick.latency.start), l1: Math.round(pick.latency.end) } : {}),
  });
  return (
    <Answer of={asked}>
      {(list) => list && <List of={list} run={run} pick={pick} failed={failed} />}
    </Answer>
  );
}

function List({ of: list, run, pick, failed }: { of: LoadPick; run: LoadView; pick: Pick | null; failed: boolean }) {
  const all = list.requests ?? [];
  const at = all.findIndex((r) => r.id === param("req"));
  const chosen = all[at];
  const failures = (run.over?.failed ?? []).reduce((a, b) => a + b, 0);
  return (
    <>
      <div class="load-bar">
        {pick ? (
          <span class="chip">ended {exactSpan(pick.time)}, took {duration(pick.latency.start)} to {duration(pick.latency.end)} <button type="button" class="quiet" aria-label="all cells" onClick={() => set({ pick: undefined })}>✕</button></span>
        ) : null}
        {failures || failed ? <label><input type="checkbox" checked={failed} onChange={(e) => set({ failed: e.currentTarget.checked ? "1" : undefined, pick: undefined })} /> failed only</label> : null}
        <span class="muted">{list.total === 0 ? "none" : `the slowest ${count(all.length)} of ${count(list.total)}`}</span>
        {list.total > all.length && all.length < 500 ? <button type="button" onClick={() => set({ n: String(Math.min(500, all.length * 5)) }, true)}>More</button> : null}
      </div>
      {list.table && all.length ? (
        <Table of={list.table} label="requests" rows={12} selected={at >= 0 ? at : null} onRow={(r) => set({ req: all[r]!.id })}
          cell={(r, c, shown) => list.table!.columns![c]!.key === "goroutine" && all[r]!.goroutine
            ? <a href={timelineLink(spanOf(all[r]!), all[r]!.goroutine)} title="in the timeline" tabIndex={-1} onClick={(e) => e.stopPropagation()}>{shown}</a> : shown} />
      ) : <p class="muted">{failed ? "No request failed here." : "No request ended here."}</p>}
      {chosen ? <One of={chosen} onClose={() => set({ req: undefined })} /> : null}
    </>
  );
}

const spanOf = (r: LoadRequest): Span => ({ start: r.span.start_ns, end: r.span.end_ns });

/** One is a request with its parts as a waterfall. */
function One({ of: r, onClose }: { of: LoadRequest; onClose: () => void }) {
  const parts = [
    { name: "waited to be sent", ns: r.late_ns, kind: "queued" }, { name: "opened a connection", ns: r.dial_ns, kind: "dial" },
    { name: "request out", ns: r.write_ns, kind: "io" }, { name: "wait for the first byte", ns: r.wait_ns, kind: "wait" }, { name: "answer in", ns: r.read_ns, kind: "io" },
  ].filter((p) => p.ns > 0);
  const total = Math.max(1, r.span.end_ns - r.span.start_ns);
  let from = 0;
  const met = r.met ?? [];
  return (
    <Drawer title={"Request of " + duration(total)} onClose={onClose}>
      <p class="muted">{exact(Math.round(r.span.start_ns))} to {exact(Math.round(r.span.end_ns))}{r.target ? ", " + r.target : ""}</p>
      {r.failed ? <p class="load-bad">Failed: {r.failed}</p> : null}
      {has("exectrace") ? (
        <p><a href={timelineLink(spanOf(r), r.goroutine)}>{r.goroutine ? `Goroutine ${r.goroutine} in the timeline` : "This time in the timeline"}</a></p>
      ) : null}
      <table class="load-parts">
        <caption class="unseen">parts of the request</caption>
        <tbody>
          {parts.map((p) => {
            const begin = from;
            from += p.ns;
            return (
              <tr key={p.name}>
                <th scope="row">{p.name}</th><td>{duration(p.ns)}</td>
                <td aria-hidden="true"><i class={p.kind} style={{ marginLeft: begin / total * 100 + "%", width: Math.max(0.8, p.ns / total * 100) + "%" }} /></td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <h3>Coinciding events</h3>
      {met.length === 0 ? <p class="muted">Nothing recorded what the program did at that time{has("exectrace") ? "" : "; an execution trace would"}.</p> : (
        <ul class="load-met">
          {met.map((m) => (
            <li key={m.kind}>
              {m.at.end_ns > m.at.start_ns && has("exectrace") ? <a href={timelineLink({ start: m.at.start_ns, end: m.at.end_ns }, m.own ? r.goroutine : 0)}>{m.name}</a> : m.name} <span>{duration(m.time_ns)}</span>
            </li>
          ))}
        </ul>
      )}
      {met.some((m) => m.own) ? <p class="note">“it” is the goroutine that served the request.</p> : null}
    </Drawer>
  );
}
