// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface Brief {
  id: string;
  title: string;
  date: string;
  command: string;
  length: number;
  bytes: number;
  complete: boolean;
  error: string;
}

export interface SourceItem {
  id: string;
  name: string;
  kind: string;
  live: boolean;
}

export interface SourceList {
  version: string;
  editor: boolean;
  fleet: boolean;
  sources: SourceItem[] | null;
}
