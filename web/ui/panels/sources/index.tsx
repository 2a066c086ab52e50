/** The list of what can be looked at. */
import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client.ts";
import type { Brief, Grades } from "../../api/types.ts";
import { list } from "../../model/source.ts";
import { formatRoute, param, set } from "../../model/route.ts";
import { Empty, useAnswer, Waiting } from "../../widgets/ask.tsx";
import { listed } from "../../api/events.ts";
import { bytes, count, duration } from "../../base/units.ts";

/** searchFrom is the number of sources from which finding one needs help. */
const searchFrom = 9;

/** orders are how the list may be sorted: as it is, or the most first. */
const orders: readonly { id: string; name: string; of?: (b: Brief | undefined, g: Grades | undefined) => number }[] = [
  { id: "", name: "as opened" },
  { id: "findings", name: "gravest findings", of: (_, g) => (g ? g.critical * 1e6 + g.warning * 1e3 + g.info : -1) },
  { id: "newest", name: "newest", of: (b) => (b?.date ? Date.parse(b.date) : 0) },
  { id: "longest", name: "longest", of: (b) => b?.length ?? 0 },
  { id: "largest", name: "largest", of: (b) => b?.bytes ?? 0 },
];

/** mostGraded is for how many sources the rules look: each is opened for that. */
const mostGraded = 60;

/** useGrades counts the findings of sources, one source after the other. */
function useGrades(ids: readonly string[]): ReadonlyMap<string, Grades> {
  const [grades, setGrades] = useState<ReadonlyMap<string, Grades>>(new Map());
  const wanted = ids.slice(0, mostGraded).join(" ");
  useEffect(() => {
    const abort = new AbortController();
    void (async () => {
      for (const id of wanted.split(" ").filter(Boolean)) {
        if (abort.signal.aborted || grades.has(id)) continue;
        const g = await get("source/grades", { s: id }, abort.signal).catch(() => null); // the list says why it cannot be opened
        if (g && !abort.signal.aborted) setGrades((was) => new Map(was).set(id, g));
      }
    })();
    return () => abort.abort();
  }, [wanted, listed.value]);
  return grades;
}

/** Graded says how many findings a source has. */
function Graded({ of: g }: { of: Grades | undefined }) {
  if (!g) return null;
  const parts = [g.critical ? `✖ ${g.critical} critical` : "", g.warning ? `▲ ${g.warning} ${g.warning === 1 ? "warning" : "warnings"}` : "", g.info ? `● ${g.info} info` : ""].filter(Boolean);
  return <span class={"sourcegrades " + (g.critical ? "bad" : g.warning ? "warn" : "muted")}>{parts.length ? parts.join(" · ") : "nothing found"}</span>;
}

export function Sources() {
  const all = list.value?.sources;
  const asked = useAnswer("sources/briefs", { n: listed.value });
  const briefs = new Map((asked.value ?? []).map((b) => [b.id, b]));
  if (!list.value) return <Waiting />;
  const text = param("q").toLowerCase(), order = param("sort");
  const filtered = (all ?? []).filter((s) => (s.name + " " + (briefs.get(s.id)?.command ?? "")).toLowerCase().includes(text));
  const grades = useGrades(filtered.filter((s) => !s.live).map((s) => s.id));
  const worth = orders.find((o) => o.id === order)?.of;
  const found = worth ? [...filtered].sort((a, b) => worth(briefs.get(b.id), grades.get(b.id)) - worth(briefs.get(a.id), grades.get(a.id))) : filtered;
  return (
    <>
      <h1>What to look at</h1>
      {all?.length ? (
        <>
          {all.length > 1 ? (
            <p>
              {all.length >= searchFrom ? <input type="search" aria-label="find a source" placeholder="Filter" value={param("q")} onInput={(e) => set({ q: e.currentTarget.value }, true)} /> : null}{" "}
              <label>Order <select value={order} onChange={(e) => set({ sort: e.currentTarget.value || undefined })}>{orders.map((o) => <option key={o.id} value={o.id}>{o.name}</option>)}</select></label>{" "}
              <span class="muted" role="status">{text ? `${count(found.length)} of ${count(all.length)}` : count(all.length)}</span>
            </p>
          ) : null}
          <ul class="sources">
            {found.map((s) => {
              const at = s.name.includes(", ") ? -1 : s.name.replace(/\/+$/, "").lastIndexOf("/");
              const b = briefs.get(s.id);
              const facts = b ? [b.date ? new Date(b.date).toLocaleString() : "", b.command, b.length > 0 ? duration(b.length) : "", b.bytes > 0 ? bytes(b.bytes) : ""].filter(Boolean).join(" · ") : "";
              return (
                <li key={s.id}>
                  <a href={formatRoute({ source: s.id, view: "overview", params: {} })}>
                    <b>{s.name.slice(at + 1)}</b>
                    <span class="muted">{at > 0 ? s.name.slice(0, at) + " · " : ""}</span>
                    {s.live ? <span class="chip live">being written</span> : <span class="muted">{s.kind}{b && !b.complete && !b.error ? ", truncated" : ""}</span>}
                    <Graded of={grades.get(s.id)} />
                    {facts ? <span class="muted sourcefacts">{facts}</span> : null}
                    {b?.error ? <span class="bad sourcefacts">cannot be opened: {b.error}</span> : null}
                  </a>
                </li>
              );
            })}
          </ul>
        </>
      ) : <Empty><p>No recordings here yet. Record something: <code>loupe run ./cmd/server</code>. New recordings in the folder appear here by themselves.</p></Empty>}
    </>
  );
}
