// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { ReportDrawing } from "./report.ts";
import type { TimelineSpan } from "./timeline.ts";
import type { Table } from "./web.ts";

export interface Amount {
  value: number;
  shown: string;
}

export interface Flame {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  views: FlameView[] | null;
  path: FlameStep[] | null;
  lost: boolean;
  names: string[] | null;
  files: string[] | null;
  classes: string;
  hits: string;
  flat: number[] | null;
  cum: number[] | null;
  signs: string;
  matched: number;
  matched_shown: string;
  base: number;
  base_shown: string;
}

export interface FlameStep {
  name: string;
  hash: string;
  weight: number;
  shown: string;
}

export interface FlameView {
  name: number[] | null;
  depth: number[] | null;
  weight: number[] | null;
  self: number[] | null;
  base: number[] | null;
  inline: number[] | null;
  narrow: number[] | null;
  narrow_weight: number[] | null;
  top: number;
  top_weight: number;
  total: number;
  width: number;
}

export interface GraphShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  drawing: ReportDrawing | null;
  classes: string;
}

export interface LabelKey {
  key: string;
  total: Amount;
  values: LabelValue[] | null;
  more: number;
}

export interface LabelValue {
  value: string;
  weight: Amount;
  share: number;
  filter: string;
}

export interface LabelsShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  keys: LabelKey[] | null;
}

export interface Peeked {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  nodes: PeekedNode[] | null;
}

export interface PeekedEdge {
  name: string;
  class: number;
  weight: Amount;
  share: number;
  inline: boolean;
}

export interface PeekedNode {
  name: string;
  class: number;
  flat: Amount;
  cum: Amount;
  callers: PeekedEdge[] | null;
  callees: PeekedEdge[] | null;
}

export interface Ranking {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  table: Table | null;
  classes: string;
  names: string[] | null;
}

export interface SourceCode {
  address: string;
  text: string;
  flat: Amount;
  cum: Amount;
  inlined?: string;
}

export interface SourceLine {
  number: number;
  text: string;
  flat: Amount;
  cum: Amount;
  why?: SourceWhy[];
  code?: SourceCode[];
}

export interface SourceRoutine {
  name: string;
  file: string;
  flat: Amount;
  cum: Amount;
  lines: SourceLine[] | null;
  error?: string;
}

export interface SourceShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  routines: SourceRoutine[] | null;
}

export interface SourceWhy {
  shown: string;
  certainty: string;
  reasons: string[] | null;
}

export interface WeightKind {
  key: string;
  title: string;
  kind: string;
  timed: boolean;
  covers: string;
  types: WeightType[] | null;
  type: string;
  labels: boolean;
  span: TimelineSpan;
  error?: string;
}

export interface WeightType {
  type: string;
  unit: string;
  total: string;
  means: string;
}
