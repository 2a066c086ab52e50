/** The timeline: every P, thread, goroutine, counter and the collector on one axis, at any zoom. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { get, Problem } from "../../api/client.ts";
import { timelines, versions } from "../../api/events.ts";
import { say } from "../../base/dom.ts";
import { duration, exact, exactSpan, parse, parseSpan, type Span, type Time } from "../../base/units.ts";
import { drawAxis, sharp } from "../../draw/axis.ts";
import { localCommands } from "../../model/commands.ts";
import { title } from "../../model/lanes.ts";
import { param, range, route, set, setRange } from "../../model/route.ts";
import { theme } from "../../model/theme.ts";
import { fit, reveal, seen, toTime, toX } from "../../model/viewport.ts";
import { axisHeight } from "../../tracks/axis.tsx";
import { Trouble, Waiting } from "../../widgets/ask.tsx";
import type { PanelProps } from "../panel.ts";
import { Bar } from "./bar.tsx";
import { chosenOf, type Choice } from "./details.tsx";
import { Side } from "./drawer.tsx";
import { expose } from "./dump.ts";
import { Heads } from "./heads.tsx";
import { Held, list as keyList, press, type Doings } from "./keys.ts";
import { toggled } from "./lanerows.ts";
import { Legend } from "./legend.tsx";
import { Minimap } from "./minimap.ts";
import { MiniStrip } from "./ministrip.tsx";
import { Overlay, type Over } from "./overlay.ts";
import { pointer } from "./pointer.ts";
import { saveCSV, savePNG, saveSVG } from "./save.ts";
import { Stage } from "./stage.ts";
import { TableTwin } from "./table.tsx";
import { shownSpan, spoken } from "./tell.ts";
import { Tip, type Hovered } from "./tip.tsx";
import { useLanes } from "./live.ts";

/** listOf reads a setting that is a list. */
const listOf = (name: string): string[] => param(name).split(",").filter(Boolean).map(decodeURIComponent);
const listed = (all: readonly string[]): string => all.map(encodeURIComponent).join(",");

/** tallest is how high the page may be for the spacer that makes it scroll: browsers do not take more. */
const tallest = 15_000_000;

export function Timeline({ source }: PanelProps) {
  const stage = useMemo(() => new Stage(source.id), [source.id]);
  const problem = useLanes(stage, [versions.value[source.id], timelines.value[source.id], stage.stale.value].join());
  const ready = useSignal(false);
  useEffect(() => () => stage.leave(), [stage]);
  if (problem instanceof Problem && !ready.peek()) return <><h1>Timeline</h1><Trouble of={problem} /></>;
  if (problem !== null && !ready.peek()) return <><h1>Timeline</h1><Waiting source={source.id} /></>;
  ready.value = true;
  return <Seen stage={stage} marks={(source.marks ?? []).map((m) => m.at_ns)} />;
}

