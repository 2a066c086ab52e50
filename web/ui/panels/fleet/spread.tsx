/** How much single spans, or single profiles, took: a heat map over time, and the largest of them. */
import type { FleetSpread } from "../../api/types.ts";
import { bytes, count, duration } from "../../base/units.ts";
import { paintHeat } from "../../draw/heat.ts";
import { formatRoute, param, set } from "../../model/route.ts";
import { logMarks, Plot, type Scale } from "../../tracks/plot.tsx";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { clock, clockMarks, total, type Ask } from "./model.ts";

/** Spread is closed until it is asked for: every profile of the range is read for it. */
export function Spread({ ask }: { ask: Ask }) {
  const open = param("spread") === "1";
  return (
    <section class="fleet-spread">
      <h2><button type="button" class="link" aria-expanded={open} onClick={() => set({ spread: open ? undefined : "1" })}>{open ? "▾" : "▸"} Single spans and profiles</button></h2>
      {open ? <Asked ask={ask} /> : <p class="muted">How much each span took, or each profile where samples carry no span ids, and the way to the largest. All profiles of the range are read for it.</p>}
    </section>
  );
}

function Asked({ ask }: { ask: Ask }) {
  const asked = useAnswer("fleet/spread", { ...ask, type: param("type") });
  return <Answer of={asked}>{(v) => v && (v.count ? <Shown of={v} /> : <p class="muted">None took any of this in the range.{v.rolled_up ? rolled(v) : ""}</p>)}</Answer>;
}

/** rolled says what is missing. */
const rolled = (v: FleetSpread): string => ` ${total(v.rolled_up, "older profile")} ${v.rolled_up === 1 ? "is" : "are"} not shown: only sums are kept of ${v.rolled_up === 1 ? "it" : "them"}.`;

/** printed prints a value in the unit that profiles have. */
const printed = (unit: string) => (v: number): string => unit === "nanoseconds" ? duration(v) : unit === "bytes" ? bytes(v) : count(Math.round(v));

function Shown({ of: v }: { of: FleetSpread }) {
  const print = printed(v.unit), end = v.from_ms + v.columns * v.step_ms, x = { from: v.from_ms, to: end };
  const y: Scale = { from: v.low, to: v.low * v.growth ** v.rows, log: true }, cells = v.cells ?? [], largest = v.largest ?? [];
  const place = (px: number, py: number) => ({ col: Math.min(v.columns - 1, Math.max(0, Math.floor(px * v.columns))), row: Math.min(v.rows - 1, Math.max(0, Math.floor(py * v.rows))) });
  const tell = (px: number, py: number): string[] => {
    const { col, row } = place(px, py), at = v.from_ms + col * v.step_ms;
    return [clock(at, end - v.from_ms), `${total(cells[row * v.columns + col] ?? 0, v.of)} took ${print(v.low * v.growth ** row)} to ${print(v.low * v.growth ** (row + 1))}`];
  };
  return (
    <>
      <figure class="plot-figure">
        <figcaption><span>{v.head}, {total(v.count, v.of)}</span><span class="plot-legend"><span><i class="load-ramp" aria-hidden="true" /> 1 to {total(v.most, v.of)} a cell</span></span></figcaption>
        <Plot label={`Heat map of what single ${v.of}s took over time, from ${print(y.from)} to ${print(y.to)}`} height={220} x={x} y={y} marksX={(w) => clockMarks(v.from_ms, end, w)} marksY={logMarks(y, print, 9)}
          columns={v.columns} rows={v.rows} tell={tell} under={(c, w, h) => paintHeat({ ...v, cells }, c, w, h)} underKey={`${v.type} ${v.from_ms} ${v.until_ms} ${v.count}`}
          onBrush={(a, b) => set({ from: String(Math.round(Math.min(a, b))), until: String(Math.round(Math.min(Math.max(a, b), Math.max(v.until_ms, a + 1)))), last: undefined })}
          hint="Drag over it, or Shift with an arrow and Enter, to select a range">
          {() => null}
        </Plot>
      </figure>
      <div class="rows fleet-table fleet-largest" role="region" aria-label={`largest ${v.of}s`} tabIndex={0}>
        <table>
          <thead><tr><th scope="col" class="left">{v.of === "span" ? "first seen" : "began"}</th><th scope="col">{v.head.split(": ")[1]}</th>{v.of === "span" ? <><th scope="col" class="left">span</th><th scope="col" class="left">trace</th></> : null}<th scope="col" class="left">profile</th><th scope="col" class="left named">labels</th></tr></thead>
          <tbody>
            {largest.map((l) => (
              <tr key={l.source}>
                <td class="left">{clock(l.at_ms, end - v.from_ms)}</td>
                <td>{l.shown}</td>
                {v.of === "span" ? <><td class="left"><code>{l.span}</code></td><td class="left"><code>{l.trace || "–"}</code></td></> : null}
                <td class="left"><a href={formatRoute({ source: l.source, view: "profile", params: {} })} aria-label={`flame graph of ${l.span || clock(l.at_ms, end - v.from_ms)}`}>flame graph</a></td>
                <td class="left named" title={l.labels}>{l.labels}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="muted">The {total(largest.length, "largest " + v.of)} of {count(v.count)}.{v.rolled_up ? rolled(v) : ""}</p>
    </>
  );
}
