/** One type of profile over time, by a label. A range is chosen by dragging over it. */
import type { FleetLine, FleetLines } from "../../api/types.ts";
import { formatRoute, param, set } from "../../model/route.ts";
import { linearMarks, Plot } from "../../tracks/plot.tsx";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { Ways } from "./services.tsx";
import { bridged, clock, clockMarks, shownValue, type Ask } from "./model.ts";

/** gap is how many missing steps a line is drawn over. */
const gap = 4;

export function Lines({ ask, n }: { ask: Ask; n: number }) {
  const by = param("by", ask.select ? "" : "service_name");
  const asked = useAnswer("fleet/lines", { ...ask, type: param("type"), by: by === "-" ? "" : by, n });
  return <section><Answer of={asked}>{(v) => v && <Shown of={v} />}</Answer></section>;
}

function Shown({ of: v }: { of: FleetLines }) {
  const lines = v.lines ?? [], labels = v.labels ?? [], types = v.types ?? [];
  const type = types.find((t) => t.type === v.type);
  return (
    <>
      <div class="fleet-choices">
        <h2>Over time</h2>
        <label>Profile <select value={v.type} onChange={(e) => set({ type: e.currentTarget.value })}>{types.map((t) => <option key={t.type} value={t.type}>{t.head}</option>)}</select></label>
        <label>By <select value={v.by || "-"} onChange={(e) => set({ by: e.currentTarget.value, base: undefined })}>
          <option value="-">nothing</option>{labels.map((l) => <option key={l} value={l}>{l}</option>)}
        </select></label>
        <span class="fleet-all">All of it: <Ways of={{ source: v.source, name: "all of it", ...(lines.some((l) => l.before) ? { before: v.before } : {}) }} /></span>
      </div>
      {lines.length ? <Picture of={v} lines={lines} label={`${type?.head ?? ""} over time${v.by ? " by " + v.by : ""}`} /> : <p class="muted">There is no profile of this type in the range.</p>}
      {lines.length ? <Legend of={v} lines={lines} /> : null}
    </>
  );
}

function Picture({ of: v, lines, label }: { of: FleetLines; lines: readonly FleetLine[]; label: string }) {
  const steps = Math.max(1, ...lines.map((l) => l.course?.length ?? 0)), end = v.from_ms + steps * v.step_ms;
  const most = Math.max(...lines.flatMap((l) => (l.course ?? []).map((c) => c ?? 0)), 0);
  const x = { from: v.from_ms, to: end }, y = { from: 0, to: most * 1.08 || 1 };
  const middle = (i: number): number => v.from_ms + (i + 0.5) * v.step_ms;
  const tell = (part: number): string[] => {
    const i = Math.min(steps - 1, Math.floor(part * steps));
    const here = lines.map((l) => ({ name: l.name || "(none)", v: l.course?.[i] ?? null })).filter((l) => l.v !== null).sort((a, b) => b.v! - a.v!);
    const head = clock(v.from_ms + i * v.step_ms, end - v.from_ms);
    return [head, ...here.slice(0, 8).map((l) => (v.by ? l.name + ": " : "") + shownValue(l.v!, v.unit)), ...(here.length > 8 ? [`and ${here.length - 8} more`] : here.length ? [] : ["no profile"])];
  };
  return (
    <Plot label={label} height={220} x={x} y={y} marksX={(w) => clockMarks(v.from_ms, end, w)} marksY={linearMarks(y, (n) => shownValue(n, v.unit === "CPUs" || v.unit === "at once" ? "" : v.unit))} columns={steps} tell={tell}
      onBrush={(a, b) => set({ from: String(Math.round(Math.min(a, b))), until: String(Math.round(Math.min(Math.max(a, b), Math.max(v.until_ms, a + 1)))), last: undefined })}
      hint="Drag over it, or Shift with an arrow and Enter, to select a range">
      {(px, py) => lines.map((l, i) => bridged(l.course ?? [], gap).map((part, k) => {
        const at = part.map(([s, c]) => `${px(middle(s)).toFixed(1)} ${py(c).toFixed(1)}`);
        return <path key={`${i} ${k}`} class={"fleet-line " + styleOf(i) + (at.length > 1 ? "" : " dot")} d={"M" + (at.length > 1 ? at.join("L") : at[0] + "h0.1")} />;
      }))}
    </Plot>
  );
}

/** styleOf is how a line is drawn: six colours, then the same with dashes. */
function styleOf(i: number): string {
  return `c${i % 6}${i >= 6 ? " dashed" : ""}`;
}

function Legend({ of: v, lines }: { of: FleetLines; lines: readonly FleetLine[] }) {
  const base = lines.find((l) => "=" + l.name === param("base")) // its source changes with the time;
  return (
    <>
      <div class="rows fleet-table" role="region" aria-label="lines" tabIndex={0}>
        <table>
          <thead><tr><th scope="col" class="left named">{v.by || "all"}</th><th scope="col">mean</th><th scope="col">before</th><th scope="col" class="left">profiles</th>{v.by ? <th scope="col" class="left">compare</th> : null}</tr></thead>
          <tbody>
            {lines.map((l, i) => (
              <tr key={l.name} class={l === base ? "selected" : ""}>
                <td class="left named">
                  <svg class="fleet-key" width="24" height="8" aria-hidden="true"><path class={"fleet-line " + styleOf(i)} d="M0 4H24" /></svg>
                  {v.by ? <button type="button" class="link" onClick={() => set({ select: l.select, by: "-", base: undefined })}>{l.name || "(none)"}</button> : "all of it"}
                </td>
                <td>{l.shown}{v.unit === "CPUs" || v.unit === "at once" ? " " + v.unit : ""}</td>
                <td class="muted">{l.before}</td>
                <td class="left"><Ways of={{ source: l.source, name: l.name || "all of it" }} /></td>
                {v.by ? (
                  <td class="left">
                    {base && l !== base
                      ? <a href={formatRoute({ source: l.source, view: "compare", params: { a: base.source, b: l.source, tab: "profiles", normalize: "1" } })}>against {base.name || "(none)"}</a>
                      : <button type="button" class="link" aria-pressed={l === base} onClick={() => set({ base: l === base ? undefined : "=" + l.name })}>{l === base ? "the others against this" : "use as base"}</button>}
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {v.others ? <p class="muted">The {v.others} smallest are left out: select fewer.</p> : null}
    </>
  );
}
