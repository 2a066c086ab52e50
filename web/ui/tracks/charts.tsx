/** Pictures that are no lanes: distributions and curves. */
import { useEffect, useRef } from "preact/hooks";
import type { Bars, WhatIfPage } from "../api/types.ts";
import { count, duration, percent } from "../base/units.ts";
import { sharp } from "../draw/axis.ts";
import { drawCurves, drawHistogram, type Curve } from "../draw/histogram.ts";
import { drawTradeOffs } from "../draw/tradeoff.ts";
import { theme } from "../model/theme.ts";
import { useWidth } from "./axis.tsx";

/** Drawn is a canvas as wide as its place, drawn anew when the place, the colours or the data change. */
function Drawn({ height, label, draw, of }: { height: number; label: string; draw: (c: CanvasRenderingContext2D, width: number) => void; of: unknown }) {
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box), colours = theme.value;
  useEffect(() => {
    const target = canvas.current; // the page may have gone on before the frame
    if (!target || width === 0) return;
    const frame = requestAnimationFrame(() => draw(sharp(target, width, height), width));
    return () => cancelAnimationFrame(frame);
  }, [of, width, height, colours]);
  return (
    <div ref={box} class="drawn" style={{ height: height + "px" }}>
      <canvas ref={canvas} style={{ width: width + "px", height: height + "px" }} role="img" aria-label={label} />
    </div>
  );
}

/** Distribution shows how long things took: bars, the quantiles, and folded the classes as a table. */
export function Distribution({ of: b, colour = "running" }: { of: Bars; colour?: string }) {
  if (b.total === 0) return <section class="distribution"><h3>{b.title}</h3><p class="muted">None in this period.</p></section>;
  const said = `${count(b.total)}: p50 ${duration(b.p50)}, p99 ${duration(b.p99)}, longest ${duration(b.max)}`;
  return (
    <section class="distribution">
      <h3>{b.title}</h3>
      <p class="muted">{said}</p>
      <Drawn height={108} of={b} label={b.title + ", " + said} draw={(c, width) =>
        drawHistogram(c, b, [{ name: "p50", at: b.p50 }, { name: "p99", at: b.p99 }, { name: "longest", at: b.max }], colour, width, 108)} />
      <details>
        <summary>As table</summary>
        <table class="plain">
          <thead><tr><th>from</th><th>to</th><th>count</th></tr></thead>
          <tbody>{b.from.map((from, i) => <tr key={i}><td>{duration(from ?? 0)}</td><td>{duration(b.to[i] ?? 0)}</td><td>{count(b.count[i] ?? 0)}</td></tr>)}</tbody>
        </table>
      </details>
    </section>
  );
}

/** ShareCurves shows shares over lengths of time. */
export function ShareCurves({ at, curves, label }: { at: readonly (number | null)[]; curves: readonly (Curve & { title: string })[]; label: string }) {
  const first = curves[0]!.values, last = first.length - 1;
  return (
    <>
      <p class="muted curvenames">{curves.map((k) => <span key={k.title}><i style={{ borderTop: `2px ${k.dash.length ? "dashed" : "solid"} var(--${k.colour})` }} aria-hidden="true" /> {k.title}</span>)}</p>
      <Drawn height={180} of={at} label={`${label}: from ${percent(first[0] ?? 0)} in windows of ${duration(at[0] ?? 0)} to ${percent(first[last] ?? 0)} in windows of ${duration(at[last] ?? 0)}. The table below has the values.`}
        draw={(c, width) => drawCurves(c, at, curves, width, 180)} />
    </>
  );
}

/** TradeOffs shows memory against the collector's share of the Ps, with what was recorded and, where it is predicted, what is asked about. */
export function TradeOffs({ of: p, label }: { of: WhatIfPage; label: string }) {
  const points = [{ at: p.recorded, name: "recorded", round: false }];
  if (!p.refused) points.push({ at: p.chosen, name: p.chosen.settings, round: true });
  return <Drawn height={200} of={p} label={label} draw={(c, width) => drawTradeOffs(c, p.curve ?? [], points, width, 200)} />;
}
