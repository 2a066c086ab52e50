/** Figures of a page, and the tables below them. */
import type { Fact, Facts as Page } from "../api/types.ts";
import { Table } from "./table.tsx";

/** FactList shows figures with their names. */
export function FactList({ of }: { of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of.map((f) => (
        <div key={f.head}>
          <dt>{f.head}</dt>
          <dd title={f.value === null ? undefined : String(f.value)}>{f.shown}</dd>
        </div>
      ))}
    </dl>
  );
}

/** FactPage shows what a verb of the command line prints. */
export function FactPage({ of }: { of: Page }) {
  return (
    <>
      <FactList of={of.facts ?? []} />
      {(of.tables ?? []).map((t) => t && <Table key={t.key} of={t} />)}
    </>
  );
}
