/** An opened group: its stacks, and each of its goroutines. */
import { useState } from "preact/hooks";
import type { Params } from "../../api/client.ts";
import type { GroupView } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { formatRoute, set, viewRoute } from "../../model/route.ts";
import { current } from "../../model/source.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Drawer } from "../../widgets/drawer.tsx";
import { Frames } from "../../widgets/frames.tsx";
import { Table } from "../../widgets/table.tsx";

export function Group({ ask, id, kind, core, traced }: { ask: Params; id: string; kind: string; core: string | undefined; traced: boolean }) {
  const group = useAnswer("goroutines/group", { ...ask, key: id });
  const [chosen, choose] = useState<number | null>(null);
  return (
    <Drawer title={group.value?.title ?? "Group"} onClose={() => set({ group: undefined })}>
      <Answer of={group} source={String(ask["s"])}>
        {(g) => (g ? <Opened of={g} ask={ask} kind={kind} core={core} traced={traced} chosen={chosen} choose={choose} key={id} /> : null)}
      </Answer>
    </Drawer>
  );
}

function Opened({ of: g, ask, kind, core, traced, chosen, choose }: { of: GroupView; ask: Params; kind: string; core: string | undefined; traced: boolean; chosen: number | null; choose: (row: number | null) => void }) {
  const table = g.goroutines, place = chosen === null ? undefined : g.places?.[chosen];
  const name = chosen === null ? "" : table?.shown?.[chosen]?.[0] ?? "";
  const one = useAnswer("goroutines/one", { ...ask, g: place }, place !== undefined && kind === "dump" || kind === "core");
  const profile = current.value?.entries?.findLast((e) => e.kind === "pprof.goroutine" && (!core || e.path === core));
  return (
    <>
      {(g.stacks ?? []).map((s, i) => (
        <section key={i}>
          {(g.stacks?.length ?? 0) > 1 ? <h3>{count(s.count)} {s.state}</h3> : <p class="muted">{s.state}</p>}
          <Frames of={s.frames ?? []} />
        </section>
      ))}
      {g.more > 0 ? <p class="muted">and {count(g.more)} more stacks: group by stack to see them.</p> : null}
      {kind !== "trace" && profile ? <p><a href={formatRoute(viewRoute("profile", { p: profile.path }))}>All as a flame graph</a></p> : null}
      {table?.shown?.length ? (
        <>
          <h3>Goroutines, oldest first</h3>
          <Table of={table} label="goroutines of the group" rows={10} selected={chosen} onRow={(r) => choose(r === chosen ? null : r)} />
        </>
      ) : (table?.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
      {name ? (
        <section>
          <h3>{name}</h3>
          {traced ? <p><a href={formatRoute(viewRoute("timeline", { sel: name }))}>Show {name} in the timeline</a></p> : null}
          {kind === "dump" || kind === "core" ? <Answer of={one}>{(o) => (o ? <><p class="muted">{o.title}</p><Frames of={o.frames ?? []} core={core} /></> : null)}</Answer> : null}
        </section>
      ) : null}
    </>
  );
}
