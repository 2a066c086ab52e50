/**
 * What can be done from anywhere: by key, and by name in the command palette.
 * Single keys work only where nothing is being typed, and can be turned off.
 */
import { signal } from "@preact/signals";
import { typing } from "../base/dom.ts";
import { go, redo, route, setRange, undo, viewRoute } from "../model/route.ts";
import { list } from "../model/source.ts";
import { toggle } from "../model/theme.ts";
import { views } from "./views.ts";

export interface Command {
  readonly name: string;
  /** keys shows what to press: "g then t". */
  readonly keys?: string;
  readonly run: () => void;
}

/** open is which window lies over the page. */
export const open = signal<"" | "palette" | "help">("");

/** local are the commands and keys of the view that is shown; a view sets them when it comes and takes them back when it goes. */
export { localCommands } from "../model/commands.ts";

export function commands(): Command[] {
  const all: Command[] = [];
  for (const v of views) {
    all.push({ name: "Go to " + v.name, keys: "g then " + v.key, run: () => go(viewRoute(v.id)) });
  }
  for (const s of list.value?.sources ?? []) {
    all.push({ name: "Open " + s.name, run: () => go({ source: s.id, view: "overview", params: {} }) });
  }
  all.push(
    { name: "Undo navigation", keys: "z", run: undo },
    { name: "Redo navigation", keys: "Shift z", run: redo },
    { name: "Show the whole recording", keys: "0", run: () => setRange(null) },
    { name: "Copy a link to what is shown", keys: "y", run: () => void navigator.clipboard?.writeText(location.href) },
    { name: "Light or dark", keys: "", run: toggle },
    { name: "Print", run: () => print() },
    { name: "Keys and help", keys: "?", run: () => (open.value = "help") },
    { name: "Turn single keys " + (single.value ? "off" : "on"), run: () => (single.value = !single.value) },
  );
  return all;
}

/** single tells whether single keys do anything. */
export const single = signal(true);

let pending = 0; // when g was pressed

/** press does what a key stands for, true when it stands for something. */
export function press(e: KeyboardEvent): boolean {
  if (e.code === "KeyK" && (e.ctrlKey || e.metaKey)) {
    open.value = "palette";
    return true;
  }
  if (typing(e) || e.ctrlKey || e.metaKey || e.altKey || !single.value || open.value !== "") return false;
  if (e.timeStamp - pending < 1500 && pending > 0) {
    pending = 0;
    const v = views.find((v) => v.key === e.key);
    if (v && route.value.source) {
      go(viewRoute(v.id));
      return true;
    }
    return false;
  }
  switch (e.key) {
    case "g": pending = e.timeStamp; return true;
    case "?": open.value = "help"; return true;
    case "/": {
      const field = document.querySelector<HTMLInputElement>("main input[type=search]");
      field?.focus();
      field?.select();
      return field !== null;
    }
    case "z": undo(); return true;
    case "Z": redo(); return true;
    case "0": setRange(null); return true;
    case "y": void navigator.clipboard?.writeText(location.href); return true;
  }
  return false;
}
