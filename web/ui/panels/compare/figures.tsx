/** Figures of two recordings with their rounds and verdicts, and which findings came and went. */
import type { CompareSide, CompareView, InsightFinding, ReportComparisonRow, Table as Sheet } from "../../api/types.ts";
import { formatRoute, viewRoute } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Dots, extent, Verdict } from "../../widgets/dots.tsx";
import { Table } from "../../widgets/table.tsx";

/** sheetOf makes a table of rows; the last column has the rounds. */
function sheetOf(v: CompareView, title: string): Sheet {
  const rows = v.rows ?? [];
  const columns = [
    { key: "name", head: "figure", left: true }, { key: "a", head: "A", left: false }, { key: "b", head: "B", left: false }, { key: "change", head: "change", left: true },
    { key: "verdict", head: "verdict", left: true }, { key: "p", head: "p", left: false }, { key: "rounds", head: "rounds", left: true },
  ];
  const some = rows.some((r) => (r.rounds ?? []).some((list) => (list?.length ?? 0) > 1));
  const tested = rows.some((r) => r.p !== null);
  const keep = columns.map((_, i) => i).filter((i) => i < 4 || (i < 6 ? tested : some));
  const cells = (r: ReportComparisonRow): [string[], unknown[]] => [
    [r.name, r.shown?.[0] ?? "–", r.shown?.[1] ?? "–", r.change, r.verdict, r.p_shown, (r.rounds_shown ?? []).map((l) => (l ?? []).join(" ")).join(" | ")],
    [r.name, median(r.rounds?.[0]), median(r.rounds?.[1]), r.ratio, r.verdict, r.p, (r.rounds ?? []).map((l) => (l ?? []).join(" ")).join(" | ")],
  ];
  const made = rows.map(cells);
  return {
    key: "comparison", title, columns: keep.map((i) => columns[i]!), shown: made.map(([s]) => keep.map((i) => s[i]!)), values: made.map(([, s]) => keep.map((i) => s[i]!)), notes: [],
  };
}

function median(of: readonly number[] | null | undefined): number | null {
  if (!of?.length) return null;
  const s = [...of].sort((a, b) => a - b), n = s.length;
  return n % 2 ? s[(n - 1) / 2]! : (s[n / 2 - 1]! + s[n / 2]!) / 2;
}

/** Rows shows the figures. */
export function Rows({ of: v, title }: { of: CompareView; title: string }) {
  const sheet = sheetOf(v, title), rows = v.rows ?? [];
  const counted = (verdict: string): number => rows.filter((r) => r.verdict === verdict).length;
  const said = ["better", "worse", "changed", "same", "undecided"].map((w) => [w, counted(w)] as const).filter(([, n]) => n > 0);
  return (
    <>
      {said.length ? <p class="cmp-said" role="status">{said.map(([w, n]) => <span key={w}>{n} <Verdict of={w} /></span>)}</p> : <p class="muted">No verdict: it needs four rounds of each. Record them with <code>loupe run -rounds 5 …</code></p>}
      <Table of={sheet} rows={32} cell={(r, c, shown) => {
        const row = rows[r]!;
        switch (sheet.columns![c]!.key) {
          case "name": return row.key ? <b title="decides whether the whole got worse">{shown}</b> : shown;
          case "verdict": return <Verdict of={row.verdict} />;
          case "rounds": {
            const sets = (row.rounds ?? []).map((l) => ({ values: l ?? [], ...(l?.length ? { center: median(l)! } : {}) }));
            const [low, high] = extent(sets);
            return <Dots sets={sets} from={low} to={high} label={`A: ${(row.rounds_shown?.[0] ?? []).join(", ")}; B: ${(row.rounds_shown?.[1] ?? []).join(", ")}`} />;
          }
        }
        return shown;
      }} />
      <p class="note">{(v.rows ?? []).some((r) => (r.rounds?.[0]?.length ?? 0) > 1) ? "Rounds: A above as circles, B below as diamonds, each figure on a scale of its own; the line is the median. " : ""}{v.rows?.some((r) => r.key) ? "Figures in bold decide the overall verdict." : ""}</p>
      {(v.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
    </>
  );
}

export function Figures({ a, b }: { a: CompareSide; b: CompareSide }) {
  const asked = useAnswer("compare/figures", { a: a.id, b: b.id });
  return (
    <Answer of={asked} source={b.source}>
      {(v) => v && (
        <>
          {v.rows?.length ? <Rows of={v} title="" /> : <p class="muted">Neither has figures from a bare phase.</p>}
          <h2>Findings</h2>
          <Findings title="Gone in B" of={v.gone} source={a.source} none="No finding of A is known to be gone." />
          <Findings title="New in B" of={v.new} source={b.source} none="No finding is new." />
          <Findings title="In both" of={v.both} source={b.source} none="" />
        </>
      )}
    </Answer>
  );
}

function Findings({ title, of, source, none }: { title: string; of: readonly InsightFinding[] | null; source: string; none: string }) {
  if (!of?.length) return none ? <p class="muted">{none}</p> : null;
  return (
    <section class="cmp-found">
      <h3>{title}: {of.length}</h3>
      <ul>
        {of.map((f) => (
          <li key={f.rule + f.summary}>
            <a href={formatRoute(viewRoute("overview", { rule: f.rule }, source))}><code>{f.rule}</code></a> {f.title}. <span class="muted">{f.summary}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** LoadRuns compares the load runs, and draws how each percentile has shifted. */
export function LoadRuns({ a, b }: { a: CompareSide; b: CompareSide }) {
  const asked = useAnswer("compare/loads", { a: a.id, b: b.id });
  return (
    <Answer of={asked}>
      {(v) => v && (
        <>
          <Rows of={v} title="" />
          <Shift of={v} />
        </>
      )}
    </Answer>
  );
}

/** Shift draws how much longer each percentile is in B: where only the tail has moved, only its bars are long. */
function Shift({ of: v }: { of: CompareView }) {
  const rows = (v.rows ?? []).filter((r) => r.id.startsWith("latency_p") && r.ratio !== null && r.ratio > 0).map((r) => ({ name: r.name.slice(r.name.lastIndexOf(" ") + 1), log: Math.log(r.ratio!), ratio: r.ratio! }));
  if (rows.length < 2) return null;
  const most = Math.max(Math.log(1.05), ...rows.map((r) => Math.abs(r.log)));
  return (
    <section>
      <h2>Shift of the percentiles, B against A</h2>
      <table class="cmp-shift">
        <caption class="unseen">ratio of each percentile, B to A</caption>
        <tbody>
          {rows.map((r) => (
            <tr key={r.name}>
              <th scope="row">{r.name}</th><td>×{r.ratio.toPrecision(3)}</td>
              <td aria-hidden="true"><i class={r.log < 0 ? "better" : "worse"} style={r.log < 0 ? { marginLeft: 50 + r.log / most * 50 + "%", width: -r.log / most * 50 + "%" } : { marginLeft: "50%", width: Math.max(0.3, r.log / most * 50) + "%" }} /></td>
              <td>{r.log < -0.005 ? "shorter" : r.log > 0.005 ? "longer" : "the same"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
