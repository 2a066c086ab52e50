import type { PanelProps } from "../panel.ts";

export function Scheduler(_: PanelProps) {
  return null;
}
