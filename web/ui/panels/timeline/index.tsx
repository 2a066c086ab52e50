import type { PanelProps } from "../panel.ts";

export function Timeline(_: PanelProps) {
  return null;
}
