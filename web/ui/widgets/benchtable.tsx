/** Tables of benchmarks as benchstat prints them, with their samples as dots. */
import { useState } from "preact/hooks";
import type { BenchRow, BenchTable, BenchView } from "../api/types.ts";
import { count } from "../base/units.ts";
import { Dots, Verdict, type DotSet } from "./dots.tsx";
import { Table } from "./table.tsx";

/** shown prints a value of a row as its table does. */
function shown(r: BenchRow, v: number): string {
  return (v / r.factor).toFixed(r.digits) + r.prefix;
}

/** mostDots is how many benchmarks are drawn; the table has all. */
const mostDots = 100;

/** Benchmarks shows what outputs of go test -bench come to: the tables of one unit, or all. */
export function BenchTables({ of: v, unit, query }: { of: BenchView; unit: string; query: string }) {
  const wanted = query.toLowerCase();
  const tables = (v.tables ?? []).filter((t) => (!unit || t.unit === unit) && (!wanted || (t.rows ?? []).some((r) => r.name.toLowerCase().includes(wanted))));
  let before = "";
  return (
    <>
      {(v.problems ?? []).slice(0, 5).map((p) => <p class="note" key={p}>{p}</p>)}
      {tables.length === 0 ? <p class="muted">No benchmark matches.</p> : null}
      {tables.map((t, i) => {
        const config = (t.config ?? []).map((c) => c.key + ": " + c.value).join(", ");
        const fresh = config !== before;
        before = config;
        return (
          <section key={i} class="bench">
            {fresh ? <h2 class="benchconfig">{config || "Benchmarks"}</h2> : null}
            <One of={t} wanted={wanted} />
          </section>
        );
      })}
    </>
  );
}

function One({ of: t, wanted }: { of: BenchTable; wanted: string }) {
  const keep = (name: string): boolean => !wanted || name.toLowerCase().includes(wanted);
  const names = t.table!.shown ?? [];
  const rows = names.map((_, i) => i).filter((i) => keep(names[i]![0]!));
  const sheet = rows.length === names.length ? t.table! : {
    ...t.table!, shown: rows.map((i) => names[i]!), values: rows.map((i) => t.table!.values![i]!), notes: [...(t.table!.notes ?? []), `${rows.length} of ${names.length} rows.`],
  };
  const columns = t.table!.columns ?? [];
  return (
    <>
      <Table of={{ ...sheet, title: t.unit }} label={t.unit} rows={24}
        cell={(_, c, text) => columns[c]!.key.startsWith("verdict") ? (text ? <Verdict of={text} /> : null) : text} />
      <Samples of={t} rows={(t.rows ?? []).filter((r) => keep(r.name))} />
    </>
  );
}

/** Samples draws every sample in comparison with the median of the first file, all benchmarks on one scale. */
function Samples({ of: t, rows }: { of: BenchTable; rows: readonly BenchRow[] }) {
  const [all, setAll] = useState(false);
  const relative = rows.flatMap((r) => {
    const cells = r.cells ?? [], base = cells.find((c) => (c.values?.length ?? 0) > 0)?.center ?? 0;
    if (base === 0) return [];
    const sets: DotSet[] = cells.map((c) => (c.values?.length ?? 0) > 0 ? { values: c.values!.map((v) => v / base), center: c.center / base, low: c.low / base, high: c.high / base } : { values: [] });
    return [{ row: r, sets }];
  });
  if (relative.length === 0) return null;
  const ratios = relative.flatMap((r) => r.sets.flatMap((s) => s.values)).filter((x) => x > 0);
  // One that is far out does not push all others together.
  const sorted = ratios.sort((a, b) => a - b), at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 1;
  const from = Math.min(0.99, at(0.002)), to = Math.max(1.01, at(0.998));
  const list = all ? relative : relative.slice(0, mostDots);
  const files = t.files ?? [];
  return (
    <details class="samples" open>
      <summary>Samples of {t.unit}, against the median of {files[0]}</summary>
      <p class="note">{files.map((f, i) => <span key={f} class="benchfile"><svg class="dots" width="12" height="10" aria-hidden="true"><g class={"set" + i % 4}>{i % 2 === 0 ? <circle cx="6" cy="5" r="2.500" /> : <path d="M6 2l3 3l-3 3l-3 -3z" />}</g></svg> {f}</span>)} from {signed(from)} to {signed(to)}; bar: 95% confidence interval of the median.{t.better ? (t.better > 0 ? " More is better." : " Less is better.") : ""}</p>
      <div class="rows" role="region" tabIndex={0} aria-label={"samples of " + t.unit}>
        <table class="benchdots">
          <thead><tr><th scope="col">benchmark</th><th scope="col">samples</th>{files.map((f) => <th scope="col" key={f}>{f}</th>)}{files.length > 1 ? <th scope="col">change</th> : null}</tr></thead>
          <tbody>
            {list.map(({ row, sets }) => {
              const cells = row.cells ?? [], last = cells[cells.length - 1]!;
              return (
                <tr key={row.name}>
                  <th scope="row" title={row.name}>{row.name}</th>
                  <td><Dots sets={sets} width={260} from={from} to={to} zero={1} label={cells.map((c, i) => (c.values?.length ?? 0) ? `${files[i]}: ${c.values!.length} samples from ${shown(row, Math.min(...c.values!))} to ${shown(row, Math.max(...c.values!))}` : `${files[i]}: none`).join("; ")} /></td>
                  {cells.map((c, i) => <td key={i}>{c.shown ? `${c.shown} ± ${c.range}` : "–"}</td>)}
                  {files.length > 1 ? <td>{last.delta} {last.verdict ? <Verdict of={last.verdict} /> : null}</td> : null}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {relative.length > list.length ? <button type="button" onClick={() => setAll(true)}>Draw all {count(relative.length)}</button> : null}
    </details>
  );
}

function signed(ratio: number): string {
  const p = (ratio - 1) * 100;
  return (p >= 0 ? "+" : "−") + (Math.abs(p) >= 100 ? "×" + ratio.toFixed(1) : Math.abs(p).toFixed(Math.abs(p) < 10 ? 1 : 0) + "%").replace("+×", "×");
}
