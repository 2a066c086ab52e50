// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { RecordingHost, RecordingMark, RecordingPhase, RecordingTarget } from "./recording.ts";
import type { SessionFile } from "./session.ts";
import type { TimelineSpan } from "./timeline.ts";

export interface Grades {
  critical: number;
  warning: number;
  info: number;
}

export interface SourceEntry {
  path: string;
  kind: string;
  phase?: string;
  span: TimelineSpan;
  bytes: number;
}

export interface SourceInfo {
  id: string;
  name: string;
  title: string;
  kind: string;
  live: boolean;
  version: number;
  axis: TimelineSpan;
  start?: string;
  complete: boolean;
  target: RecordingTarget;
  host: RecordingHost;
  phases: RecordingPhase[] | null;
  marks: RecordingMark[] | null;
  entries: SourceEntry[] | null;
  files: SessionFile[] | null;
  notes: string[] | null;
  kinds: string[] | null;
}
