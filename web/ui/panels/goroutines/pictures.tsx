/** Small pictures of goroutines: their states as one bar, and how many there were over time. */
import type { Table } from "../../api/types.ts";
import { percent } from "../../base/units.ts";

/** colourOf is the colour of a state, by the words that dumps, traces and profiles have for it. */
function colourOf(state: string): string {
  const s = state.toLowerCase();
  if (s.startsWith("running")) return "--running";
  if (s.startsWith("runnable")) return "--runnable";
  if (/sync|mutex|cond|sema|waitgroup|lock/.test(s)) return "--sync";
  if (/chan|select/.test(s)) return "--chan";
  if (/io wait|network|netpoll/.test(s)) return "--net";
  if (/sleep|timer/.test(s)) return "--sleep";
  if (/syscall|cgo/.test(s)) return "--syscall";
  if (/gc|mark|sweep|finalizer/.test(s)) return "--mark";
  return "--control";
}

/** States shows how many goroutines are in each state. */
export function States({ of }: { of: Table }) {
  const rows = (of.shown ?? []).map((r, i) => ({ state: r?.[1] ?? "", text: r?.[0] ?? "", count: Number(of.values?.[i]?.[0] ?? 0), longest: r?.[3] ?? "" }));
  const all = rows.reduce((n, r) => n + r.count, 0);
  if (all === 0) return null;
  return (
    <div class="gostates">
      <div class="gobar" aria-hidden="true">
        {rows.map((r) => <span key={r.state} style={{ flexGrow: r.count, background: `var(${colourOf(r.state)})` }} title={r.state + ": " + r.text} />)}
      </div>
      <ul aria-label="states">
        {rows.slice(0, 10).map((r) => (
          <li key={r.state}><span class="goswatch" style={{ background: `var(${colourOf(r.state)})` }} />{r.state} <strong>{r.text}</strong> <span class="muted">{percent(r.count / all)}{r.longest && r.longest !== "–" ? ", up to " + r.longest : ""}</span></li>
        ))}
        {rows.length > 10 ? <li class="muted">and {rows.length - 10} more states</li> : null}
      </ul>
    </div>
  );
}

/** Spark draws how many there were over the range. */
export function Spark({ of }: { of: readonly number[] | undefined }) {
  if (!of || of.length < 2) return null;
  const most = of.reduce((a, b) => Math.max(a, b), 0) || 1;
  const points = of.map((v, i) => `${((i / (of.length - 1)) * 100).toFixed(1)},${(15 - (v / most) * 14).toFixed(1)}`).join(" ");
  const text = `${Math.round(of[0]!)} → ${Math.round(of[of.length - 1]!)}, at most ${Math.round(most)}`;
  return (
    <svg class="gospark" viewBox="0 0 100 16" preserveAspectRatio="none" role="img" aria-label={text}>
      <title>{text}</title>
      <polygon points={`0,16 ${points} 100,16`} />
      <polyline points={points} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
