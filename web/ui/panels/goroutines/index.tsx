import type { PanelProps } from "../panel.ts";

export function Goroutines(_: PanelProps) {
  return null;
}
