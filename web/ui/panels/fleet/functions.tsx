/** What the functions of a selection cost: CPUs and memory, in themselves and with what they call. */
import type { FleetFunctions } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import type { Ask } from "./model.ts";

/** seldom is how many rounds of questions one of functions is left out. */
const seldom = 4;

export function Functions({ ask, n }: { ask: Ask; n: number }) {
  const asked = useAnswer("fleet/functions", { ...ask, n: Math.floor(n / seldom) });
  return asked.value?.functions?.length ? <List of={asked.value} /> : null;
}

function List({ of: v }: { of: FleetFunctions }) {
  const costs = v.costs ?? [];
  return (
    <section>
      <h2>Cost by function</h2>
      <div class="rows fleet-table fleet-functions" role="region" aria-label="functions" tabIndex={0}>
        <table>
          <thead><tr><th scope="col" class="left named">function</th>{costs.flatMap((c) => [<th scope="col" key={c.type} title={c.means}>{c.head}</th>, <th scope="col" key={c.type + " total"}>with callees</th>])}</tr></thead>
          <tbody>
            {(v.functions ?? []).map((f) => (
              <tr key={f.name + f.file}>
                <td class="left named" title={f.name + (f.file ? "\n" + f.file : "")}>{f.name}</td>
                {(f.costs ?? []).flatMap((c, i) => [<td key={i}>{c?.self ? c.self_shown : ""}</td>, <td key={i + " total"} class="muted">{c ? c.total_shown : ""}</td>])}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted">{v.others ? `${count(v.others)} cheaper functions are not shown. ` : ""}{v.exact ? "" : "Roll-ups of older profiles keep only the largest functions: some figures may be too low."}</p>
    </section>
  );
}
