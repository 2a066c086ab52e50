import type { PanelProps } from "../panel.ts";

export function Benchmarks(_: PanelProps) {
  return null;
}
