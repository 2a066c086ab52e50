// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { Table } from "./web.ts";

export interface HeapChanges {
  old: string;
  new: string;
  growth: string;
  types: Table | null;
  roots: Table | null;
  doubts: string[] | null;
}

export interface HeapPage {
  name: string;
  sums: Table | null;
  doubts: string[] | null;
  types: Table | null;
  holders: Table | null;
}

export interface HeapStep {
  field: string;
  text: string;
  addr: string;
  type: string;
}

export interface HeapWay {
  title: string;
  root: string;
  steps: HeapStep[] | null;
}

export interface HeldView {
  asked: string;
  about: string;
  ways: HeapWay[] | null;
  more: number;
  objects: Table | null;
}

export interface TextsPage {
  sums: Table | null;
  longest: Table | null;
  repeated: Table | null;
}
