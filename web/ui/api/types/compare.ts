// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";

export interface CompareEncounter {
  kind: string;
  name: string;
  own?: boolean;
  time_ns: number;
  at: TimelineSpan;
}
