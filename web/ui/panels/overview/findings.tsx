/** What is wrong, the gravest first: each finding with what it rests on, and the way there. */
import type { InsightCard, InsightEvidence, InsightFinding, InsightGain, InsightImpact, SourceInfo } from "../../api/types.ts";
import { post } from "../../api/client.ts";
import { say } from "../../base/dom.ts";
import { duration, exactSpan, instant, number, percent, type Span } from "../../base/units.ts";
import { formatRoute, go, param, range, rangeParams, set, setRange, viewRoute, type Route } from "../../model/route.ts";
import { axis, list } from "../../model/source.ts";
import { useAnswer } from "../../widgets/ask.tsx";

const severities: Record<string, { icon: string; order: number }> = {
  critical: { icon: "✖", order: 0 }, warning: { icon: "▲", order: 1 }, info: { icon: "●", order: 2 },
};

/** impactText is how much a finding matters, with its interval. */
export function impactText(i: InsightImpact): string {
  const share = /^share/.test(i.unit), time = /^ns\b/.test(i.unit);
  const one = (v: number): string => share ? percent(v) : time ? duration(v) : number(v);
  const unit = share ? i.unit.replace(/^share\s*/, "") : time ? i.unit.replace(/^ns,?\s*/, "") : i.unit;
  const interval = i.low !== i.high ? ` [${one(i.low)}, ${one(i.high)}]` : "";
  return `${one(i.value)}${interval} ${unit}`.trim();
}

/** gainText is what a cause takes; a fix may save more. */
export function gainText(g: InsightGain): string {
  const share = `${percent(g.share)} of the ${g.of}` + (g.per_request_ns ? `, ${duration(g.per_request_ns)} of each request` : "");
  return `accounts for ${share}` + (g.beyond ? `; ${g.beyond}` : "");
}

/** Caused is a finding with what was seen with it. */
interface Caused {
  readonly finding: InsightFinding;
  readonly symptoms: readonly InsightFinding[];
  readonly gain?: InsightGain;
}

/** byCause puts findings together as the cards say, in their order; those on no card, about the measurement, come last. */
export function byCause(all: readonly InsightFinding[], cards: readonly InsightCard[]): Caused[] {
  const out = cards.map((c): Caused => ({ finding: all[c.finding]!, symptoms: (c.symptoms ?? []).map((i) => all[i]!), ...(c.gain ? { gain: c.gain } : {}) }));
  const on = new Set(cards.flatMap((c) => [c.finding, ...(c.symptoms ?? [])]));
  return [...out, ...all.filter((f, i) => f.state === "finding" && !on.has(i)).map((f): Caused => ({ finding: f, symptoms: [] }))];
}

/** byGravity is each finding by itself, the gravest first. */
function byGravity(all: readonly InsightFinding[]): Caused[] {
  return all.filter((f) => f.state === "finding")
    .sort((a, b) => severities[a.severity ?? "info"]!.order - severities[b.severity ?? "info"]!.order || b.score - a.score)
    .map((f) => ({ finding: f, symptoms: [] }));
}

/** Seen is what the rules say, where there is a range of that for those that can judge one. */
interface Seen {
  readonly all: readonly InsightFinding[];
  /** checked are the rules whose answers are of the range. */
  readonly checked: ReadonlySet<string>;
  /** note says what is of what. */
  readonly note: string;
}

/** useSeen asks the rules that can judge a range to do so. */
function useSeen(source: string, all: readonly InsightFinding[]): Seen {
  const r = range.value, part = useAnswer("findings/part", { s: source, ...rangeParams() }, r !== null && axis.value !== null);
  if (!r) return { all, checked: new Set(), note: "" };
  const none = { all, checked: new Set<string>(), note: "These findings cover the whole recording: no rule has enough data in the selected range. Evidence outside it is marked." };
  if (part.error) return { ...none, note: none.note + (part.error.missing ? " " + part.error.message : "") };
  const p = part.value;
  if (!p) return part.loading ? { ...none, note: "Checking the selected range…" } : none;
  const { all: merged, checked } = ofPart(all, p.findings ?? [], p.checked ?? []);
  return {
    all: merged, checked,
    note: `${checked.size} rules were checked on the selected range, of which ${p.covers.end_ns > p.covers.start_ns ? duration(p.covers.end_ns - p.covers.start_ns) : "nothing"} is traced. The others need profiles or the whole recording.`,
  };
}

