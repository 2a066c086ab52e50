// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { InsightFinding } from "./insight.ts";
import type { ReportComparisonRow } from "./report.ts";
import type { Facts } from "./web.ts";

export interface CompareDiff {
  kinds: string[] | null;
  kind: string;
  types: string[] | null;
  type: string;
  paths: string[];
  page: Facts | null;
}

export interface CompareSide {
  id: string;
  source: string;
  name: string;
  kinds: string[] | null;
  broken: string;
}

export interface CompareView {
  titles: string[] | null;
  rounds: number[] | null;
  rows: ReportComparisonRow[] | null;
  notes: string[] | null;
  gone: InsightFinding[] | null;
  new: InsightFinding[] | null;
  both: InsightFinding[] | null;
  regressed: boolean;
}
