// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";
import type { Facts } from "./web.ts";

export interface Division {
  title: string;
  parts: UnitsPart[] | null;
}

export interface RequestPage {
  id: number;
  span: TimelineSpan;
  goroutine: number;
  page: Facts | null;
}

export interface RequestsPage {
  start: number;
  covers: TimelineSpan;
  filter: string;
  divisions: Division[] | null;
  page: Facts | null;
}

export interface UnitsPart {
  name: string;
  each_ns: number;
  shown: string;
  slices: UnitsSlice[] | null;
}

export interface UnitsSlice {
  kind: string;
  name: string;
  each_ns: number;
  share: number;
  shown: string;
}