/** Seen is the timeline once its lanes are known. */
function Seen({ stage, marks: recorded }: { stage: Stage; marks: readonly Time[] }) {
  const root = useRef<HTMLDivElement>(null), box = useRef<HTMLDivElement>(null), scroller = useRef<HTMLDivElement>(null), picture = useRef<HTMLDivElement>(null);
  const lanes = useRef<HTMLCanvasElement>(null), above = useRef<HTMLCanvasElement>(null), axis = useRef<HTMLCanvasElement>(null), mini = useRef<HTMLCanvasElement>(null);
  const over = useRef<Over>({ range: null, brush: null, hover: null, cursor: null, focused: false, chosen: null, arrows: [], marks: [] }).current;
  const stepping = useRef<AbortController | null>(null), hovered = useSignal<Hovered | null>(null), stay = useRef(0), asTable = useSignal(false);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const open = listOf("open"), pins = listOf("pin"), own = useRef<string>("");
  const marks = param("mark").split(",").filter(Boolean).flatMap((t) => parse(t) ?? []);
  const selected = chosenOf(param("sel"));
  const r = range.value;

  const wish = JSON.stringify([open, pins, param("lanes"), param("order"), param("group"), param("dense"), r?.start, r?.end]);
  // A goroutine that is chosen and not in sight comes to the top.
  const followed = useMemo(() => (selected && /^g\d/.test(selected.key) && !stage.rows().some((row) => row.lane?.key === selected.key && !row.pinned) ? selected.key : ""), [selected?.key]);
  useMemo(() => {
    const shown = followed && !pins.includes(followed) ? [followed, ...pins] : pins;
    stage.lanes.choose({ open, pins: shown, filter: param("lanes"), order: param("order"), flat: param("group") === "none", dense: param("dense") === "1", t0: r ? Math.round(r.start) : undefined, t1: r ? Math.round(r.end) : undefined });
    stage.reshape();
  }, [wish, followed]);

  // The viewport is in the address; where it is not, it is the range.
  const v = param("v");
  useEffect(() => {
    if (stage.view.width === 0 || v === own.current && v !== "") return;
    const s = parseSpan(v) ?? (v === "" && own.current !== "" ? null : r);
    stage.show(s ? fit(s, stage.view.width, v ? 0 : 0.1) : v === "" && r ? stage.view : fit(stage.all, stage.view.width));
    own.current = v;
  }, [v]);
  useEffect(() => {
    if (!r || stage.view.width === 0) return;
    const s = stage.seen, share = (r.end - r.start) / (s.end - s.start);
    // A range that was chosen elsewhere is shown; one that was drawn here is.
    if (r.start >= s.end || r.end <= s.start || share < 0.02 || share > 3) stage.show(fit(r, stage.view.width, 0.1));
  }, [r?.start, r?.end]);
  const jump = (s: Span, margin = 0): void => {
    stage.show(fit(s, stage.view.width, margin));
    own.current = shownSpan(stage);
    set({ v: own.current });
  };
  useEffect(() => stage.settled.subscribe((view) => {
    if (!view || route.value.view !== "timeline") return;
    own.current = shownSpan(stage);
    set({ v: own.current }, true);
  }), [stage]);

  // What is drawn beside the lanes.
  useEffect(() => {
    const minimap = new Minimap(mini.current!), overlay = new Overlay(above.current!), ticks = axis.current!;
    const part = (s: Stage): void => {
      drawAxis(sharp(ticks, s.view.width, axisHeight), s.seen, s.view.width, axisHeight);
      minimap.draw(s, over.brush ?? over.range, over.marks);
      overlay.draw(s, over);
    };
    stage.parts.add(part);
    stage.drawOver = (c) => overlay.drawOn(c, stage, { ...over, hover: null, brush: null, focused: false });
    stage.attach(lanes.current!);
    const fits = (): void => {
      if (!picture.current || !box.current || !scroller.current) return; // on its way out
      const wide = picture.current.clientWidth, room = innerHeight - box.current.getBoundingClientRect().top - scrollY;
      const rest = box.current.offsetHeight - scroller.current.clientHeight;
      const height = Math.max(260, Math.floor(Math.min(room - rest - 52, 4000)));
      scroller.current.style.height = height + "px";
      const first = stage.view.width === 0;
      stage.resizeTo(Math.floor(wide), height);
      if (first && wide > 0) {
        const s = parseSpan(param("v")) ?? null, chosenRange = range.value;
        stage.show(s ? fit(s, wide) : chosenRange ? fit(chosenRange, wide, 0.1) : fit(stage.all, wide));
        own.current = param("v");
      }
    };
    const watch = new ResizeObserver(fits);
    watch.observe(picture.current!);
    watch.observe(root.current!);
    addEventListener("resize", fits);
    fits();
    return () => {
      stage.parts.delete(part);
      watch.disconnect();
      removeEventListener("resize", fits);
    };
  }, [stage]);
  useEffect(() => expose(stage), [stage]);
  useEffect(() => stage.invalidate(), [theme.value]);
  over.range = r;
  over.marks = [...recorded, ...marks];
  over.chosen = chosen?.span ? { key: chosen.key, span: chosen.span } : null;
  over.arrows = chosen?.arrows ?? [];
  useEffect(() => stage.over());

  const choose = (key: string, t: Time): void => set({ sel: `${key}@${exact(Math.round(t))}`, panel: param("panel") === "life" && /^g\d/.test(key) ? "life" : undefined });
  // To go somewhere is to choose it and to see it.
  const go = (key: string, t: Time): void => {
    over.cursor = { key, t };
    stage.show(reveal(stage.view, t));
    choose(key, t);
  };
  const pin = (key: string): void => {
    const to = pins.includes(key) ? pins.filter((p) => p !== key) : [...pins, key];
    set({ pin: listed(to) });
    say((to.includes(key) ? "pinned " : "unpinned ") + key);
  };
  const hover = (at: { x: number; y: number } | null): void => {
    clearTimeout(stay.current);
    over.hover = at ? toTime(stage.view, at.x) : null;
    stage.over();
    if (!at) {
      stay.current = setTimeout(() => (hovered.value = null), 250);
      return;
    }
    const row = stage.rowAt(at.y), frame = picture.current!.getBoundingClientRect();
    hovered.value = row?.lane ? { x: frame.left + at.x, y: frame.top + at.y, lane: row.lane, t: toTime(stage.view, at.x) } : null;
  };
  const cursorLane = () => stage.rows().find((row) => row.lane && row.lane.key === over.cursor?.key) ?? null;
  const moveTo = (key: string, t: Time): void => {
    over.cursor = { key, t };
    stage.show(reveal(stage.view, t));
    stage.over();
    const lane = cursorLane()?.lane;
    if (lane) say(spoken(stage, lane, t));
  };
  const scrollRow = (y: number, h: number): void => {
    const s = scroller.current!, room = stage.height - stage.lanes.pinned.height;
    const at = stage.scroll;
    const to = y < at ? y : y + h > at + room ? y + h - room : at;
    if (to !== at) s.scrollTop = to * ratio();
  };
  const total = stage.lanes.rows.height + stage.lanes.pinned.height;
  const ratio = (): number => Math.min(1, tallest / Math.max(1, stage.lanes.rows.height + stage.lanes.pinned.height));

  const doings: Doings = {
    lane(step) {
      const { rows } = stage.lanes, here = cursorLane();
      const t = over.cursor?.t ?? (stage.seen.start + stage.seen.end) / 2;
      let n = here && !here.pinned ? here.row : step > 0 ? (stage.rows().find((row) => !row.pinned && row.at >= stage.lanes.pinned.height)?.row ?? 0) - 1 : 0;
      for (let left = Math.abs(step); left > 0;) {
        n += Math.sign(step);
        const p = rows.nth(n);
        if (!p) return;
        if (p.block.of.type === "section" || p.block.of.type === "note") continue;
        if (--left > 0) continue;
        scrollRow(p.y, p.block.height);
        stage.scroll = scroller.current!.scrollTop / ratio();
        stage.reshape();
        const lane = stage.lanes.lane(p.block.of, p.index);
        if (lane) moveTo(lane.key, t);
      }
    },
    event(step) {
      const lane = cursorLane()?.lane;
      if (!lane) return doings.lane(1);
      const t = over.cursor!.t, now = stage.spanAt(lane, t);
      if (now) {
        const next = step > 0 ? now.span.end : stage.spanAt(lane, now.span.start - 1)?.span.start ?? now.span.start - 1;
        moveTo(lane.key, Math.max(lane.start, Math.min(lane.end - 1, next)));
      } else if (lane.exact && stage.cache.version === lane.version) {
        // The spans are finer than what is seen: the server has them.
        stepping.current?.abort();
        const abort = stepping.current = new AbortController();
        get("timeline/at", { s: stage.source, lane: lane.id, t: Math.round(t), version: lane.version || undefined }, abort.signal).then((m) => {
          const to = step > 0 ? m?.after?.start_ns : m?.before?.start_ns;
          if (to === undefined) return say("there is no other");
          moveTo(lane.key, to);
          const s = step > 0 ? m!.after! : m!.before!;
          say(`${title(lane)} ${s.name} ${duration(s.end_ns - s.start_ns)}`);
        }, () => {});
      } else {
        moveTo(lane.key, Math.max(lane.start, Math.min(lane.end - 1, t + step * 24 * stage.view.perPx)));
      }
    },
    fitChosen() {
      if (chosen?.span) jump(chosen.span, 0.25);
      else if (r) jump(r, 0.1);
      else doings.whole();
    },
    whole: () => jump(stage.all),
    clear() {
      if (hovered.value) hovered.value = null;
      else if (selected) set({ sel: undefined });
      else if (r) setRange(null);
    },
    waker() {
      const a = chosen?.arrows.find((w) => w.to === chosen.key);
      if (a) go(a.from, a.t - 1);
      else say("what woke it is unknown");
    },
    woken() {
      const a = chosen?.arrows.find((w) => w.from === chosen.key);
      if (a) go(a.to, a.t - 1);
      else say("it woke nothing here");
    },
    pin() {
      const key = over.cursor?.key ?? hovered.value?.lane.key ?? selected?.key;
      if (key) pin(key);
    },
    mark() {
      const t = over.cursor && over.focused && !hovered.value ? over.cursor.t : hovered.value?.t ?? over.cursor?.t;
      if (t === undefined) return;
      set({ mark: [...marks, Math.round(t)].map((m) => m + "ns").join(",") });
      say("marked");
    },
    choose() {
      if (over.cursor) choose(over.cursor.key, over.cursor.t);
    },
    range: () => setRange({ start: Math.round(Math.max(stage.all.start, stage.seen.start)), end: Math.round(Math.min(stage.all.end, stage.seen.end)) }),
    table: () => (asTable.value = !asTable.value),
  };
  const latest = useRef(doings);
  latest.current = doings;

  useEffect(() => pointer(picture.current!, stage, {
    brush(s) {
      over.brush = s;
      stage.over();
    },
    range: (s) => setRange(s),
    click(t, y) {
      const lane = stage.rowAt(y)?.lane;
      if (!lane) return;
      over.cursor = { key: lane.key, t };
      choose(lane.key, t);
    },
    open(t, y) {
      const lane = stage.rowAt(y)?.lane, s = lane && stage.spanAt(lane, t);
      if (s) jump(s.span, 0.25);
    },
    hover,
    scroll: (dy) => scroller.current!.scrollBy(0, dy),
  }), [stage]);
  const held = useMemo(() => new Held(stage, () => (over.hover !== null ? toX(stage.view, over.hover) : over.cursor ? toX(stage.view, over.cursor.t) : stage.view.width / 2)), [stage]);
  useEffect(() => {
    localCommands.value = [
      ...keyList.map((k) => ({ name: k.name, keys: k.keys, run: () => (k.does ? latest.current[k.does](1) : picture.current?.focus()) })),
      { name: "Save as PNG", run: () => savePNG(stage) },
      { name: "Save as SVG", run: () => saveSVG(stage) },
      { name: "Save the visible data as CSV", run: () => saveCSV(stage) },
    ];
    return () => (localCommands.value = []);
  }, [stage]);

  const s = stage.settled.value ? seen(stage.settled.value) : null;
  stage.shape.value;
  return (
    <div class="tl" ref={root}>
      <h1 class="unseen">Timeline</h1>
      <Bar stage={stage} onJump={jump} onWhole={doings.whole} onFind={go} table={asTable} />
      <div class="tl-frame" ref={box}>
        <div class="tl-top">
          <div class="tl-corner muted" role="status">{stage.done.value < 1 ? <>reading <progress aria-label="how much of the trace is read" value={stage.done.value} /></> : "all of " + duration(stage.all.end - stage.all.start)}</div>
          <MiniStrip stage={stage} canvas={mini} onBrush={(to) => { over.brush = to; stage.over(); }} onRange={setRange} onWhole={doings.whole} />
          <div class="tl-corner muted" title="visible time">{s ? duration(s.end - s.start) + " seen" : ""}</div>
          <canvas ref={axis} class="tl-axis" style={{ height: axisHeight + "px" }} role="img" aria-label={s ? "time axis, " + exactSpan({ start: Math.round(s.start), end: Math.round(s.end) }) : "time axis"} />
        </div>
        <div class="tl-scroll" ref={scroller} onScroll={(e) => stage.scrollTo(e.currentTarget.scrollTop / ratio())}>
          <div class="tl-spacer" style={{ height: Math.min(tallest, total) + "px" }}>
            <div class="tl-stick">
              <Heads stage={stage} open={open} pins={pins} chosen={selected?.key ?? ""} onPin={pin}
                onToggle={(id) => set({ open: listed(toggled(id, open)) })} onLane={(lane) => moveTo(lane.key, over.cursor?.t ?? (stage.seen.start + stage.seen.end) / 2)} />
              <div class="tl-picture" ref={picture} tabIndex={0} role="application" aria-roledescription="timeline"
                aria-label="lanes: arrows go from lane to lane and from span to span, Enter chooses, w a s d zoom and move, t shows a table, ? lists all keys"
                onKeyDown={(e) => { if (press(e, held, doings)) { e.preventDefault(); e.stopPropagation(); } }}
                onKeyUp={(e) => held.release(e.code)} onFocus={() => { over.focused = true; stage.over(); }} onBlur={() => { over.focused = false; held.release(); stage.over(); }}>
                <canvas ref={lanes} role="img" aria-label={pictured(stage)} />
                <canvas ref={above} aria-hidden="true" />
              </div>
            </div>
          </div>
        </div>
      </div>
      <Legend />
      {asTable.value ? <TableTwin stage={stage} /> : null}
      {hovered.value ? <Tip stage={stage} of={hovered.value} pinned={pins.includes(hovered.value.lane.key)} onPin={() => pin(hovered.value!.lane.key)}
        onStay={() => clearTimeout(stay.current)} onLeave={() => hover(null)} /> : null}
      <Side stage={stage} of={selected} onChoice={setChosen} onGo={go} onFit={(to) => jump(to, 0.25)} onPin={pin} pinned={pins} />
    </div>
  );
}

/** pictured says what is in the picture for people who do not see it. */
function pictured(stage: Stage): string {
  const seenLanes = stage.rows().flatMap((row) => (row.lane ? [title(row.lane)] : []));
  return `${seenLanes.length} lanes over ${duration(stage.seen.end - stage.seen.start)}: ${seenLanes.slice(0, 12).join(", ")}${seenLanes.length > 12 ? " …" : ""}. The same as a table: press t.`;
}
