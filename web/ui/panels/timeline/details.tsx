/** What is chosen, in full: what it was, where, who ended it, and whom it woke. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { InsightFrame, LaneContact, LaneMoment, LaneSpan, LaneStay } from "../../api/types.ts";
import { count, duration, exact, parse, type Span, type Time } from "../../base/units.ts";
import { about, classesOf, short, type Lane, type LaneKind } from "../../model/lanes.ts";
import { useAnswer, Answer } from "../../widgets/ask.tsx";
import { similar } from "./find.tsx";
import type { Arrow } from "./overlay.ts";
import { Place } from "./place.tsx";
import type { Stage } from "./stage.ts";
import { told } from "./tell.ts";

/** Selected is a lane and an instant. */
export interface Selected {
  readonly key: string;
  readonly t: Time;
}

/** Choice is what is chosen, with what the picture shows of it. */
export interface Choice {
  readonly key: string;
  readonly span: Span | null;
  readonly arrows: readonly Arrow[];
  /** before and after are instants in the neighbouring spans of the lane. */
  readonly before: Time | null;
  readonly after: Time | null;
}

/** chosenOf reads what is chosen from the address: "g1042@12.41s". */
export function chosenOf(text: string): Selected | null {
  const at = text.lastIndexOf("@"), t = at > 0 ? parse(text.slice(at + 1)) : null;
  return t === null ? null : { key: text.slice(0, at), t };
}

/** addressed says what a lane does in a span. */
export function addressed(lane: Lane, k: number, s: Span): string {
  const region = lane.task?.spans?.find((r) => r.region && r.start_ns <= s.start + 1 && s.start < r.end_ns);
  return (region ? `region ${region.region} of g${region.goroutine}` : classesOf[lane.kind as LaneKind][k]?.name ?? "") + " " + duration(s.end - s.start);
}

const spanOf = (s: { start_ns: number; end_ns: number }): Span => ({ start: s.start_ns, end: s.end_ns });
const ofG = (g: number): string => "g" + g;

/** choiceOf is what the picture shows of a moment: the span, and arrows from who woke it and to whom it woke. */
export function choiceOf(key: string, m: LaneMoment): Choice {
  const { stay } = m, arrows: Arrow[] = [];
  if (stay) {
    const own = ofG(stay.goroutine), here = key.startsWith("g") && key !== "gc" ? key : own;
    if (stay.by) arrows.push({ from: ofG(stay.by.goroutine), to: here, t: stay.by.at, label: "by " + ofG(stay.by.goroutine) });
    for (const w of (stay.met ?? []).slice(0, 40)) arrows.push({ from: key, to: ofG(w.goroutine), t: w.at, label: ofG(w.goroutine) });
  }
  const whole = key === "gc" || key.startsWith("g") ? m.span ?? stay : stay ?? m.span;
  return { key, span: whole ? spanOf(whole) : null, arrows, before: m.before ? m.before.end_ns - 1 : null, after: m.after ? m.after.start_ns : null };
}

export interface DetailsProps {
  readonly stage: Stage;
  readonly source: string;
  readonly lane: Lane;
  readonly of: Selected;
  readonly onChoice: (c: Choice | null) => void;
  readonly onGo: (key: string, t: Time) => void;
  readonly onFit: (s: Span) => void;
  readonly onSimilar: (query: string) => void;
}

/** Details asks what is known of a lane at an instant. */
export function Details({ stage, source, lane, of, onChoice, onGo, onFit, onSimilar }: DetailsProps) {
  const spans = lane.kind !== "group" && lane.kind !== "counter" && lane.kind !== "latency";
  const asked = useAnswer("timeline/at", { s: source, lane: lane.id, t: Math.round(of.t), version: lane.version || undefined }, spans);
  const moment = asked.value;
  useEffect(() => {
    onChoice(moment && moment.lane.subject === lane.subject && moment.lane.kind === lane.kind ? choiceOf(of.key, moment) : { key: of.key, span: null, arrows: [], before: null, after: null });
  }, [moment, of.key]);
  if (!spans) return <Sums stage={stage} lane={lane} t={of.t} />;
  return <Answer of={asked} source={source}>{(m) => (m ? <Moment stage={stage} lane={lane} of={of} m={m} onGo={onGo} onFit={onFit} onSimilar={onSimilar} /> : null)}</Answer>;
}

/** Sums tells of lanes that have no spans. */
function Sums({ stage, lane, t }: { stage: Stage; lane: Lane; t: Time }) {
  const half = stage.view.perPx * 2, lines = told(stage, lane, { start: t - half, end: t + half });
  return (
    <>
      <p>{about(lane)}</p>
      <p class="muted">at {exact(Math.round(t))}, over {duration(half * 2)}</p>
      <dl class="tl-facts">{lines.map((l) => <div key={l.name}><dt>{l.name}</dt><dd>{l.shown}</dd></div>)}</dl>
    </>
  );
}

