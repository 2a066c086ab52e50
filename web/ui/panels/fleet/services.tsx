/** The services, each with what it costs and how that went. */
import type { FleetFigure, FleetService, FleetServices } from "../../api/types.ts";
import { formatRoute, set } from "../../model/route.ts";
import { bridged, clock, total } from "./model.ts";

/** searchable is the number of services that are shown at once; more scroll. */
export function Services({ of: v, chosen }: { of: FleetServices; chosen: string }) {
  const services = v.services ?? [], costs = v.costs ?? [];
  return (
    <section>
      <h2>{total(services.length, "service")}</h2>
      <div class="rows fleet-table fleet-services" role="region" aria-label="services" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col" class="left named">service</th>
              {costs.map((c) => <th scope="col" key={c.type} title={c.means}>{c.head}</th>)}
              <th scope="col" class="left">profiles</th>
            </tr>
          </thead>
          <tbody>
            {services.map((s) => (
              <tr key={s.name} class={s.name === chosen ? "selected" : ""}>
                <td class="left named"><button type="button" class="link" aria-pressed={s.name === chosen} onClick={() => set({ select: s.name === chosen ? undefined : s.select, by: undefined, base: undefined })}>{s.name}</button></td>
                {(s.costs ?? []).map((f, i) => <td key={i}>{f ? <Cost of={f} head={costs[i]!.head} /> : <span class="muted" title="no profile of this kind">–</span>}</td>)}
                <td class="left"><Ways of={(s.costs ?? []).some((f) => f?.before) ? s : { source: s.source, name: s.name }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted">
        Means over the time in which there are profiles; below each what it was in the preceding period of the same length.
        {profiledNote(services)}{v.newest_ms && Date.now() - v.newest_ms > 10 * 60e3 && v.until_ms > Date.now() - 60e3 ? ` The newest profile was taken at about ${clock(v.newest_ms, Infinity)}.` : ""}
      </p>
    </section>
  );
}

/** profiledNote says how much of the time CPU figures rest on. */
function profiledNote(services: readonly FleetService[]): string {
  const shares = services.map((s) => s.costs?.[0]?.profiled ?? 0).filter((p) => p > 0 && p < 0.99);
  return shares.length ? ` CPU time is extrapolated from the ${Math.round(Math.min(...shares) * 100)}${shares.length > 1 && Math.max(...shares) - Math.min(...shares) > 0.01 ? ` to ${Math.round(Math.max(...shares) * 100)}` : ""}% of the time that was profiled.` : "";
}

/** Cost is a figure with its course, and what it was before. */
function Cost({ of: f, head }: { of: FleetFigure; head: string }) {
  return (
    <span class="fleet-cost">
      <Spark of={f.course ?? []} label={head} />
      <span><b>{f.shown}</b>{f.before ? <small title="in the preceding period of the same length">{f.before}</small> : null}</span>
    </span>
  );
}

/** Spark is a course without axes, from zero on. */
export function Spark({ of: course, label }: { of: readonly (number | null)[]; label: string }) {
  const w = 72, h = 20, most = Math.max(...course.map((v) => v ?? 0), 1e-12), n = Math.max(1, course.length - 1);
  const known = course.filter((v): v is number => v !== null);
  return (
    <svg class="fleet-spark" width={w} height={h} viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${label}, trend of ${known.length} values`}>
      {bridged(course, 4).map((part, i) => {
        const d = part.map(([x, v]) => `${(x / n * (w - 2) + 1).toFixed(1)} ${(h - 1 - v / most * (h - 3)).toFixed(1)}`);
        return <path key={i} class={d.length > 1 ? "" : "dot"} d={"M" + (d.length > 1 ? d.join("L") : d[0] + "h0.1")} />;
      })}
    </svg>
  );
}

/** Ways lead to the profiles of a selection: the flame graph, findings, and a comparison with the time before. */
export function Ways({ of: s }: { of: { source: string; before?: string; name?: string } }) {
  const name = s.name ?? "all";
  return (
    <span class="fleet-ways-row">
      <a href={formatRoute({ source: s.source, view: "profile", params: {} })} aria-label={"flame graph of " + name}>flame graph</a>
      <a href={formatRoute({ source: s.source, view: "overview", params: {} })} aria-label={"findings of " + name}>findings</a>
      {s.before ? <a href={formatRoute({ source: s.source, view: "compare", params: { a: s.before, b: s.source, tab: "profiles", normalize: "1" } })} aria-label={`${name} compared with the period before`}>compare with before</a> : null}
    </span>
  );
}
