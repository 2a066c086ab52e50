// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";
import type { Bars, Facts, Table, TimeShare } from "./web.ts";

export interface Advised {
  said: string;
  container: string;
  gogc: string;
  limit: string;
}

export interface CyclesPage {
  table: Table | null;
  start: number[] | null;
  end: number[] | null;
  pauses: Bars[] | null;
  cpu: TimeShare[] | null;
}

export interface GcPage {
  parts: GcPart[] | null;
}

export interface GcPart {
  title: string;
  figures: Table | null;
  notes: string[] | null;
}

export interface Knob {
  name: string;
  label: string;
  steps: string[] | null;
  at: number;
}

export interface MmuPage {
  source: string;
  covers: TimelineSpan;
  windows: (number | null)[];
  least: (number | null)[];
  most: (number | null)[];
  table: Facts | null;
}

export interface TradeOff {
  settings: string;
  gogc: number;
  heap_mb: number;
  share: number;
  grade: string;
}

export interface WhatIfPage {
  title: string;
  table: Table | null;
  recorded: TradeOff;
  chosen: TradeOff;
  curve: TradeOff[] | null;
  said: string;
  figures: Table | null;
  grade: string;
  refused: boolean;
  knobs: Knob[] | null;
  advice: Advised | null;
}
