/** What stands beside the lanes: what is chosen, its goroutine, and the figures of the range. */
import type { Span, Time } from "../../base/units.ts";
import { duration } from "../../base/units.ts";
import { about, title } from "../../model/lanes.ts";
import { param, range, set } from "../../model/route.ts";
import { Drawer } from "../../widgets/drawer.tsx";
import { Tabs } from "../../widgets/tabs.tsx";
import { Details, type Choice, type Selected } from "./details.tsx";
import { Life, RangeFigures } from "./figures.tsx";
import { TaskDetails, Tasks } from "./tasks.tsx";
import type { Stage } from "./stage.ts";

export interface SideProps {
  readonly stage: Stage;
  readonly of: Selected | null;
  readonly pinned: readonly string[];
  readonly onChoice: (c: Choice | null) => void;
  readonly onGo: (key: string, t: Time) => void;
  readonly onFit: (s: Span) => void;
  readonly onPin: (key: string) => void;
}

export function Side({ stage, of, pinned, onChoice, onGo, onFit, onPin }: SideProps) {
  stage.shape.value; // the lane may have come
  const lane = of ? stage.lanes.known(of.key) : null, r = range.value;
  const g = of && /^g\d+$/.test(of.key) ? Number(of.key.slice(1)) : null;
  const panel = param("panel") || (of ? "here" : "");
  if (!panel) return null;
  const close = (): void => {
    onChoice(null);
    set({ sel: undefined, panel: undefined });
  };
  const choices = [
    { id: "here", name: "Here", off: of ? undefined : "nothing is selected" },
    { id: "life", name: "Goroutine", off: g === null ? "no goroutine is selected" : undefined },
    { id: "range", name: r ? "Range" : "All of it", off: undefined },
    { id: "tasks", name: "Tasks", off: undefined },
  ];
  return (
    <Drawer title={lane ? title(lane) : of ? of.key : r ? duration(r.end - r.start) : "the whole trace"} onClose={close}>
      <Tabs of={choices} value={panel} label="details" onChange={(id) => set({ panel: id === "here" ? undefined : id }, true)} />
      {panel === "here" && of ? (
        lane?.task ? <TaskDetails key={lane.key} source={stage.source} task={lane.task} onChoice={onChoice} onGo={onGo} onFit={onFit} /> : lane ? (
          <>
            <p class="muted"><bdi>{about(lane)}</bdi> <button type="button" class="quiet" aria-pressed={pinned.includes(lane.key)} onClick={() => onPin(lane.key)}>{pinned.includes(lane.key) ? "◆ pinned" : "◇ pin"}</button></p>
            <Details key={lane.key} stage={stage} source={stage.source} lane={lane} of={of} onChoice={onChoice} onGo={onGo} onFit={onFit} onSimilar={(q) => set({ q })} />
          </>
        ) : <Missing stage={stage} of={of} />
      ) : null}
      {panel === "life" && g !== null ? <Life source={stage.source} g={g} /> : null}
      {panel === "range" ? <RangeFigures source={stage.source} onLane={(name) => set({ lanes: name, group: undefined })} /> : null}
      {panel === "tasks" ? <Tasks source={stage.source} onGo={(key, t, length) => { onGo(key, t); onFit({ start: t, end: t + length }); }} /> : null}
    </Drawer>
  );
}

/** Missing says why a lane is not there. */
function Missing({ stage, of }: { stage: Stage; of: Selected }) {
  const d = stage.lanes.info?.dropped;
  if (stage.lanes.sought(of.key)) return <p class="muted">…</p>;
  return <p class="muted">There is no lane for {of.key}.{d && d.goroutines > 0 ? ` In a trace of this size, goroutines with fewer than ${d.minSpans} spans have no lane; they are included in the lanes of their functions.` : ""}</p>;
}

