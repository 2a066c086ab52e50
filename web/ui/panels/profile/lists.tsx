/** The views of a profile that are lists: functions, who calls whom, labels. */
import type { Params } from "../../api/client.ts";
import type { LabelsShown, Peeked, PeekedEdge, Ranking } from "../../api/types.ts";
import { count, percent } from "../../base/units.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import { classNames } from "./model.ts";

/** colourOf is the colour of a class of code. */
export function colourOf(cls: string | number): string {
  return `var(--${classNames[Number(cls)]?.[1] ?? "f-cgo"})`;
}

/** Dot shows the class of a function; the word is in its title. */
export function Dot({ cls }: { cls: string | number }) {
  return <i class="pdot" style={{ background: colourOf(cls) }} title={classNames[Number(cls)]?.[0]} />;
}

/** Top lists all functions. */
export function Top({ of, rows, chosen, search, onChoose, onHover }: {
  of: Ranking; rows: number; chosen: string; search: RegExp | null; onChoose: (name: string) => void; onHover?: (name: string) => void;
}) {
  const t = of.table, names = of.names ?? [];
  if (!t) return null;
  const at = (t.columns ?? []).findIndex((c) => c.key === "function");
  return (
    <Table of={t} label={"functions by " + of.type} rows={rows} sort="-flat" selected={chosen ? names.indexOf(chosen) : null} onRow={(r) => onChoose(names[r]!)}
      cell={(r, c, shown) => c === at ? (
        <span class={"pname" + (search?.test(names[r]!) ? " phit" : "")} onPointerEnter={() => onHover?.(names[r]!)} onPointerLeave={() => onHover?.("")}><Dot cls={of.classes[r] ?? "6"} />{shown}</span>
      ) : shown} />
  );
}

/** Peek shows a function between those that call it and those that it calls. */
export function Peek({ of, onChoose }: { of: Peeked; onChoose: (name: string) => void }) {
  const rows = (edges: readonly PeekedEdge[]) => edges.map((e) => (
    <tr key={e.name}>
      <td>{e.weight.shown}</td>
      <td>{percent(e.share)}</td>
      <td><span class="bar" style={{ width: Math.min(1, Math.abs(e.share)) * 64 + "px" }} /></td>
      <td><button type="button" class="quiet" onClick={() => onChoose(e.name)}><Dot cls={e.class} />{e.name}</button>{e.inline ? <span class="muted"> inlined</span> : null}</td>
    </tr>
  ));
  return (
    <div class="ppeek">
      {(of.nodes ?? []).map((n) => (
        <table key={n.name} aria-label={"callers and callees of " + n.name}>
          <thead><tr><th scope="col">weight</th><th scope="col">flat</th><th scope="col"><span class="unseen">share</span></th><th scope="col">function</th></tr></thead>
          <tbody>
            {n.callers?.length ? rows(n.callers) : <tr><td colSpan={3} /><td class="muted">no visible callers: it is the root of its stacks</td></tr>}
            <tr class="self"><td>{n.cum.shown}</td><td>{n.flat.shown} itself</td><td /><td><Dot cls={n.class} />{n.name}</td></tr>
            {n.callees?.length ? rows(n.callees) : <tr><td colSpan={3} /><td class="muted">no visible callees</td></tr>}
          </tbody>
        </table>
      ))}
    </div>
  );
}

/** Labels shows what the samples are labelled with; a click restricts everything to a value. */
export function Labels({ of, onFilter }: { of: LabelsShown; onFilter: (filter: string) => void }) {
  return (
    <div class="plabels">
      {(of.keys ?? []).map((k) => (
        <section key={k.key}>
          <h2 class="ph">{k.key} <span class="muted">{k.total.shown} in all</span></h2>
          <ul>
            {(k.values ?? []).map((v) => (
              <li key={v.value}>
                <button type="button" class="quiet" onClick={() => onFilter(v.filter)} title="filter by this label">{v.value || "(empty)"}</button>
                <span>{v.weight.shown}</span><span class="muted">{percent(v.share)}</span>
                <span class="fill" style={{ width: Math.min(100, Math.abs(v.share) * 100) + "%" }} />
              </li>
            ))}
          </ul>
          {k.more ? <p class="note">{count(k.more)} more values are not listed.</p> : null}
        </section>
      ))}
    </div>
  );
}

/** Differences shows what grew and what shrank, and whether that is more than chance. */
export function Differences({ params }: { params: Params }) {
  const asked = useAnswer("profile/compare", params);
  return <Answer of={asked}>{(f) => <><h2 class="unseen">Differences</h2><FactPage of={f!} /></>}</Answer>;
}

