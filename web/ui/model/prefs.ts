/** Settings of this browser: how a person works, not what is looked at, which is in the address. */

/** stored reads a setting; null where there is none or the browser forbids it. */
export function stored(name: string): string | null {
  try {
    return localStorage.getItem("loupe." + name);
  } catch {
    return null;
  }
}

/** store keeps a setting; "" forgets it. */
export function store(name: string, value: string): void {
  try {
    if (value) localStorage.setItem("loupe." + name, value);
    else localStorage.removeItem("loupe." + name);
  } catch {
    // then it holds for this page
  }
}
