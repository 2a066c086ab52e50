/** What is under the pointer. One can move onto it; Esc takes it away. */
import { exact, instant, type Time } from "../../base/units.ts";
import { about, type Lane } from "../../model/lanes.ts";
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
      {exactly ? <Exactly stage={stage} of={of} /> : (
        <>
          <div class="muted">{instant(t, stage.view.perPx * 100)}, {lane.kind === "latency" ? "how many waited how long" : "in one pixel"}</div>
          <dl>{lines.map((l) => <div key={l.name}><dt><i style={{ background: `var(--${l.colour})` }} />{l.name}</dt><dd>{l.shown}</dd></div>)}</dl>
          {lines.length === 0 ? <div class="muted">nothing here</div> : null}
        </>
      )}
      <button type="button" class="quiet" onClick={onPin}>{pinned ? "Unpin" : "Pin"} the lane</button>
    </div>
  );
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
