/**
 * Single keys that work anywhere on the page. They can be turned off and
 * changed, for people who speak to their computer and for other keyboards;
 * the keys of pictures work only while the picture has the focus.
 */
import { signal } from "@preact/signals";
import { store, stored } from "./prefs.ts";

/** standard says what each action's key is unless it was changed. */
export const standard = { go: "g", help: "?", search: "/", undo: "z", redo: "Z", whole: "0", link: "y" } as const;

export type Action = keyof typeof standard;

/** Keys are those that hold; on is false when none does. */
export interface Keys {
  readonly on: boolean;
  readonly of: Readonly<Record<Action, string>>;
}

/** readKeys reads what writeKeys has written; anything else is the standard. */
export function readKeys(text: string | null): Keys {
  const of: Record<Action, string> = { ...standard };
  let on = true;
  try {
    const v = JSON.parse(text ?? "{}") as Record<string, unknown>;
    on = v["on"] !== false;
    for (const a of Object.keys(standard) as Action[]) {
      const k = v[a];
      if (typeof k === "string" && [...k].length === 1) of[a] = k;
    }
  } catch {
    // not ours
  }
  return { on, of };
}

/** writeKeys writes what differs from the standard. */
export function writeKeys(k: Keys): string {
  const changed: Record<string, unknown> = k.on ? {} : { on: false };
  for (const a of Object.keys(standard) as Action[]) {
    if (k.of[a] !== standard[a]) changed[a] = k.of[a];
  }
  return Object.keys(changed).length ? JSON.stringify(changed) : "";
}

export const keys = signal<Keys>(readKeys(stored("keys")));

/** setKeys changes them, and remembers. */
export function setKeys(k: Keys): void {
  keys.value = k;
  store("keys", writeKeys(k));
}

/** action is what a key stands for. */
export function action(key: string): Action | null {
  const { on, of } = keys.value;
  return on ? (Object.keys(of) as Action[]).find((a) => of[a] === key) ?? null : null;
}

/** shownKey prints a key as people call it: "Shift z". */
export function shownKey(key: string): string {
  return key !== key.toLowerCase() ? "Shift " + key.toLowerCase() : key;
}
