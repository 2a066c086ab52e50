/** What holds an object, or the objects of a type: each way from a root, step by step. */
import type { HeapWay } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Drawer } from "../../widgets/drawer.tsx";
import { Table } from "../../widgets/table.tsx";

export function Held({ source, core, what }: { source: string; core: string; what: string }) {
  const held = useAnswer("heap/holds", { s: source, core, what });
  return (
    <Drawer title={"What holds " + what} onClose={() => set({ hold: undefined })}>
      <Answer of={held} source={source}>
        {(v) => v && (
          <>
            {v.about ? <p>{v.about}</p> : null}
            {(v.ways ?? []).map((w, i) => <Way key={i} of={w} />)}
            {v.more > 0 ? <p class="muted">and {count(v.more)} more ways; loupe core holds -n 0 lists them.</p> : null}
            {v.objects?.shown?.length ? (
              <>
                <h3>Objects that retain the most</h3>
                <Table of={v.objects} label="objects that retain the most" rows={8} bare onRow={(r) => set({ hold: v.objects!.shown?.[r]?.[2] })} />
              </>
            ) : null}
          </>
        )}
      </Answer>
    </Drawer>
  );
}

function Way({ of: w }: { of: HeapWay }) {
  return (
    <section class="heapway">
      {w.title ? <h3>{w.title}</h3> : null}
      <ol>
        <li><b>{w.root}</b></li>
        {(w.steps ?? []).map((s, i) => (
          <li key={i}>
            {s.field ? <code class="heapfield">{s.field} </code> : null}
            {s.type ? <button type="button" class="link" title={"what holds " + s.type} onClick={() => set({ hold: s.type })}>{s.text}</button> : <span class="muted">{s.text}</span>}
            {s.addr ? <> <button type="button" class="link muted" title={"what holds " + s.addr} onClick={() => set({ hold: s.addr })}>{s.addr}</button></> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}
