/** The user's tasks: one of them with its tree and its critical path, and lists of them and of their regions. */
import { useEffect } from "preact/hooks";
import type { PathStep, TaskLane, TaskPage } from "../../api/types.ts";
import { count, duration, exact, percent, type Span, type Time } from "../../base/units.ts";
import { short } from "../../model/lanes.ts";
import { param, rangeParams, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { FactPage } from "../../widgets/facts.tsx";
import { Table } from "../../widgets/table.tsx";
import type { Choice } from "./details.tsx";
import { number, sheet, text, time } from "./figures.tsx";
import type { Arrow } from "./overlay.ts";

export interface TaskDetailsProps {
  readonly source: string;
  readonly task: TaskLane;
  readonly onChoice: (c: Choice | null) => void;
  readonly onGo: (key: string, t: Time) => void;
  readonly onFit: (s: Span) => void;
}

/** mostArrows is how many changes of goroutine along the path are drawn. */
const mostArrows = 40;

/** arrowsOf lead along the critical path, from goroutine to goroutine. */
function arrowsOf(path: readonly PathStep[]): Arrow[] {
  const out: Arrow[] = [];
  for (let i = 1; i < path.length && out.length < mostArrows; i++) {
    const a = path[i - 1]!, b = path[i]!;
    if (a.goroutine !== b.goroutine) out.push({ from: "g" + a.goroutine, to: "g" + b.goroutine, t: b.start_ns, label: "g" + b.goroutine });
  }
  return out;
}

/** TaskDetails tells of one task. */
export function TaskDetails({ source, task, onChoice, onGo, onFit }: TaskDetailsProps) {
  const asked = useAnswer("timeline/task", { s: source, id: task.id }), span = { start: task.start_ns, end: task.end_ns };
  useEffect(() => {
    onChoice({ key: "t" + task.id, span, arrows: arrowsOf(asked.value?.path ?? []), before: null, after: null });
  }, [asked.value, task]);
  return (
    <>
      <p class="tl-what"><b><bdi>{task.name || "task"}</bdi></b> {duration(span.end - span.start)}{task.begun && task.ended ? null : <span class="muted"> or longer: the trace contains only part of it</span>}</p>
      <dl class="tl-facts">
        <div><dt>from</dt><dd>{exact(span.start)}</dd></div>
        <div><dt>to</dt><dd>{exact(span.end)}</dd></div>
        <div><dt>goroutines</dt><dd>{(task.goroutines ?? []).slice(0, 12).map((g) => <><button type="button" class="tl-go" onClick={() => onGo("g" + g, span.start)}>g{g}</button> </>)}{(task.goroutines?.length ?? 0) > 12 ? "…" : ""}</dd></div>
      </dl>
      <p class="tl-doings">
        <button type="button" onClick={() => onFit(span)}>Fit</button>
        {task.parent ? <button type="button" onClick={() => onGo("t" + task.parent, span.start)}>Parent</button> : null}
      </p>
      {task.left > 0 ? <p class="note">{count(task.left)} more regions are not in the lane.</p> : null}
      <Answer of={asked} source={source}>{(p) => (p ? <>{p.page ? <FactPage of={{ ...p.page, facts: (p.page.facts ?? []).filter((f) => f.head) }} /> : null}<PathTable of={p} onGo={onGo} /></> : null)}</Answer>
    </>
  );
}

/** PathTable lists what the task waited for, one after the other. */
function PathTable({ of, onGo }: { of: TaskPage; onGo: (key: string, t: Time) => void }) {
  const path = of.path ?? [], whole = Math.max(1, of.end_ns - of.start_ns);
  return (
    <Table of={sheet("path", "Its critical path, step by step", ["at", "took", "goroutine", "state", "share", "in"],
      path.map((s) => [time(s.start_ns - of.start_ns), time(s.end_ns - s.start_ns), ["· ".repeat(s.depth) + "g" + s.goroutine, s.goroutine], text(s.reason || s.state),
        [percent((s.end_ns - s.start_ns) / whole), (s.end_ns - s.start_ns) / whole], [short(s.function), s.function]]),
      of.left > 0 ? [`${count(of.left)} more steps behind these`] : [])} rows={10}
      onRow={(i) => onGo("g" + path[i]!.goroutine, path[i]!.start_ns)} />
  );
}

/** Tasks lists the tasks and regions of the range, the longest first. */
export function Tasks({ source, onGo }: { source: string; onGo: (key: string, t: Time, length: Time) => void }) {
  const q = param("task");
  const asked = useAnswer("timeline/tasks", { s: source, q, ...rangeParams() });
  return (
    <>
      <input type="search" aria-label="tasks with a name" placeholder="Tasks with a name" value={q} onInput={(e) => set({ task: e.currentTarget.value }, true)} />
      <Answer of={asked} source={source}>
        {(l) => {
          const tasks = l?.tasks ?? [], regions = l?.regions ?? [];
          return (
            <>
              <Table of={sheet("tasks", `Tasks, ${count(l?.tasksTotal ?? 0)}`, ["task", "length", "regions", "logs", "goroutines"],
                tasks.map((t) => [text(t.name), time(t.end_ns - t.start_ns), number(t.regions), number(t.logs), [(t.goroutines ?? []).slice(0, 4).map((g) => "g" + g).join(" "), t.goroutines?.length ?? 0]]),
                tasks.length === 0 ? ["The program created no tasks (runtime/trace.NewTask creates them)."] : [])} rows={10}
                onRow={(i) => { const t = tasks[i]!; onGo("t" + t.id, t.start_ns, t.end_ns - t.start_ns); }} />
              <Table of={sheet("regions", `Regions, ${count(l?.regionsTotal ?? 0)}`, ["region", "length", "ran", "waited for a P", "blocked", "goroutine"],
                regions.map((r) => [text(r.name), time(r.end_ns - r.start_ns), time(r.exec_ns), time(r.sched_wait_ns), time(r.blocked_ns), ["g" + r.goroutine, r.goroutine]]))} rows={10}
                onRow={(i) => { const r = regions[i]!; onGo("g" + r.goroutine, r.start_ns, r.end_ns - r.start_ns); }} />
            </>
          );
        }}
      </Answer>
    </>
  );
}
