/** Light and dark. The setting is this browser's and not part of the address. */
import { effect, signal } from "@preact/signals";
import { store, stored } from "./prefs.ts";

export type Theme = "light" | "dark";

const chosen = (): Theme | null => {
  const t = stored("theme");
  return t === "light" || t === "dark" ? t : null;
};

const prefersDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

/** theme is what is shown. */
export const theme = signal<Theme>("light");

/** begin follows the system until the user has chosen. */
export function begin(): void {
  theme.value = chosen() ?? (prefersDark() ? "dark" : "light");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!chosen()) theme.value = prefersDark() ? "dark" : "light";
  });
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

/** toggle changes it, and remembers. */
export function toggle(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  store("theme", theme.value);
}
