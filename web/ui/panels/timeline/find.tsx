/** Looking for a state that takes long, or a goroutine, from one to the next. */
import { useRef, useState } from "preact/hooks";
import { get } from "../../api/client.ts";
import type { TimelineHit } from "../../api/types.ts";
import { say } from "../../base/dom.ts";
import { count, duration, type Time } from "../../base/units.ts";
import { keyOf } from "../../model/lanes.ts";
import { param, rangeParams, set } from "../../model/route.ts";
import type { Stage } from "./stage.ts";

/** states are those that can be looked for, by class of a goroutine. */
const states = ["running", "runnable", "gc", "syscall", "sync", "chan", "net", "wait"];

/** similar is the query that finds states like one of a goroutine, that take about as long at least. */
export function similar(k: number, length: Time): string {
  return `state:${states[k] ?? "wait"}>${duration(length * 0.9).replaceAll(" ", "")}`;
}

export function Find({ stage, onGo }: { stage: Stage; onGo: (key: string, t: Time) => void }) {
  const [status, setStatus] = useState(""), [wrong, setWrong] = useState(false);
  const last = useRef<{ q: string; hit: TimelineHit } | null>(null), asked = useRef<AbortController | null>(null);
  const q = param("q");
  const find = (back: boolean): void => {
    if (!q.trim()) return;
    asked.current?.abort();
    const abort = asked.current = new AbortController(), from = last.current?.q === q ? last.current.hit : null;
    const t = from?.span ? Math.round(from.span.start_ns) : back ? Math.round(stage.seen.end) : Math.round(stage.seen.start) - 1;
    setStatus("…");
    get("timeline/find", { s: stage.source, q, t, lane: from?.lane?.id, dir: back ? "prev" : "next", ...rangeParams() }, abort.signal).then((hit) => {
      setWrong(false);
      if (!hit?.lane || !hit.span) {
        setStatus(hit && hit.total > 0 ? `no more of ${count(hit.total)} ${back ? "before" : "after"}` : "nothing");
        say(hit && hit.total > 0 ? "no more" : "nothing found");
        return;
      }
      last.current = { q, hit };
      const text = `${count(hit.number)} of ${count(hit.total)}`;
      setStatus(text);
      say(`${text}: ${keyOf(hit.lane)} ${hit.span.name} ${duration(hit.span.end_ns - hit.span.start_ns)}`);
      onGo(keyOf(hit.lane), hit.span.start_ns);
    }, (e: unknown) => {
      if (abort.signal.aborted) return;
      setWrong(true);
      setStatus(e instanceof Error ? e.message : String(e));
    });
  };
  return (
    <form class="tl-find" role="search" onSubmit={(e) => { e.preventDefault(); find(false); }}>
      <input type="search" aria-label="find a state or a goroutine" placeholder="Find state:sync>1ms, g12, main.work" list="tl-states" value={q} aria-invalid={wrong} title="Enter: next match; Shift+Enter: previous match"
        onInput={(e) => { set({ q: e.currentTarget.value }, true); setStatus(""); setWrong(false); }}
        onKeyDown={(e) => { if (e.key === "Enter") { e.preventDefault(); find(e.shiftKey); } }} />
      <datalist id="tl-states">{[...states, "assist", "sweep", "stw", "mark"].map((s) => <option key={s} value={"state:" + s + ">1ms"} />)}</datalist>
      <button type="button" aria-label="previous match" title="previous match (Shift+Enter)" disabled={!q} onClick={() => find(true)}>‹</button>
      <button type="submit" aria-label="next match" title="next match (Enter)" disabled={!q}>›</button>
      <span class={wrong ? "bad" : "muted"} role="status">{status}</span>
    </form>
  );
}
