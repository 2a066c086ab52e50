import type { PanelProps } from "../panel.ts";

export function Overview(_: PanelProps) {
  return null;
}
