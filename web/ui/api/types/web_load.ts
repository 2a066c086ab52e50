// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { CompareEncounter } from "./compare.ts";
import type { TimelineSpan } from "./timeline.ts";
import type { Facts, Table } from "./web.ts";

export interface LoadBar {
  mark_ns: number;
  count: number;
}

export interface LoadItem {
  phase: string;
  profiler: string;
  round: number;
  url: string;
  model: string;
  open: boolean;
  requests: number;
  span: TimelineSpan;
  damage: string;
}

export interface LoadLine {
  name: string;
  share: number;
  step: number;
  values: number[] | null;
  need: number;
}

export interface LoadList {
  runs: LoadItem[] | null;
  table: Table | null;
}

export interface LoadMeeting {
  head: string;
  tables: (Table | null)[] | null;
}

export interface LoadOver {
  span: TimelineSpan;
  columns: number;
  rows: number;
  low_ns: number;
  growth: number;
  cells: number[] | null;
  most: number;
  lines: LoadLine[] | null;
  due: number[] | null;
  status: (number[] | null)[];
  failed: number[] | null;
  late_ns: number[] | null;
  flying: number[] | null;
  waiting: number[] | null;
}

export interface LoadPick {
  total: number;
  table: Table | null;
  requests: LoadRequest[] | null;
}

export interface LoadPoint {
  share: number;
  response_ns: number;
  service_ns: number;
  told: boolean;
}

export interface LoadRequest {
  id: string;
  span: TimelineSpan;
  goroutine: number;
  late_ns: number;
  dial_ns: number;
  write_ns: number;
  wait_ns: number;
  read_ns: number;
  failed: string;
  target: string;
  met: CompareEncounter[] | null;
}

export interface LoadView {
  phase: string;
  profiler: string;
  round: number;
  url: string;
  model: string;
  open: boolean;
  requests: number;
  span: TimelineSpan;
  damage: string;
  shown: TimelineSpan;
  page: Facts | null;
  over: LoadOver | null;
  bars: LoadBar[] | null;
  curve: LoadPoint[] | null;
  steps: Table | null;
  last: number;
}
