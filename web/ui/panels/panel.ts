/** What every view is given. A view reads the rest of its settings from model/route.ts. */
import type { SourceInfo } from "../api/types.ts";

export interface PanelProps {
  readonly source: SourceInfo;
}
