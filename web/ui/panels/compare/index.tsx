import type { PanelProps } from "../panel.ts";

export function Compare(_: PanelProps) {
  return null;
}
