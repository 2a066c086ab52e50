/** The processes that are asked for profiles: how often, at which cost, and what went wrong. */
import type { FleetTargets } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import { clock, total } from "./model.ts";

export function Targets({ n }: { n: number }) {
  const asked = useAnswer("fleet/targets", { n });
  return asked.value?.asks ? <List of={asked.value} /> : null;
}

function List({ of: v }: { of: FleetTargets }) {
  const targets = v.targets ?? [], wrong = targets.filter((t) => t.error).length;
  return (
    <section>
      <h2>{total(targets.length, "target")}{wrong ? <span class="bad">, {wrong} with errors</span> : null}</h2>
      {targets.length === 0 ? <p class="muted">No targets found yet.</p> : (
        <div class="rows fleet-table" role="region" aria-label="targets" tabIndex={0}>
          <table>
            <thead><tr><th scope="col" class="left named">target</th><th scope="col" class="left">service</th><th scope="col">profiles</th><th scope="col">last</th><th scope="col" title="a round takes one profile of each kind">round every</th><th scope="col" title="CPU time of the target, at most">overhead</th><th scope="col" class="left">state</th></tr></thead>
            <tbody>
              {targets.map((t) => (
                <tr key={t.url}>
                  <td class="left named" title={t.url}>{t.url}</td><td class="left">{t.service}</td><td>{count(t.taken)}</td><td>{t.last_ms ? clock(t.last_ms, Date.now() - t.last_ms) : "never"}</td>
                  <td>{t.every}</td><td>{t.cost}</td><td class={"left" + (t.error ? " bad" : "")} title={t.error}>{t.error || (t.taken ? "ok" : "queued")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
