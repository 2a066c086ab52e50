/** The row above the lanes: looking for events, choosing lanes, moving without a mouse, saving. */
import { useState } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { duration, parseSpan, type Span, type Time } from "../../base/units.ts";
import { param, set } from "../../model/route.ts";
import { seen, zoom } from "../../model/viewport.ts";
import { Find } from "./find.tsx";
import { saveCSV, savePNG, saveSVG } from "./save.ts";
import type { Stage } from "./stage.ts";
import { shownSpan } from "./tell.ts";

export function Bar({ stage, onJump, onWhole, onFind, table }: { stage: Stage; onJump: (s: Span) => void; onWhole: () => void; onFind: (key: string, t: Time) => void; table: Signal<boolean> }) {
  const step = (factor: number): void => stage.show(zoom(stage.view, factor, stage.view.width / 2));
  return (
    <div class="tl-bar">
      <Find stage={stage} onGo={onFind} />
      <input type="search" class="tl-lanes" aria-label="lanes with a name" placeholder="Lanes: function or g12" value={param("lanes")} onInput={(e) => set({ lanes: e.currentTarget.value }, true)} />
      <select aria-label="group goroutines" value={param("group")} onChange={(e) => set({ group: e.currentTarget.value })}>
        <option value="">by function</option>
        <option value="none">ungrouped</option>
      </select>
      <select aria-label="order of goroutines" value={param("order", "spans")} onChange={(e) => set({ order: e.currentTarget.value === "spans" ? "" : e.currentTarget.value })}>
        <option value="spans">most events</option>
        <option value="start">first</option>
        <option value="length">longest</option>
        <option value="lane">as they ended</option>
      </select>
      <label title="compact lanes, to see many goroutines at once"><input type="checkbox" checked={param("dense") === "1"} onChange={(e) => set({ dense: e.currentTarget.checked ? "1" : undefined })} />Dense</label>
      <SeenField stage={stage} onJump={onJump} />
      <button type="button" aria-label="zoom in" title="zoom in (w)" onClick={() => step(0.5)}>+</button>
      <button type="button" aria-label="zoom out" title="zoom out (s)" onClick={() => step(2)}>−</button>
      <button type="button" title="the whole trace (0)" onClick={onWhole}>All</button>
      <span class="grow" />
      <button type="button" aria-pressed={param("panel") === "range"} title="how time in the range was spent" onClick={() => set({ panel: param("panel") === "range" ? undefined : "range" })}>Figures</button>
      <button type="button" aria-pressed={table.value} onClick={() => (table.value = !table.value)}>Table</button>
      <button type="button" class="quiet" title="save as PNG" onClick={() => savePNG(stage)}>PNG</button>
      <button type="button" class="quiet" title="save as SVG" onClick={() => saveSVG(stage)}>SVG</button>
      <button type="button" class="quiet" title="save the visible data as CSV" onClick={() => saveCSV(stage)}>CSV</button>
    </div>
  );
}

/** SeenField shows what is seen and takes it typed. */
function SeenField({ stage, onJump }: { stage: Stage; onJump: (s: Span) => void }) {
  const [text, setText] = useState<string | null>(null);
  const v = stage.settled.value, s = v ? seen(v) : stage.seen;
  const bad = text !== null && text.trim() !== "" && parseSpan(text) === null;
  const enter = (): void => {
    const to = text && parseSpan(text);
    if (to) onJump(to);
    setText(null);
  };
  return (
    <form class="tl-seen" onSubmit={(e) => { e.preventDefault(); if (!bad) enter(); }}>
      <label><input aria-label="visible time, from and to" size={20} value={text ?? shownSpan(stage, false)} aria-invalid={bad} title={`as in 1.2s-1.5s; now ${duration(s.end - s.start)}`}
        onInput={(e) => setText(e.currentTarget.value)} onBlur={() => setText(null)} /></label>
    </form>
  );
}
