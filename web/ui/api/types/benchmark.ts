// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface BenchmarkPair {
  key: string;
  value: string;
}
