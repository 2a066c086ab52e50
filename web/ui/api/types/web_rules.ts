// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { InsightRule } from "./insight.ts";

export interface RuleAsks {
  asks: string;
  from: string[] | null;
}

export interface RuleView {
  rule: InsightRule | null;
  asks: RuleAsks[] | null;
}
