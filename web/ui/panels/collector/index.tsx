import type { PanelProps } from "../panel.ts";

export function Collector(_: PanelProps) {
  return null;
}
