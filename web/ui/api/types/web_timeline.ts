// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { InsightFrame } from "./insight.ts";
import type { TimelineSpan } from "./timeline.ts";
import type { Facts } from "./web.ts";

export interface ClassTime {
  class: number;
  name: string;
  spans: number;
  time_ns: number;
  longest_ns: number;
}

export interface GoroutineLife {
  goroutine: number;
  function: string;
  span: TimelineSpan;
  within: TimelineSpan;
  page: Facts | null;
}

export interface GroupTime {
  lane: number;
  name: string;
  members: number;
  classes: ClassTime[] | null;
}

export interface LaneContact {
  goroutine: number;
  function: string;
  at: number;
  stack: InsightFrame[] | null;
  made: boolean;
  reason: string;
  waited_ns: number;
  where: InsightFrame[] | null;
}

export interface LaneDropped {
  goroutines: number;
  minSpans: number;
  goroutineSpans: boolean;
  procSpans: boolean;
}

export interface LaneList {
  origin: number;
  rate: number;
  minLevel: number;
  top: number;
  span: TimelineSpan;
  version: number;
  done: number;
  dropped: LaneDropped;
  tasks: number;
  total: number;
  lanes: LaneOnAxis[] | null;
}

export interface LaneMoment {
  version: number;
  lane: LaneOnAxis;
  at: number;
  span: LaneSpan | null;
  before: LaneSpan | null;
  after: LaneSpan | null;
  stay: LaneStay | null;
  stop: string;
  cycle: number;
}

export interface LaneOnAxis {
  id: number;
  kind: string;
  subject: number;
  name: string;
  group: number;
  members: number;
  start: number;
  end: number;
  spans: number;
  base: number;
  exact: boolean;
}

export interface LaneSpan {
  start_ns: number;
  end_ns: number;
  class: number;
  name: string;
}

export interface LaneStay {
  goroutine: number;
  function: string;
  state: string;
  reason: string;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  proc: number;
  stack: InsightFrame[] | null;
  by: LaneContact | null;
  met: LaneContact[] | null;
  more: number;
}

export interface PathStep {
  start_ns: number;
  end_ns: number;
  goroutine: number;
  state: string;
  reason: string;
  function: string;
  depth: number;
}

export interface RegionItem {
  name: string;
  goroutine: number;
  task: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  exec_ns: number;
  sched_wait_ns: number;
  blocked_ns: number;
}

export interface RunList {
  proc: number[] | null;
  goroutine: number[] | null;
  start: number[] | null;
  end: number[] | null;
  function: number[] | null;
  names: string[] | null;
  many: boolean;
}

export interface TaskItem {
  id: number;
  name: string;
  parent: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  regions: number;
  logs: number;
  goroutines: number[] | null;
}

export interface TaskLane {
  id: number;
  name: string;
  parent: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  regions: number;
  logs: number;
  goroutines: number[] | null;
  spans: TaskSpan[] | null;
  left: number;
}

export interface TaskLanes {
  total: number;
  version: number;
  lanes: TaskLane[] | null;
}

export interface TaskPage {
  id: number;
  start_ns: number;
  end_ns: number;
  page: Facts | null;
  path: PathStep[] | null;
  left: number;
}

export interface TaskSpan {
  start_ns: number;
  end_ns: number;
  region: string;
  goroutine: number;
}

export interface TimelineHit {
  version: number;
  total: number;
  number: number;
  lane: LaneOnAxis | null;
  span: LaneSpan | null;
}

export interface TimelineStats {
  within: TimelineSpan;
  exact: boolean;
  procs: ClassTime[] | null;
  goroutines: ClassTime[] | null;
  groups: GroupTime[] | null;
  groupsTotal: number;
  stops: ClassTime;
  marks: ClassTime;
}

export interface TraceTasks {
  tasksTotal: number;
  tasks: TaskItem[] | null;
  regionsTotal: number;
  regions: RegionItem[] | null;
  tasksLeft: number;
  regionsLeft: number;
}
