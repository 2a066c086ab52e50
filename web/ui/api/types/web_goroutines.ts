// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { FrameView, RegisterView, Table } from "./web.ts";

export interface AccessView {
  title: string;
  frames: FrameView[] | null;
}

export interface AgeBar {
  text: string;
  count: number;
}

export interface GoroutineRow {
  key: string;
  leaked: boolean;
  suspect: string;
  entry: string;
}

export interface GoroutineText {
  id: number;
  title: string;
  frames: FrameView[] | null;
}

export interface GoroutineView {
  of: ShotItem;
  against: ShotItem | null;
  total: number;
  before: number;
  groups: Table | null;
  rows: GoroutineRow[] | null;
  states: Table | null;
  ages: AgeBar[] | null;
  suspects: string[] | null;
  panic: PanicView | null;
  races: RaceView[] | null;
  notes: string[] | null;
}

export interface GroupView {
  title: string;
  stacks: StackView[] | null;
  more: number;
  goroutines: Table | null;
  places: number[] | null;
}

export interface PanicView {
  kind: string;
  message: string;
  signal: string;
  values: string[] | null;
  first: GoroutineText | null;
  threads: ThreadView[] | null;
}

export interface RaceView {
  accesses: AccessView[] | null;
}

export interface ShotItem {
  id: string;
  kind: string;
  name: string;
  title: string;
  at: number;
  goroutines: number;
}

export interface StackView {
  count: number;
  state: string;
  frames: FrameView[] | null;
}

export interface ThreadView {
  title: string;
  registers: RegisterView[] | null;
}

export interface Trend {
  entry: string;
  values: number[] | null;
}
