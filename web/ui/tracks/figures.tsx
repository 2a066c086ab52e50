/** Figures that the command line prints, and parts of a whole. */
import type { ComponentChildren } from "preact";
import type { Table as Sheet, TimeShare } from "../api/types.ts";
import { percent } from "../base/units.ts";
import { param, set } from "../model/route.ts";
import { Table } from "../widgets/table.tsx";
import { Swatch } from "./lanes.tsx";

/** FigureList shows a sheet of names, values and remarks. */
export function FigureList({ of }: { of: Sheet | null }) {
  return (
    <dl class="figurelist">
      {(of?.shown ?? []).map((r) => r && <div key={r[0]}><dt>{r[0]}</dt><dd>{r[1]}</dd><dd class="muted">{r[2]}</dd></div>)}
    </dl>
  );
}

/** Part is what the command line prints of one phase or log. */
export interface Part {
  readonly title: string;
  readonly figures: Sheet | null;
  readonly notes: string[] | null;
}

/**
 * Parts shows one part with its remarks; of several rounds first all figures side
 * by side, and of the one that is chosen the rest, which more of a part adds to.
 */
export function Parts<P extends Part>({ of, more }: { of: readonly P[]; more?: (part: P) => ComponentChildren }) {
  const chosen = param("round"), one = of.length === 1 ? of[0] : of.find((p) => p.title === chosen);
  return (
    <div class="figureparts">
      {of.length > 1 ? (
        <label>Round <select value={one ? chosen : ""} onChange={(e) => set({ round: e.currentTarget.value })}>
          <option value="">all, side by side</option>
          {of.map((p) => <option key={p.title} value={p.title}>{p.title}</option>)}
        </select></label>
      ) : null}
      {one ? (
        <section aria-label={"Figures of " + one.title}>
          <h3>{one.title}</h3>
          <FigureList of={one.figures} />
          {more?.(one)}
          <Notes of={one.notes} />
        </section>
      ) : <Table of={beside(of)} rows={30} label="Figures of all rounds" />}
    </div>
  );
}

/** beside puts the figures of parts side by side: a row for each, a column for each part. */
export function beside(parts: readonly Part[]): Sheet {
  const names = [...new Set(parts.flatMap((p) => (p.figures?.shown ?? []).map((r) => r?.[0] ?? "")))];
  const rows = names.map((name) => parts.map((p) => (p.figures?.shown ?? []).findIndex((r) => r?.[0] === name)));
  return {
    key: "rounds", title: "", notes: [],
    columns: [{ key: "figure", head: "figure", left: true }, ...parts.map((p) => ({ key: p.title, head: p.title, left: false }))],
    shown: names.map((name, i) => [name, ...parts.map((p, n) => p.figures?.shown?.[rows[i]![n]!]?.[1] ?? "")]),
    values: names.map((name, i) => [name, ...parts.map((p, n) => p.figures?.values?.[rows[i]![n]!]?.[1] ?? null)]),
  };
}

/** Notes folds the doubts about figures. */
export function Notes({ of }: { of: readonly string[] | null }) {
  if (!of?.length) return null;
  return <details class="notes"><summary>Notes ({of.length})</summary><ul>{of.map((n) => <li key={n}>{n}</li>)}</ul></details>;
}

/** Shares shows parts of a whole as bars with their figures. */
export function Shares({ title, of }: { title: string; of: readonly TimeShare[] }) {
  return (
    <table class="shares">
      <caption>{title}</caption>
      <tbody>
        {of.map((x) => (
          <tr key={x.key}>
            <th scope="row"><Swatch of={x.key} area /> {x.title}</th>
            <td class="bar"><span style={{ width: Math.max(0.5, x.share * 100) + "%" }} /></td>
            <td>{percent(x.share)}</td>
            <td class="muted">{x.shown}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