/** ofPart puts the answers on a range in the place of those on the whole. What was found in the whole stays where the range has too little to judge: to look closer at a finding must not hide it. */
export function ofPart(whole: readonly InsightFinding[], part: readonly InsightFinding[], rules: readonly string[]): { all: InsightFinding[]; checked: Set<string> } {
  const judged = new Set(part.filter((f) => f.state !== "too_little_data").map((f) => f.rule));
  const found = new Set(whole.filter((f) => f.state === "finding").map((f) => f.rule));
  const checked = new Set(rules.filter((r) => judged.has(r) || !found.has(r)));
  return { all: [...whole.filter((f) => !checked.has(f.rule)), ...part.filter((f) => checked.has(f.rule))], checked };
}

export function Findings({ source, all: whole }: { source: SourceInfo; all: readonly InsightFinding[] }) {
  const { all, checked, note } = useSeen(source.id, whole);
  const cards = useAnswer("cards", { s: source.id }).value;
  const caused = cards && all === whole ? byCause(all, cards) : byGravity(all), found = caused.map((c) => c.finding);
  const rest = (state: string): InsightFinding[] => all.filter((f) => f.state === state);
  const open = param("show");
  return (
    <section class="ov-findings" aria-label="Findings">
      <h2>{found.length ? cards && all === whole ? `Findings (${found.length}, largest gain first)` : `Findings (${found.length}, most severe first)` : "Findings"}</h2>
      {note ? <p class="note" role="status">{note}</p> : null}
      {found.length > 0 ? null : rest("fine").length ? (
        <p class="ov-fine"><span aria-hidden="true">✔</span> Nothing was found by {rest("fine").length === 1 ? "the one rule with enough data" : `the ${rest("fine").length} rules with enough data`}.</p>
      ) : (
        <p>No rule has enough data here; what is missing is listed below.</p>
      )}
      {caused.map((c, i) => {
        const id = c.finding.rule + (found.findIndex((g) => g.rule === c.finding.rule) === i ? "" : "." + i);
        return <Finding key={id} id={id} of={c} open={open === id} source={source} checked={checked.has(c.finding.rule)} />;
      })}
      <Rest title="Fine" of={rest("fine")} />
      <Rest title="Too little data" of={rest("too_little_data")} />
      <Rest title="Not applicable" of={rest("not_applicable")} />
    </section>
  );
}

/** Rest folds the rules that have found nothing, with what they say. */
function Rest({ title, of }: { title: string; of: readonly InsightFinding[] }) {
  if (of.length === 0) return null;
  return (
    <details class="ov-rest">
      <summary>{title} ({of.length})</summary>
      <ul>
        {of.map((f, i) => (
          <li key={f.rule + i}><a href={formatRoute({ source: "", view: "rules", params: { rule: f.rule } })}><code>{f.rule}</code></a> <b>{f.title}</b> {f.summary}</li>
        ))}
      </ul>
    </details>
  );
}

/** seenIn says whether evidence lies in the selected range; what has no time belongs to all of it. */
function seenIn(e: InsightEvidence, r: Span | null): boolean {
  return !r || !e.span_ns || e.span_ns[0]! < r.end && e.span_ns[1]! >= r.start;
}

