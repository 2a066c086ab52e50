/** How the program of a core ended, before all else. */
import type { CoreEnd, SourceInfo } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { formatRoute, viewRoute } from "../../model/route.ts";
import { has } from "../../model/source.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Frames } from "../../widgets/frames.tsx";

export function Cores({ of: s }: { of: SourceInfo }) {
  const ends = useAnswer("core/ends", { s: s.id }, has("core"));
  if (!has("core")) return null;
  return (
    <section class="ov-findings" aria-label="How it ended">
      <h2>How it ended</h2>
      <Answer of={ends} source={s.id}>{(all) => <>{(all ?? []).map((e, _, { length }) => <End key={e.path} of={e} named={length > 1} />)}</>}</Answer>
    </section>
  );
}

function End({ of: e, named }: { of: CoreEnd; named: boolean }) {
  const grave = e.grade === "critical", name = named ? e.name.split("/").pop() + ": " : "";
  const facts: { head: string; text: string }[] = [];
  for (const f of e.facts ?? []) {
    if (f.grave || f.head === "ended by") continue;
    if (f.head) facts.push({ ...f });
    else facts[facts.length - 1]!.text += "; " + f.text;
  }
  const doubts = [...(e.facts ?? []).filter((f) => f.grave).map((f) => f.text), e.trouble, e.no_heap].filter(Boolean);
  return (
    <article class={"ov-finding " + e.grade}>
      <div class="ov-findinghead">
        <span class="ov-grade"><span aria-hidden="true">{grade(grave)}</span> {grave ? "ended" : "copied"}</span>
        <h3>{name}{(name ? ["ended by ", "copied"] : ["Ended by ", "Copied"])[grave ? 0 : 1]}{grave ? e.ended : " while it was running; nothing has ended it"}</h3>
      </div>
      {e.message ? <pre class="ov-source" tabIndex={0} aria-label="output of the runtime">{e.message}</pre> : null}
      <dl class="ov-core">{facts.map((f) => <div key={f.head}><dt>{f.head}</dt><dd>{f.text}</dd></div>)}</dl>
      {doubts.map((d) => <p class="ov-cut" key={d}>▲ {d}</p>)}
      {e.next ? <p><b>What to do:</b> {e.next}</p> : null}
      {e.thread ? (
        <details class="ov-rest" open={grave}>
          <summary>Where it ended: {e.thread.title}</summary>
          {e.thread.frames?.length ? <Frames of={e.thread.frames} /> : <p class="muted">No Go function is on this stack.</p>}
          {e.thread.more > 0 ? <p class="muted">and {count(e.thread.more)} more frames</p> : null}
        </details>
      ) : null}
      <p class="ov-ways">
        {e.trouble ? null : <a class="button" href={formatRoute(viewRoute("goroutines", named ? { of: e.path } : {}))}>Goroutines{e.thread?.goroutine ? ", the one that failed first" : ""}</a>}
        <a class="button" href={formatRoute(viewRoute("goroutines", { tab: "threads", core: e.path }))}>Threads and registers</a>
        {e.no_heap || e.trouble ? null : <a class="button" href={formatRoute(viewRoute("heap", { core: e.path }))}>Heap</a>}
      </p>
    </article>
  );
}

const grade = (grave: boolean): string => (grave ? "✖" : "●");
