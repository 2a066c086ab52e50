// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { InsightFinding } from "./insight.ts";
import type { TimelineSpan } from "./timeline.ts";

export interface PartFindings {
  checked: string[] | null;
  findings: InsightFinding[] | null;
  covers: TimelineSpan;
}