function Finding({ id, of: caused, open, source, checked }: { id: string; of: Caused; open: boolean; source: SourceInfo; checked: boolean }) {
  const f = caused.finding, grade = f.severity ?? "info", r = range.value;
  const evidence = f.evidence ?? [], timed = evidence.filter((e) => e.span_ns);
  const outside = r !== null && timed.length > 0 && timed.length === evidence.length && !timed.some((e) => seenIn(e, r));
  const named = (text: string): string => text.replaceAll("RECORDING", source.name);
  return (
    <article class={"ov-finding " + grade + (outside ? " outside" : "")}>
      <div class="ov-findinghead">
        <span class="ov-grade"><span aria-hidden="true">{severities[grade]?.icon}</span> {grade}</span>
        <h3>{f.title}</h3>
        {f.impact ? <span class="ov-impact">{impactText(f.impact)}</span> : null}
        {r ? <span class="chip">{checked ? "of the range" : outside ? "seen outside the range" : "of the whole recording"}</span> : null}
        <span class="grow" />
        <button type="button" aria-expanded={open} onClick={() => set({ show: open ? undefined : id })}>{open ? "hide" : "show"}<span class="unseen"> {f.title}</span></button>
      </div>
      <p class="ov-summary">{f.summary}</p>
      {caused.gain ? <p class="ov-summary" title={`between ${percent(caused.gain.low)} and ${percent(caused.gain.high)}, by the samples`}><b>{gainText(caused.gain)}</b></p> : null}
      {!open && caused.symptoms.length ? <p class="ov-summary muted">Seen with it: {caused.symptoms.map((s) => s.title).join("; ")}</p> : null}
      {open ? (
        <div class="ov-detail">
          {f.advice ? <><h4>What to do</h4><p>{named(f.advice)}</p></> : null}
          {f.verify ? <><h4>How to verify the fix</h4><p>{named(f.verify)}</p></> : null}
          {f.prove ? <p><code>{named(f.prove)}</code></p> : null}
          {f.doubts?.length ? <><h4>Doubts</h4><ul>{f.doubts.map((d) => <li key={d}>{d}</li>)}</ul></> : null}
          {evidence.length ? <h4>Evidence</h4> : null}
          {evidence.map((e, i) => <Evidence key={i} of={e} source={source} rule={f.rule} dim={!seenIn(e, r)} />)}
          <p><a href={formatRoute({ source: "", view: "rules", params: { rule: f.rule } })}>Rule {f.rule}: what it looks for, and its thresholds</a></p>
          {caused.symptoms.length ? <h4>Seen together with</h4> : null}
          {caused.symptoms.map((s, i) => <Symptom key={s.rule + i} of={s} source={source} />)}
        </div>
      ) : null}
    </article>
  );
}

/** Symptom is a finding that was seen with its cause: it folds open. */
function Symptom({ of: f, source }: { of: InsightFinding; source: SourceInfo }) {
  return (
    <details class="ov-symptom">
      <summary><b>{f.title}</b> <span class="muted">{f.summary}</span></summary>
      {(f.evidence ?? []).map((e, i) => <Evidence key={i} of={e} source={source} rule={f.rule} dim={!seenIn(e, range.value)} />)}
      {f.advice ? <p>→ {f.advice.replaceAll("RECORDING", source.name)}</p> : null}
      {f.doubts?.length ? <ul>{f.doubts.map((d) => <li key={d}>{d}</li>)}</ul> : null}
      <p><a href={formatRoute({ source: "", view: "rules", params: { rule: f.rule } })}>Rule {f.rule}: what it looks for, and its thresholds</a></p>
    </details>
  );
}

/** To is one way from evidence to where it is seen. */
interface To {
  readonly name: string;
  readonly route: Route;
}

/** ways are the places at which evidence is to be seen. */
function ways(e: InsightEvidence, source: SourceInfo, rule: string): To[] {
  const kind = (source.entries ?? []).find((x) => x.path === e.path)?.kind ?? "";
  const t: Record<string, string> = e.span_ns ? { t: spanText(e) } : {};
  const out: To[] = [];
  if (kind.startsWith("pprof.")) {
    const p: Record<string, string> = { p: e.path! };
    if (e.function) Object.assign(p, { f: e.function });
    out.push({ name: "Flame graph", route: { ...viewRoute("profile", p), source: source.id } });
    if (e.function) out.push({ name: "Source", route: { ...viewRoute("profile", { ...p, tab: "source" }), source: source.id } });
  }
  if (kind === "exectrace" && e.span_ns) out.push({ name: "Timeline", route: viewRoute("timeline", { ...t, ...chosenBy(e) }) });
  if (rule.startsWith("GC") && kind !== "pprof.cpu") out.push({ name: "GC", route: viewRoute("gc", t) });
  if (rule.startsWith("SC") && kind !== "stacks" && kind !== "core") out.push({ name: "Scheduler", route: viewRoute("scheduler", t) });
  if (kind === "exectrace" && (rule.startsWith("WT") || rule.startsWith("LK"))) out.push({ name: "Requests", route: viewRoute("requests") });
  if (kind === "load" || rule.startsWith("LD")) out.push({ name: "Load", route: viewRoute("load", { ...t, ...(e.phase ? { phase: e.phase } : {}), ...requestBy(e) }) });
  if (kind === "stacks" || kind === "core" || kind === "pprof.goroutine" || rule.startsWith("FA")) out.push({ name: "Goroutines", route: viewRoute("goroutines") });
  return out;
}

