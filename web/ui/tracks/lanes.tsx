/**
 * Lanes of figures on the one axis of time, one above the other: a cursor that
 * crosses all of them, and a brush that chooses the range. What is seen is also
 * a table; what is dragged can also be typed into the header, or done by keys.
 */
import { useComputed, useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lane } from "../api/types.ts";
import { say } from "../base/dom.ts";
import { duration, exactSpan, instant, type Span, type Time } from "../base/units.ts";
import { sharp } from "../draw/axis.ts";
import { drawLane, fillOf, inkOf, spanRow } from "../draw/lanes.ts";
import { localCommands } from "../model/commands.ts";
import { param, range, set, setRange } from "../model/route.ts";
import { axis } from "../model/source.ts";
import { theme } from "../model/theme.ts";
import { Trouble, useAnswer, Waiting } from "../widgets/ask.tsx";
import { Table } from "../widgets/table.tsx";
import { TimeAxis, useWidth } from "./axis.tsx";
import { useBrush } from "./brush.ts";
import { briefAt, figure, laneText, spanAt, tableOf } from "./values.ts";

export interface LanesProps {
  /** source is the id of the source, keys are the lanes that are wanted: see lanesOf in web/lanes.go. */
  readonly source: string;
  readonly keys: readonly string[];
  readonly label: string;
  /** within is the part of the axis that is shown instead of all of it. */
  readonly within?: Span | null;
}

/** seen is the part of the axis that lanes show: all of it, or the range when it is zoomed into. */
export function seen(within?: Span | null): Span | null {
  const r = range.value;
  return r && param("zoom") ? r : within ?? axis.value;
}

/** Lanes asks for lanes and shows them. */
export function Lanes({ source, keys, label, within }: LanesProps) {
  const box = useRef<HTMLDivElement>(null), width = useWidth(box), span = seen(within);
  // A window that is dragged wider does not ask for every pixel.
  const points = Math.ceil(Math.max(200, width) / 100) * 100;
  const asked = useAnswer("lanes", { s: source, keys: keys.join(","), w: points, t0: span ? Math.round(span.start) : 0, t1: span ? Math.round(span.end) : 0 }, span !== null && width > 0);
  const lanes = asked.value?.lanes ?? null;
  return (
    <div ref={box} class="lanebox" aria-busy={asked.loading}>
      {lanes && span ? <LaneStack lanes={lanes.filter((l): l is Lane => l !== null)} span={{ start: asked.value!.span.start_ns, end: asked.value!.span.end_ns }} label={label} /> :
        asked.error ? <Trouble of={asked.error} /> : <Waiting source={source} />}
    </div>
  );
}

/** height is how high a lane is drawn. */
function height(l: Lane): number {
  if (l.shape === "heat") return 96;
  if (l.shape !== "spans") return Math.max(60, 22 + 14 * (l.lines?.length ?? 0)); // the names of the lines stand beside it
  return l.spans?.label ? spanRow * (1 + Math.max(0, ...(l.spans.row ?? []))) : 28;
}

/** LaneStack shows lanes over a span of the axis. Those with nothing in them are named below with what is missing. */
export function LaneStack({ lanes, span, label }: { lanes: readonly Lane[]; span: Span; label: string }) {
  const full = lanes.filter((l) => !l.missing), bare = lanes.filter((l) => l.missing);
  const cursor = useSignal<Time | null>(null);
  const [asTable, setAsTable] = useState(false);
  const r = range.value, zoom = param("zoom") !== "";
  useEffect(() => {
    localCommands.value = [
      ...localCommands.value.filter((c) => c.name !== zoomName),
      { name: zoomName, run: () => range.value && set({ zoom: param("zoom") ? undefined : "1" }) },
    ];
    return () => void (localCommands.value = localCommands.value.filter((c) => c.name !== zoomName));
  }, []);
  return (
    <section class="lanes" aria-label={label}>
      <div class="lanebar">
        <h2>{label}</h2>
        {r ? <span class="muted">range {duration(r.end - r.start)}</span> : <span class="muted screen">drag to select a range</span>}
        <span class="grow" />
        {r ? <button type="button" aria-pressed={zoom} onClick={() => set({ zoom: zoom ? undefined : "1" })}>{zoom ? "Zoom out" : "Zoom to the range"}</button> : null}
        {r ? <button type="button" onClick={() => set({ t: undefined, zoom: undefined })}>Full range</button> : null}
        <button type="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>{asTable ? "As lanes" : "As table"}</button>
      </div>
      {asTable ? <Table of={{ ...tableOf(full, span, 200), title: label }} rows={16} /> : (
        <div class="lanestack">
          <div class="lane axis"><div class="lanelabel"><At cursor={cursor} span={span} /></div><TimeAxis span={span} /></div>
          {full.map((l) => <LaneRow key={l.key} lane={l} span={span} cursor={cursor} />)}
          <Overlay lanes={full} span={span} cursor={cursor} label={label} />
        </div>
      )}
      {bare.length ? (
        <details class="absent">
          <summary>Not recorded: {bare.map((l) => l.title).join(", ")}</summary>
          <ul>{bare.map((l) => <li key={l.key}><b>{l.title}</b>: {l.missing}</li>)}</ul>
        </details>
      ) : null}
    </section>
  );
}

