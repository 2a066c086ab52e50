// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { BenchmarkPair } from "./benchmark.ts";

export interface Bars {
  key: string;
  title: string;
  from: (number | null)[];
  to: (number | null)[];
  count: (number | null)[];
  total: number;
  p50: number;
  p99: number;
  max: number;
}

export interface BenchCell {
  values: number[] | null;
  center: number;
  low: number;
  high: number;
  shown: string;
  range: string;
  delta: string;
  test: string;
  verdict: string;
}

export interface BenchRow {
  name: string;
  factor: number;
  digits: number;
  prefix: string;
  cells: BenchCell[] | null;
}

export interface BenchTable {
  config: BenchmarkPair[] | null;
  unit: string;
  better: number;
  files: string[] | null;
  table: Table | null;
  rows: BenchRow[] | null;
}

export interface BenchView {
  files: string[] | null;
  results: number;
  varying: string[] | null;
  problems: string[] | null;
  tables: BenchTable[] | null;
}

export interface Fact {
  key: string;
  head: string;
  shown: string;
  value: unknown;
}

export interface Facts {
  facts: Fact[] | null;
  tables: (Table | null)[] | null;
}

export interface FrameView {
  function: string;
  args: string;
  file: string;
  line: number;
  inlined: boolean;
  created: boolean;
  pc: string;
  params?: ParamView[];
  why?: string;
}

export interface Notice {
  kind: string;
  source?: string;
  version?: number;
  job?: string;
  done?: number;
}

export interface ParamView {
  name: string;
  type: string;
  text: string;
  sure: boolean;
}

export interface Problem {
  error: string;
  missing: boolean;
}

export interface RegisterView {
  name: string;
  value: string;
}

export interface Table {
  key: string;
  title: string;
  columns: TableColumn[] | null;
  shown: (string[] | null)[] | null;
  values: (unknown[] | null)[] | null;
  notes: string[] | null;
}

export interface TableColumn {
  key: string;
  head: string;
  left: boolean;
}

export interface TimeShare {
  key: string;
  title: string;
  share: number;
  shown: string;
}