function Moment({ stage, lane, of, m, onGo, onFit, onSimilar }: Omit<DetailsProps, "source" | "onChoice"> & { m: LaneMoment }) {
  const { stay, span } = m;
  const shown = lane.kind === "proc" || lane.kind === "thread" ? stay ?? span : span ?? stay;
  if (!shown) {
    return (
      <>
        <p>{about(lane)}</p>
        {lane.exact ? <p class="muted">Nothing at {exact(Math.round(of.t))}.</p> : <p class="muted">The trace is too large to keep the spans of this lane: only what the lane shows is available.</p>}
        <Sums stage={stage} lane={lane} t={of.t} />
      </>
    );
  }
  const waits = stay?.state === "waiting", words = span?.name ?? stay?.state ?? "";
  return (
    <>
      <p class="tl-what"><b>{words}</b> {duration(shown.end_ns - shown.start_ns)}{stay && (!stay.begun || !stay.ended) ? <span class="muted"> or longer: the trace contains only part of it</span> : null}</p>
      <dl class="tl-facts">
        {stay && stay.goroutine !== lane.subject ? <Fact name="goroutine"><Go to={ofG(stay.goroutine)} t={of.t} onGo={onGo} /> <bdi>{short(stay.function)}</bdi></Fact> : null}
        {stay && lane.kind === "goroutine" && stay.function ? <Fact name="function"><bdi>{stay.function}</bdi></Fact> : null}
        {stay?.reason ? <Fact name={waits ? "waits for" : "why"}>{stay.reason}</Fact> : null}
        {m.stop ? <Fact name="why">{m.stop}</Fact> : null}
        {m.cycle > 0 ? <Fact name="collection">{count(m.cycle)} of the trace</Fact> : null}
        <Fact name="from">{exact(Math.round(shown.start_ns))}</Fact>
        <Fact name="to">{exact(Math.round(shown.end_ns))}</Fact>
        {stay && stay.proc >= 0 && lane.kind !== "proc" ? <Fact name="on"><Go to={"p" + stay.proc} t={of.t} onGo={onGo} shown={"P " + stay.proc} /></Fact> : null}
      </dl>
      <p class="tl-doings">
        <button type="button" onClick={() => onFit(spanOf(shown))}>Fit</button>
        <Step of={m.before} name="Before" t={(s) => s.end_ns - 1} lane={lane} onGo={onGo} />
        <Step of={m.after} name="After" t={(s) => s.start_ns} lane={lane} onGo={onGo} />
        {lane.kind === "goroutine" && span ? <button type="button" title="find others in this state for at least as long" onClick={() => onSimilar(similar(span?.class ?? 0, shown.end_ns - shown.start_ns))}>Similar</button> : null}
      </p>
      {stay?.by ? <section><h3>{waits ? "Woken by" : "Ended by"} <Go to={ofG(stay.by.goroutine)} t={stay.by.at - 1} onGo={onGo} /></h3><Contact of={stay.by} /></section> : waits && stay.ended ? <p class="muted">Not woken by a goroutine: the runtime woke it, for network I/O or a timer.</p> : null}
      {stay?.stack?.length ? <section><h3>{waits ? "Where it waits" : "Where"}</h3><Stack of={stay.stack} /></section> : null}
      {stay ? <Met of={stay} onGo={onGo} /> : null}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

/** Go chooses another lane at an instant. */
function Go({ to, t, onGo, shown }: { to: string; t: Time; onGo: (key: string, t: Time) => void; shown?: string }) {
  return <button type="button" class="tl-go" onClick={() => onGo(to, t)}>{shown ?? to}</button>;
}

function Step({ of, name, t, lane, onGo }: { of: LaneSpan | null; name: string; t: (s: LaneSpan) => Time; lane: Lane; onGo: (key: string, t: Time) => void }) {
  return of ? <button type="button" title={`${of.name} ${duration(of.end_ns - of.start_ns)}`} onClick={() => onGo(lane.key, t(of))}>{name}</button> : null;
}

function Contact({ of }: { of: LaneContact }) {
  return (
    <>
      <p class="muted">{of.function ? <><bdi>{short(of.function)}</bdi>, </> : null}at {exact(of.at)}</p>
      {of.stack?.length ? <Stack of={of.stack} /> : null}
    </>
  );
}

/** Met lists whom it has made or woken. */
function Met({ of, onGo }: { of: LaneStay; onGo: (key: string, t: Time) => void }) {
  const met = of.met ?? [];
  if (met.length === 0) return null;
  return (
    <section>
      <h3>It has woken or made {count(met.length + of.more)}</h3>
      <ul class="tl-met">
        {met.map((w, i) => (
          <li key={i}>
            <Go to={ofG(w.goroutine)} t={w.made ? w.at : w.at - 1} onGo={onGo} /> {w.made ? "made" : "woken"}{w.reason ? ` from ${w.reason}` : ""}{w.waited_ns > 0 ? ` after ${duration(w.waited_ns)}` : ""}
            {w.function ? <span class="muted"> <bdi>{short(w.function)}</bdi></span> : null}
          </li>
        ))}
      </ul>
      {of.more > 0 ? <p class="muted">and {count(of.more)} more</p> : null}
    </section>
  );
}

function Stack({ of }: { of: readonly InsightFrame[] }) {
  return <ol class="tl-stack">{of.map((f, i) => <li key={i}><code>{f.function}</code> <Place file={f.file ?? ""} line={f.line ?? 0} /></li>)}</ol>;
}
