/** Light and dark. The setting is this browser's and not part of the address. */
import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const stored = (): Theme | null => {
  try {
    const t = localStorage.getItem("loupe.theme");
    return t === "light" || t === "dark" ? t : null;
  } catch {
    return null; // a browser may forbid it
  }
};

const prefersDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

/** theme is what is shown. */
export const theme = signal<Theme>("light");

/** begin follows the system until the user has chosen. */
export function begin(): void {
  theme.value = stored() ?? (prefersDark() ? "dark" : "light");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (!stored()) theme.value = prefersDark() ? "dark" : "light";
  });
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
  });
}

/** toggle changes it, and remembers. */
export function toggle(): void {
  theme.value = theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("loupe.theme", theme.value);
  } catch {
    // then it holds for this page
  }
}
