/** What is under the pointer. One can move onto it; Esc takes it away. */
import { count, exact, instant, type Time } from "../../base/units.ts";
import { about, short, type Lane } from "../../model/lanes.ts";
import { useAnswer } from "../../widgets/ask.tsx";
import { addressed } from "./details.tsx";
import { told } from "./tell.ts";
import type { Stage } from "./stage.ts";

export interface Hovered {
  /** x and y are in the window. */
  readonly x: number;
  readonly y: number;
  readonly lane: Lane;
  readonly t: Time;
}

export function Tip({ stage, of, pinned, onPin, onStay, onLeave }: { stage: Stage; of: Hovered; pinned: boolean; onPin: () => void; onStay: () => void; onLeave: () => void }) {
  const { lane, t } = of, exactly = stage.spanAt(lane, t), window = { start: t, end: t + stage.view.perPx };
  const lines = told(stage, lane, exactly?.span ?? window).slice(0, 8);
  const wide = Math.min(320, innerWidth - 16), left = Math.min(Math.max(8, of.x + 14), innerWidth - wide - 8);
  const below = of.y < innerHeight - 220;
  return (
    <div class="tl-tip" role="tooltip" style={{ left: left + "px", maxWidth: wide + "px", ...(below ? { top: of.y + 18 + "px" } : { bottom: innerHeight - of.y + 14 + "px" }) }}
      onPointerEnter={onStay} onPointerLeave={onLeave}>
      <b>{about(lane)}</b>
      {lane.kind === "proc" || lane.kind === "thread" ? <Who stage={stage} of={of} /> : null}
      {exactly ? <Exactly stage={stage} of={of} /> : (
        <>
          <div class="muted">{instant(t, stage.view.perPx * 100)}, {lane.kind === "latency" ? "number of goroutines by waiting time" : "in one pixel"}</div>
          <dl>{lines.map((l) => <div key={l.name}><dt><i style={{ background: `var(--${l.colour})` }} />{l.name}</dt><dd>{l.shown}</dd></div>)}</dl>
          {lines.length === 0 ? <div class="muted">nothing here</div> : null}
        </>
      )}
      <button type="button" class="quiet" onClick={onPin}>{pinned ? "Unpin" : "Pin"} the lane</button>
    </div>
  );
}

/** Who says which goroutine runs there: the runs that are drawn know it, and else the server is asked. */
function Who({ stage, of }: { stage: Stage; of: Hovered }) {
  const { lane, t } = of;
  const drawn = lane.kind === "proc" ? stage.runs.on(lane.subject).find((r) => r.start <= t && t < r.end) : undefined;
  const asked = useAnswer("timeline/at", { s: stage.source, lane: lane.id, t: Math.round(t), version: lane.version || undefined }, !drawn);
  // While the answer is on its way there is that of the instant before.
  const stay = asked.loading || asked.error || asked.value?.lane.subject !== lane.subject ? null : asked.value.stay;
  const g = drawn?.g ?? stay?.goroutine, name = drawn?.name ?? short(stay?.function ?? "");
  return g === undefined ? null : <div class="tl-who">goroutine {count(g)} <bdi>{name}</bdi></div>;
}

function Exactly({ stage, of }: { stage: Stage; of: Hovered }) {
  const s = stage.spanAt(of.lane, of.t)!;
  return (
    <>
      <div>{addressed(of.lane, s.class, s.span)}</div>
      <div class="muted">{exact(Math.round(s.span.start))} – {exact(Math.round(s.span.end))}</div>
    </>
  );
}
