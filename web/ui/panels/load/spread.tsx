/** The distribution of latencies: as classes, and as a curve on which each further nine has the same room. */
import type { LoadPoint, LoadView } from "../../api/types.ts";
import { count, duration, percent } from "../../base/units.ts";
import { logMarks, path, Plot, type Mark, type Scale } from "../../tracks/plot.tsx";

/** nines is how far a share lies on the axis of the curve: 0 for none, 1 for 90%, 2 for 99%. */
const nines = (q: number): number => -Math.log10(Math.max(1e-12, 1 - q));

export function Curve({ of: v }: { of: LoadView }) {
  const points = v.curve ?? [];
  if (points.length < 2) return null;
  const last = points[points.length - 1]!;
  const low = Math.max(1, Math.min(...points.map((p) => Math.min(p.response_ns, p.service_ns)).filter((n) => n > 0)));
  const y: Scale = { from: low * 0.9, to: Math.max(...points.map((p) => p.response_ns)) * 1.1, log: true };
  const x: Scale = { from: 0, to: nines(last.share) };
  const marks: Mark[] = [{ at: 0, label: "0" }, { at: nines(0.5), label: "50%" }];
  for (let n = 1, text = "9"; n <= x.to; n++, text += "9") marks.push({ at: n, label: n === 1 ? "90%" : n === 2 ? "99%" : "99." + text.slice(2) + "%" });
  const told = points.filter((p) => p.told), beyond = points.slice(Math.max(0, told.length - 1));
  const line = (of: readonly LoadPoint[], value: (p: LoadPoint) => number, px: (v: number) => number, py: (v: number) => number): string => path(of.map((p) => [px(nines(p.share)), py(value(p))] as const));
  return (
    <figure class="plot-figure">
      <figcaption>
        <h2>Percentiles</h2>
        <span class="plot-legend">
          <span><svg width="24" height="8" aria-hidden="true"><path class="load-q q50" d="M0 4H24" /></svg> response time</span>
          {v.open ? <span><svg width="24" height="8" aria-hidden="true"><path class="load-q service" d="M0 4H24" /></svg> service time</span> : null}
          <span><svg width="24" height="8" aria-hidden="true"><path class="load-q q999" d="M0 4H24" /></svg> fewer than ten samples beyond</span>
        </span>
      </figcaption>
      <Plot label={`Percentiles of the response time, from ${duration(low)} to ${duration(last.response_ns)}`} height={260} x={x} y={y} marksX={(w) => marks.filter((_, i) => i !== 1 || w > 320)} marksY={logMarks(y, duration, 9)} columns={points.length}
        tell={(part) => {
          const at = part * x.to, p = points.reduce((a, b) => Math.abs(nines(b.share) - at) < Math.abs(nines(a.share) - at) ? b : a);
          return [p === last ? "the slowest" : percentOf(p.share) + " took at most", duration(p.response_ns) + (v.open ? " since due" : ""), ...(v.open ? [duration(p.service_ns) + " since sent"] : []), ...(p.told ? [] : ["fewer than ten took longer"])];
        }}>
        {(px, py) => (
          <>
            {v.open ? <path class="load-q service" d={line(points, (p) => p.service_ns, px, py)} /> : null}
            <path class="load-q q50" d={line(told, (p) => p.response_ns, px, py)} />
            <path class="load-q q999" d={line(beyond, (p) => p.response_ns, px, py)} />
          </>
        )}
      </Plot>
    </figure>
  );
}

function percentOf(share: number): string {
  return share < 0.995 ? percent(share) : (share * 100).toFixed(Math.min(6, Math.max(1, Math.ceil(nines(share)) - 1))) + "%";
}

export function Bars({ of: v }: { of: LoadView }) {
  const bars = v.bars ?? [], most = Math.max(1, ...bars.map((b) => b.count)), all = Math.max(1, bars.reduce((n, b) => n + b.count, 0));
  return (
    <section>
      <h2>Response times</h2>
      <div class="rows" role="region" aria-label="response times by class" tabIndex={0}>
        <table class="load-bars">
          <thead><tr><th>up to</th><th>requests</th><th>share</th><td aria-hidden="true" /></tr></thead>
          <tbody>
            {bars.map((b) => (
              <tr key={b.mark_ns}>
                <th scope="row">{duration(b.mark_ns)}</th><td>{count(b.count)}</td><td>{percent(b.count / all)}</td>
                <td aria-hidden="true"><i style={{ width: b.count ? Math.max(0.5, b.count / most * 100) + "%" : "0" }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
