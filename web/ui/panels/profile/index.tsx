import type { PanelProps } from "../panel.ts";

export function Profile(_: PanelProps) {
  return null;
}
