// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

import type { TimelineSpan } from "./timeline.ts";

export interface RecordingHost {
  os: string;
  arch: string;
  kernel?: string;
  cpu?: string;
  cpus: number;
  level?: string;
  quota?: number;
  memory?: number;
  memory_limit?: number;
  virtual?: string;
  load: number;
  boot_id?: string;
}

export interface RecordingMark {
  at_ns: number;
  text: string;
}

export interface RecordingPhase {
  name: string;
  span: TimelineSpan;
  profiler?: string;
  round?: number;
  order?: number;
  run: number;
  lives?: number;
  user_ns: number;
  system_ns: number;
  max_rss?: number;
  error?: string;
  elsewhere?: boolean;
  cut?: boolean;
}

export interface RecordingRun {
  pid: number;
  server?: number;
  span: TimelineSpan;
  user_ns: number;
  system_ns: number;
  max_rss: number;
  exit?: string;
  stopped?: boolean;
}

export interface RecordingTarget {
  kind: string;
  name: string;
  args?: string[];
  dir?: string;
  env?: string[];
  package?: string;
  module?: string;
  go?: string;
  build_settings?: Record<string, string>;
  stripped?: boolean;
  build?: string;
  agent: boolean;
  runs?: RecordingRun[];
}
