/** What the page was sent with: the answers to its first questions, so that it need not ask them. */
import type { SourceInfo, SourceList } from "./types.ts";

/** First is what there is: the sources, and of a single one what it is, unless that takes a while to find out. */
export interface First {
  readonly sources?: SourceList;
  readonly source?: SourceInfo;
}

function read(): First {
  try {
    return JSON.parse(document.getElementById("first")?.textContent ?? "") as First;
  } catch {
    return {}; // a file that is read without a server
  }
}

/** first is what the page was sent with. */
export const first: First = typeof document === "undefined" ? {} : read();
