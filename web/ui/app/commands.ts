/**
 * What can be done from anywhere: by key, and by name in the command palette.
 * Single keys work only where nothing is being typed, and can be turned off.
 */
import { signal } from "@preact/signals";
import { address } from "../api/client.ts";
import { isFile } from "../api/held.ts";
import { say, typing } from "../base/dom.ts";
import { action, keys, setKeys, shownKey } from "../model/keys.ts";
import { go, range, rangeParams, redo, route, setRange, undo } from "../model/route.ts";
import { axis } from "../model/source.ts";
import { toggle } from "../model/theme.ts";
import { toast } from "../model/toasts.ts";
import { routeOf, there } from "./views.ts";

export interface Command {
  readonly name: string;
  /** keys shows what to press: "g then t". */
  readonly keys?: string;
  readonly run: () => void;
}

/** open is which window lies over the page. */
export const open = signal<"" | "palette" | "sources" | "help">("");

/** commands are those of every view. */
export function commands(): Command[] {
  const { on, of } = keys.value;
  const key = (k: string): { keys?: string } => (on ? { keys: k } : {});
  const all: Command[] = [];
  for (const v of there()) {
    if (route.value.source || !v.panel) all.push({ name: "Go to " + v.name, ...key(shownKey(of.go) + " then " + v.key), run: () => go(routeOf(v)) });
  }
  all.push({ name: "Open another source", run: () => (open.value = "sources") });
  if (axis.value) {
    all.push({ name: "Show the full time range", ...key(shownKey(of.whole)), run: () => setRange(null) });
    all.push({ name: "Enter a time range", run: () => document.querySelector<HTMLInputElement>(".range input")?.focus() });
  }
  all.push(
    { name: "Undo navigation", ...key(shownKey(of.undo)), run: undo },
    { name: "Redo navigation", ...key(shownKey(of.redo)), run: redo },
    { name: "Copy a link to this view", ...key(shownKey(of.link)), run: copyLink },
    { name: "Light or dark theme", run: toggle },
    ...(route.value.source && !isFile ? [{ name: "Export page as one file", run: exportPage }] : []),
    { name: "Print, or save as PDF", run: () => setTimeout(print) },
    { name: "Keyboard shortcuts and help", ...key(shownKey(of.help)), run: () => (open.value = "help") },
    { name: "Turn single-key shortcuts " + (on ? "off" : "on"), run: () => setKeys({ on: !on, of }) },
  );
  return all;
}

/** exportPage saves everything that the views show at first, of the whole time and the range, as one file. */
export function exportPage(): void {
  const a = document.createElement("a");
  a.href = address("export", { s: route.value.source, ...rangeParams() });
  a.download = "loupe.html";
  a.click();
  toast("The file will contain the initial state of each view. It is being generated and will then be saved by the browser.");
}

/** copyLink copies the address of what is shown. */
export function copyLink(): void {
  navigator.clipboard.writeText(location.href).then(
    () => toast("Link copied. It works on this machine while this loupe is running."),
    () => toast("The browser does not allow copying: copy the link from the address bar.", true),
  );
}

let pending = 0; // when g was pressed

/** press does what a key stands for, true when it stands for something. */
export function press(e: KeyboardEvent): boolean {
  if (e.code === "KeyK" && (e.ctrlKey || e.metaKey) && !e.shiftKey && !e.altKey) {
    open.value = open.value === "palette" ? "" : "palette";
    return true;
  }
  if (typing(e) || e.ctrlKey || e.metaKey || e.altKey || open.value !== "") return false;
  const a = action(e.key);
  if (pending > 0 && e.timeStamp - pending < 1500 && keys.value.on) {
    pending = 0;
    const v = there().find((v) => v.key === e.key);
    if (v && (route.value.source || !v.panel)) {
      go(routeOf(v));
      return true;
    }
    return false;
  }
  switch (a) {
    case "go":
      pending = e.timeStamp;
      return true;
    case "help": open.value = "help"; return true;
    case "search": {
      const field = document.querySelector<HTMLInputElement>("main input[type=search]");
      if (!field) open.value = "palette";
      field?.focus();
      field?.select();
      return true;
    }
    case "undo": undo(); return true;
    case "redo": redo(); return true;
    case "whole":
      if (range.value) say("full range");
      setRange(null);
      return true;
    case "link": copyLink(); return true;
  }
  return false;
}