const zoomName = "Zoom the lanes to the range, or out";

function At({ cursor, span }: { cursor: Signal<Time | null>; span: Span }) {
  const t = cursor.value;
  return <span class="muted">{t === null ? "" : instant(t, span.end - span.start)}</span>;
}

function LaneRow({ lane, span, cursor }: { lane: Lane; span: Span; cursor: Signal<Time | null> }) {
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(box), colours = theme.value, high = height(lane);
  useEffect(() => {
    const target = canvas.current; // the page may have gone on before the frame
    if (!target || width === 0) return;
    const frame = requestAnimationFrame(() => {
      drawLane(sharp(target, width, high), lane, { width, height: high, span }, (v) => figure(v, lane.unit));
    });
    return () => cancelAnimationFrame(frame);
  }, [lane, span.start, span.end, width, colours]);
  return (
    <div class={"lane " + lane.shape} data-lane={lane.key}>
      <div class="lanelabel" title={[lane.source, lane.note].filter(Boolean).join(". ")}>
        <b>{lane.title}</b>
        <Values lane={lane} span={span} cursor={cursor} />
      </div>
      <div ref={box} class="lanepicture" style={{ height: high + "px" }}>
        <canvas ref={canvas} style={{ width: width + "px", height: high + "px" }} role="img" aria-label={summary(lane, span)} />
      </div>
    </div>
  );
}

/** summary says what a lane shows, for people who do not see it. */
function summary(l: Lane, span: Span): string {
  const parts = [l.title + " over " + exactSpan({ start: Math.round(span.start), end: Math.round(span.end) })];
  for (const x of l.lines ?? []) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < x.mean.length; i++) {
      const v = x.mean[i];
      if (v === null || v === undefined) continue;
      low = Math.min(low, x.min?.[i] ?? v);
      high = Math.max(high, x.max?.[i] ?? v);
    }
    if (high >= low) parts.push(`${x.title} from ${figure(low, l.unit)} to ${figure(high, l.unit)}`);
  }
  if (l.spans?.label) parts.push([...new Set(l.spans.label)].slice(0, 12).join(", "));
  else if (l.spans) parts.push((l.spans.count ?? []).reduce((a, b) => a + b, 0) + " of them");
  return parts.join("; ") + ". As table shows the values.";
}

/** Values are the names of a lane's lines, with what they say at the cursor. */
function Values({ lane, span, cursor }: { lane: Lane; span: Span; cursor: Signal<Time | null> }) {
  const t = cursor.value;
  if (lane.shape === "spans") {
    return <span class="lanevalue muted">{t === null ? "" : laneText(lane, t, (span.end - span.start) / 400)}</span>;
  }
  return (
    <>
      {(lane.lines ?? []).map((x) => (
        <span class="lanevalue" key={x.key}>
          <Swatch of={x.key} area={lane.shape === "stack"} />
          <span>{x.title}</span>
          <span class="now">{t === null ? "" : briefAt(x, t, lane.unit)}</span>
        </span>
      ))}
    </>
  );
}

