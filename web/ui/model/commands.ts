/** What can be done in the view that is shown, for the palette and the help. */
import { signal } from "@preact/signals";

export interface LocalCommand {
  readonly name: string;
  readonly keys?: string;
  readonly run: () => void;
}

/** localCommands are those of the view that is shown: it sets them when it comes and empties them when it goes. */
export const localCommands = signal<readonly LocalCommand[]>([]);
