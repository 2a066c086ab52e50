// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";
import type { Bars, Facts, Table } from "./web.ts";

export interface SamplePart {
  title: string;
  figures: Table | null;
  waits: Table | null;
  notes: string[] | null;
}

export interface SchedPage {
  start: number;
  covers: TimelineSpan;
  sched: Facts | null;
  blocked: Facts | null;
  stw: Facts | null;
  tasks: Facts | null;
  hogs: Table | null;
  waits: Bars;
  runs: Bars;
  pauses: Bars[] | null;
  filter: string;
}

export interface SchedParts {
  parts: SamplePart[] | null;
}
