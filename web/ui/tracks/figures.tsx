/** Figures that the command line prints, and parts of a whole. */
import type { Table as Sheet, TimeShare } from "../api/types.ts";
import { percent } from "../base/units.ts";
import { Swatch } from "./lanes.tsx";

/** FigureList shows a sheet of names, values and remarks. */
export function FigureList({ of }: { of: Sheet | null }) {
  return (
    <dl class="figurelist">
      {(of?.shown ?? []).map((r) => r && <div key={r[0]}><dt>{r[0]}</dt><dd>{r[1]}</dd><dd class="muted">{r[2]}</dd></div>)}
    </dl>
  );
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
