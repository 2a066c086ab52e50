/** The moments at which alert rules have fired, each with its recording; and the rules that are in force. */
import type { FleetIncident, FleetIncidents } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { formatRoute } from "../../model/route.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import { clock, total } from "./model.ts";

export function Incidents({ n }: { n: number }) {
  const asked = useAnswer("fleet/incidents", { n });
  return asked.value?.watches ? <List of={asked.value} /> : null;
}

function List({ of: v }: { of: FleetIncidents }) {
  const incidents = v.incidents ?? [], rules = v.rules ?? [];
  return (
    <section>
      <h2>{total(incidents.length, "incident")}</h2>
      {incidents.length === 0 ? <p class="muted">No alert rule has fired.</p> : (
        <div class="rows fleet-table" role="region" aria-label="incidents" tabIndex={0}>
          <table>
            <thead><tr><th scope="col" class="left named">when</th><th scope="col" class="left">service</th><th scope="col" class="left">target</th><th scope="col" class="left">rule</th><th scope="col" class="left">observation</th><th scope="col" class="left">recording</th></tr></thead>
            <tbody>{incidents.map((i) => <Row key={i.source || i.at_ms + i.target + i.rule} of={i} />)}</tbody>
          </table>
        </div>
      )}
      <p class="muted">Rules: {rules.map((r, i) => <span key={r.rule}>{i ? ", " : ""}<code>{r.rule}</code> for {total(r.targets, "target")}{r.known < r.targets ? <span class="bad"> ({r.known ? `${count(r.targets - r.known)} of them do not report this metric` : "none reports this metric"})</span> : null}</span>)}.</p>
    </section>
  );
}

function Row({ of: i }: { of: FleetIncident }) {
  return (
    <tr>
      <td class="left named">{clock(i.at_ms, Infinity)}</td><td class="left">{i.service}</td><td class="left" title={i.target}>{i.target}</td><td class="left"><code>{i.rule}</code></td>
      <td class="left">{i.why}{i.again ? <span class="muted"> and {total(i.again, "time")} again soon after</span> : null}</td>
      <td class="left">
        {i.source ? <span class="fleet-ways-row">
          <a href={formatRoute({ source: i.source, view: "overview", params: {} })} title={i.folder} aria-label={`report of ${i.service}, ${clock(i.at_ms, Infinity)}`}>report</a>
          {i.download ? <a href={i.download} download aria-label={`download the recording of ${i.service}, ${clock(i.at_ms, Infinity)}`}>download</a> : null}
          <span class="muted">{i.size}</span>
        </span> : null}
        {i.note ? <span class="muted"> {i.note}</span> : null}
      </td>
    </tr>
  );
}
