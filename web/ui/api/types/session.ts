// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface SessionFile {
  name: string;
  kind: string;
  types?: string[];
  program?: string;
  time?: string;
  length_ns?: number;
  stacks?: number;
  cycles?: number;
  samples?: number;
  inits?: number;
  scavenges?: number;
  pacers?: number;
  dumps?: number;
  goroutines?: number;
  requests?: number;
  results?: number;
  diagnostics?: number;
  failed?: string[];
  format?: string;
  bytes: number;
  judged_instead?: string;
}
