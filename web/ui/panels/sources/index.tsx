/** The list of what can be looked at. */
import { list } from "../../model/source.ts";
import { formatRoute, param, set } from "../../model/route.ts";
import { Empty, useAnswer, Waiting } from "../../widgets/ask.tsx";
import { listed } from "../../api/events.ts";
import { bytes, count, duration } from "../../base/units.ts";

/** searchFrom is the number of sources from which finding one needs help. */
const searchFrom = 9;

export function Sources() {
  const all = list.value?.sources;
  const asked = useAnswer("sources/briefs", { n: listed.value });
  const briefs = new Map((asked.value ?? []).map((b) => [b.id, b]));
  if (!list.value) return <Waiting />;
  const text = param("q").toLowerCase();
  const found = (all ?? []).filter((s) => (s.name + " " + (briefs.get(s.id)?.command ?? "")).toLowerCase().includes(text));
  return (
    <>
      <h1>What to look at</h1>
      {all?.length ? (
        <>
          {all.length >= searchFrom ? (
            <p>
              <input type="search" aria-label="find a source" placeholder="Filter" value={param("q")} onInput={(e) => set({ q: e.currentTarget.value }, true)} />{" "}
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
                    {s.live ? <span class="chip live">being written</span> : <span class="muted">{s.kind}{b && !b.complete && !b.error ? ", cut short" : ""}</span>}
                    {facts ? <span class="muted sourcefacts">{facts}</span> : null}
                    {b?.error ? <span class="bad sourcefacts">cannot be opened: {b.error}</span> : null}
                  </a>
                </li>
              );
            })}
          </ul>
        </>
      ) : <Empty><p>There is no recording here yet. Record something: <code>loupe run ./cmd/server</code>. New recordings in the folder appear here by themselves.</p></Empty>}
    </>
  );
}
