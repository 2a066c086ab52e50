/** Small things about the page itself. */

/** download gives the user a file. */
export function download(name: string, data: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([data], { type }));
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** typing tells whether a key belongs to a field that the user writes in. */
export function typing(e: KeyboardEvent): boolean {
  const t = e.target;
  return t instanceof HTMLElement && (t.isContentEditable || t instanceof HTMLTextAreaElement || t instanceof HTMLSelectElement ||
    t instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(t.type));
}

/** say tells people who do not see the page what has happened. */
export function say(text: string): void {
  const live = document.getElementById("said");
  if (live) live.textContent = text;
}
