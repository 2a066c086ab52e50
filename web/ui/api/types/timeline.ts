// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface TimelineSpan {
  start_ns: number;
  end_ns: number;
}
