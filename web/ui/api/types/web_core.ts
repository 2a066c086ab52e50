// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { FrameView, RegisterView } from "./web.ts";

export interface CoreEnd {
  path: string;
  name: string;
  title: string;
  grade: string;
  ended: string;
  message: string;
  facts: CoreFact[] | null;
  thread: CoreThread | null;
  trouble: string;
  no_heap: string;
  next: string;
}

export interface CoreFact {
  head: string;
  text: string;
  grave: boolean;
}

export interface CoreThread {
  title: string;
  goroutine: number;
  dying: boolean;
  frames: FrameView[] | null;
  more: number;
  registers: RegisterView[] | null;
}

export interface ThreadPage {
  name: string;
  total: number;
  threads: CoreThread[] | null;
}
