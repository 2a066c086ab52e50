import type { PanelProps } from "../panel.ts";

export function Load(_: PanelProps) {
  return null;
}