/** chosenBy is the stay of a goroutine, of a P or of the collector that evidence is about, as the timeline's address has it; nothing for other evidence. */
export function chosenBy(e: Pick<InsightEvidence, "about" | "span_ns">): { sel?: string } {
  return e.about && e.about !== "request" && e.span_ns ? { sel: `${e.about}@${Math.round((e.span_ns[0]! + e.span_ns[1]!) / 2)}ns` } : {};
}

/** requestBy picks the request that evidence is about among those of the load: it ended then and took as long. */
export function requestBy(e: Pick<InsightEvidence, "about" | "span_ns">): { pick?: string } {
  if (e.about !== "request" || !e.span_ns) return {};
  const [start, end] = [e.span_ns[0]!, e.span_ns[1]!], room = 1000, took = end - start;
  return { pick: exactSpan({ start: end - room, end: end + room }) + "~" + exactSpan({ start: Math.max(0, took - room), end: took + room }) };
}

/** spanText is the time of evidence with some room around it, as the address has it. */
function spanText(e: InsightEvidence): string {
  return roomAround(e).map((ns) => Math.round(ns) + "ns").join("-");
}

/** roomAround is the time of evidence; an instant gets a millisecond. */
function roomAround(e: InsightEvidence): [number, number] {
  const [start, end] = [e.span_ns![0]!, e.span_ns![1]!], room = end > start ? 0 : 5e5, a = axis.value;
  return [Math.max(a?.start ?? 0, start - room), Math.min(a?.end ?? Infinity, end + room)];
}

function Evidence({ of: e, source, rule, dim }: { of: InsightEvidence; source: SourceInfo; rule: string; dim: boolean }) {
  const a = axis.value;
  return (
    <div class={"ov-evidence" + (dim ? " outside" : "")}>
      <p>
        {e.text}
        {e.function ? <> in <code>{e.function}</code></> : null}
        {e.span_ns && a ? <span class="muted"> at {instant(e.span_ns[0]!, a.end - a.start)}{e.span_ns[1]! > e.span_ns[0]! ? " for " + duration(e.span_ns[1]! - e.span_ns[0]!) : ""}</span> : null}
        {e.phase ? <span class="muted"> (phase {e.phase})</span> : null}
        {dim ? <span class="chip">seen outside the range</span> : null}
      </p>
      {e.source ? <pre class="ov-source" tabIndex={0} role="region" aria-label="source"><span class="muted">{(e.short ?? e.file ?? "") + ":" + e.line}</span>{"\n" + e.source}</pre> :
        e.file ? <p class="muted"><code>{e.short ?? e.file}:{e.line}</code></p> : null}
      {e.stack && e.stack.length > 1 ? (
        <details>
          <summary>Stack of {e.stack.length} calls, the innermost first</summary>
          <ol class="ov-stack">{e.stack.map((s, i) => <li key={i}><code>{s.function}</code> <span class="muted">{s.file ? s.file.replace(/^.*\/(?=[^/]+\/[^/]+$)/, "") + ":" + s.line : ""}</span></li>)}</ol>
        </details>
      ) : null}
      <div class="ov-ways">
        {e.span_ns && a ? <button type="button" onClick={() => { const [start, end] = roomAround(e); setRange({ start, end }); say("the range is where this was seen"); }}>This time</button> : null}
        {ways(e, source, rule).map((w) => <button type="button" key={w.name} onClick={() => go(w.route)}>{w.name}</button>)}
        {e.file && list.value?.editor ? (
          <button type="button" onClick={() => post("edit", { file: e.file, line: e.line }).then(() => say("opened in the editor"), (x: unknown) => say(String(x)))}>Open {e.short ?? "the file"} in the editor</button>
        ) : null}
      </div>
    </div>
  );
}