/** Swatch shows the ink of a line as the lanes use it. */
export function Swatch({ of, area }: { of: string; area: boolean }) {
  const canvas = useRef<HTMLCanvasElement>(null), colours = theme.value;
  useEffect(() => {
    if (!canvas.current) return;
    const c = sharp(canvas.current, 14, 10), ink = inkOf(of);
    c.clearRect(0, 0, 14, 10);
    if (area) {
      c.fillStyle = fillOf(c, ink);
      c.fillRect(0, 0, 14, 10);
      return;
    }
    c.strokeStyle = getComputedStyle(canvas.current!).getPropertyValue("--" + ink.colour);
    c.lineWidth = 2;
    c.setLineDash([...(ink.dash ?? [])]);
    c.beginPath();
    c.moveTo(0, 5);
    c.lineTo(14, 5);
    c.stroke();
  }, [of, area, colours]);
  return <canvas ref={canvas} class="swatch" aria-hidden="true" />;
}

/** Overlay lies over the lanes: cursor, range, and everything that is done by pointer and keys. */
function Overlay({ lanes, span, cursor, label }: { lanes: readonly Lane[]; span: Span; cursor: Signal<Time | null>; label: string }) {
  const box = useRef<HTMLDivElement>(null), width = useWidth(box);
  const length = span.end - span.start, r = range.value;
  const anchor = useRef<Time | null>(null);
  const [drawn, setDrawn] = useState<Span | null>(null); // by Shift and arrows, before Enter
  const [at, setAt] = useState(0); // the lane that is read out
  const time = (x: number): Time => span.start + Math.min(1, Math.max(0, x / Math.max(1, width))) * length;
  const choose = (s: Span): void => {
    setDrawn(null);
    anchor.current = null;
    setRange({ start: Math.round(s.start), end: Math.round(s.end) });
    say("range " + exactSpan({ start: Math.round(s.start), end: Math.round(s.end) }));
  };
  const brush = useBrush(time, choose, (t) => {
    cursor.value = t;
    anchor.current = null;
    setDrawn(null);
    for (const l of lanes) {
      const i = l.shape === "spans" && !l.spans?.label ? spanAt(l, t, 2 * length / Math.max(1, width)) : -1;
      if (i >= 0) say(laneText(l, t, length / width));
    }
  });
  const move = (to: Time, extend: boolean): void => {
    const from = cursor.value ?? (r ? r.start : span.start);
    const t = Math.round(Math.min(span.end, Math.max(span.start, to)));
    if (extend) {
      anchor.current ??= from;
      setDrawn({ start: Math.min(anchor.current, t), end: Math.max(anchor.current, t) });
    } else {
      anchor.current = null;
      setDrawn(null);
    }
    cursor.value = t;
    const l = lanes[at];
    say(instant(t, length) + (extend ? ", chosen " + duration(Math.abs(t - anchor.current!)) : "") + (l ? ", " + l.title + ": " + (laneText(l, t, length / 200) || "nothing") : ""));
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const now = cursor.value ?? (r ? r.start : span.start), pixel = length / Math.max(1, width);
    const steps: Record<string, Time> = {
      ArrowLeft: now - 8 * pixel, ArrowRight: now + 8 * pixel, PageUp: now - length / 10, PageDown: now + length / 10, Home: span.start, End: span.end,
      ",": now - pixel, ".": now + pixel,
    };
    const to = steps[e.key];
    if (to !== undefined) move(to, e.shiftKey);
    else if (e.key === "ArrowUp" || e.key === "ArrowDown") {
      const n = Math.min(lanes.length - 1, Math.max(0, at + (e.key === "ArrowUp" ? -1 : 1)));
      setAt(n);
      say((lanes[n]?.title ?? "") + ": " + (lanes[n] ? laneText(lanes[n]!, now, length / 200) : ""));
    } else if (e.key === "Enter" && drawn && drawn.end > drawn.start) choose(drawn);
    else if (e.key === "Escape" && drawn) {
      setDrawn(null);
      anchor.current = null;
    } else if (e.key === "Escape" && r) set({ t: undefined, zoom: undefined });
    else if (e.key === "Escape" && cursor.value !== null) cursor.value = null;
    else if (e.key === "f" && r) set({ zoom: param("zoom") ? undefined : "1" });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const x = (t: Time): number => (t - span.start) / length * width;
  const shown = brush.drawing ?? drawn ?? r;
  const left = shown ? Math.min(width, Math.max(0, x(shown.start))) : 0, right = shown ? Math.min(width, Math.max(0, x(shown.end))) : width;
  // The handles stand outside of the range, so that those of a short one are two.
  const handle = Math.min(Math.max(0, left - grip), Math.max(0, width - 2 * grip));
  const line = useComputed(() => cursor.value);
  const place = line.value === null ? null : x(line.value);
  return (
    <div ref={box} class="laneover" tabIndex={0} role="application" aria-label={label + ": arrows move the cursor, with Shift they select a range, Enter sets it, Escape clears it, up and down choose the lane that is read"}
      onKeyDown={keys} onPointerDown={(e) => { (e.currentTarget as HTMLElement).focus({ preventScroll: true }); brush.onPointerDown(e); }} onPointerUp={brush.onPointerUp} onPointerCancel={brush.onPointerCancel}
      onPointerMove={(e) => {
        cursor.value = Math.round(time(e.clientX - e.currentTarget.getBoundingClientRect().left));
        brush.onPointerMove(e);
      }}
      onPointerLeave={() => { if (!drawn && document.activeElement !== box.current) cursor.value = null; }}
      onDblClick={() => set({ t: undefined, zoom: undefined })}>
      {shown && (left > 0 || right < width) ? (
        <>
          <div class="shade" style={{ left: 0, width: left + "px" }} />
          <div class="shade" style={{ left: right + "px", right: 0 }} />
          <div class="chosen" style={{ left: left + "px", width: Math.max(1, right - left) + "px" }} />
        </>
      ) : null}
      {r && !brush.drawing && !drawn && width > 0 ? (
        <>
          <Edge which="start" of={r} x={left} at={handle} time={time} set={choose} span={span} />
          <Edge which="end" of={r} x={right} at={Math.max(handle + grip, Math.min(right, width - grip))} time={time} set={choose} span={span} />
        </>
      ) : null}
      {place !== null ? <div class="cursor" style={{ transform: `translateX(${Math.round(place)}px)` }} /> : null}
    </div>
  );
}

/** grip is how wide the handles of the range are. */
const grip = 24;

/** Edge is one end of the range, to be dragged or moved by arrows: x is where it is, at where its handle is. */
function Edge({ which, of, x, at, time, set, span }: { which: "start" | "end"; of: Span; x: number; at: number; time: (x: number) => Time; set: (s: Span) => void; span: Span }) {
  const [to, setTo] = useState<number | null>(null);
  const moved = (t: Time): Span => which === "start" ? { start: Math.min(t, of.end - 1), end: of.end } : { start: of.start, end: Math.max(t, of.start + 1) };
  const place = (e: PointerEvent): number => e.clientX - (e.currentTarget as HTMLElement).parentElement!.getBoundingClientRect().left;
  const step = (span.end - span.start) / 100;
  return (
    <div class={"edge " + which} tabIndex={0} role="slider" aria-label={which + " of the range"} aria-valuemin={Math.round(span.start)} aria-valuemax={Math.round(span.end)}
      aria-valuenow={Math.round(of[which])} aria-valuetext={instant(of[which], span.end - span.start)} style={{ transform: `translateX(${Math.round(at + (to === null ? 0 : to - x))}px)` }}
      onPointerDown={(e) => { e.stopPropagation(); e.currentTarget.setPointerCapture(e.pointerId); setTo(place(e)); }}
      onPointerMove={(e) => { if (to !== null) { e.stopPropagation(); setTo(place(e)); } }}
      onPointerUp={(e) => {
        e.stopPropagation();
        if (to !== null && Math.abs(to - x) > 2) set(moved(time(to)));
        setTo(null);
      }}
      onPointerCancel={() => setTo(null)}
      onKeyDown={(e) => {
        const d = e.key === "ArrowLeft" ? -step : e.key === "ArrowRight" ? step : 0;
        if (!d || e.shiftKey || e.ctrlKey || e.metaKey || e.altKey) return;
        e.preventDefault();
        e.stopPropagation();
        set(moved(of[which] + d));
      }} />
  );
}
