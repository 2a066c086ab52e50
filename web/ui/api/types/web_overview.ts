// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";
import type { Table, TimeShare } from "./web.ts";

export interface FigurePage {
  of: string;
  figures: Table | null;
}

export interface TimePage {
  span: TimelineSpan;
  goroutines: TimeShare[] | null;
  procs: TimeShare[] | null;
}

export interface TopPage {
  table: Table | null;
  note: string;
  view: string;
  path?: string;
}
