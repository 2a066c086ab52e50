/** What new versions of services take more of, function by function. */
import type { FleetChange, FleetRegressions, FleetRelease } from "../../api/types.ts";
import { count } from "../../base/units.ts";
import { formatRoute, param } from "../../model/route.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import { clock, total, type Ask } from "./model.ts";

/** seldom is how many rounds of questions one of versions is left out: it costs more, and changes slowly. */
const seldom = 8;

export function Regressions({ ask, n }: { ask: Ask; n: number }) {
  const asked = useAnswer("fleet/regressions", { ...ask, type: param("type").includes("alloc") ? param("type") : "", n: Math.floor(n / seldom) });
  return asked.value && (asked.value.releases?.length || asked.value.left) ? <List of={asked.value} /> : null;
}

function List({ of: v }: { of: FleetRegressions }) {
  const releases = v.releases ?? [];
  return (
    <section aria-label="new versions">
      <h2>{total(releases.length, "new version")}</h2>
      {v.left ? <p class="muted">{count(v.services)} of {total(v.services + v.left, "service")} were examined: choose a service to examine another.</p> : null}
      {releases.map((r) => <Release key={r.service + r.new} of={r} share={v.of} />)}
    </section>
  );
}

function Release({ of: r, share }: { of: FleetRelease; share: string }) {
  const more = r.more ?? [], less = r.less ?? [];
  return (
    <div class="fleet-release">
      <p>
        <b>{r.service}</b> since <b>{r.new}</b>, {clock(r.at_ms, Infinity)}, against {r.old} {r.beside ? "running side by side" : "in the period before"}:{" "}
        {r.judged ? <span class={more.length ? "bad" : "muted"}>{more.length ? total(more.length, "regression") : "no regression"}</span> : null}{" "}
        <a href={formatRoute({ source: r.after, view: "compare", params: { a: r.before, b: r.after, tab: "profiles", normalize: "1" } })} aria-label={`compare ${r.old} with ${r.new} of ${r.service}`}>compare</a>
      </p>
      {more.length || less.length ? (
        <div class="rows fleet-table" role="region" aria-label={`functions of ${r.service}`} tabIndex={0}>
          <table>
            <thead><tr><th scope="col" class="left named">function</th><th scope="col" title="with its 95 % interval, for the same amount of work">change, of {share}</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
            <tbody>{more.map((c) => <Row key={c.function} of={c} grew />)}{less.map((c) => <Row key={c.function} of={c} grew={false} />)}</tbody>
          </table>
        </div>
      ) : null}
      <p class="muted">{r.judged ? `${total(r.judged, "function")} tested; expected false alarms among those listed: at most 5 %. Percentages are relative to ${share} of ${r.old}, for the same amount of work. ` : ""}{r.others ? `${count(r.others)} smaller changes are not shown. ` : ""}{r.note}</p>
    </div>
  );
}

function Row({ of: c, grew }: { of: FleetChange; grew: boolean }) {
  return <tr><td class="left named" title={c.function}>{c.function}</td><td class={grew ? "bad" : ""}>{c.shown}</td><td>{percent(c.old)}</td><td>{percent(c.new)}</td></tr>;
}

const percent = (v: number): string => (100 * v).toFixed(2) + " %";
