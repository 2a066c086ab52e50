// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";

export interface Lane {
  key: string;
  title: string;
  unit: string;
  shape: string;
  source?: string;
  top?: number;
  lines?: LaneLine[];
  heat?: LaneHeat;
  spans?: LaneSpans;
  note?: string;
  missing?: string;
}

export interface LaneHeat {
  start: number;
  width: number;
  rows: (number | null)[];
  counts: (number | null)[];
}

export interface LaneLine {
  key: string;
  title: string;
  step?: boolean;
  at: number[] | null;
  mean: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
}

export interface LaneSpans {
  start: number[] | null;
  end: number[] | null;
  count: number[] | null;
  worst?: (number | null)[];
  row?: number[];
  label?: string[];
}

export interface LaneStack {
  span: TimelineSpan;
  lanes: (Lane | null)[] | null;
}
