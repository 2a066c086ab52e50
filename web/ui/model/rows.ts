/** Which rows of a table are shown, and in which order. */

/** none tells whether a cell has no value. */
const none = (v: unknown): boolean => v === null || v === undefined || v === "" || typeof v === "number" && Number.isNaN(v);

const words = new Intl.Collator("en", { numeric: true });

/** order compares values of cells: numbers by size, all else as text; what is unknown comes last either way. */
export function order(a: unknown, b: unknown, down: boolean): number {
  if (none(a) || none(b)) return none(a) === none(b) ? 0 : none(a) ? 1 : -1;
  const n = typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
  return down ? -n : n;
}

/** arrange returns the numbers of the rows that hold a text, sorted by a column; equal ones stay in the order of the table. */
export function arrange(shown: readonly (readonly string[])[], values: readonly (readonly unknown[])[], text: string, column: number, down: boolean): number[] {
  const wanted = text.trim().toLowerCase();
  const list: number[] = [];
  for (let i = 0; i < shown.length; i++) {
    if (!wanted || shown[i]!.some((c) => c.toLowerCase().includes(wanted))) list.push(i);
  }
  if (column >= 0) list.sort((a, b) => order(values[a]?.[column], values[b]?.[column], down));
  return list;
}

/** window returns which rows of many are in the page: those in sight, and some around them. */
export function window(count: number, top: number, rowHeight: number, rows: number): { first: number; last: number } {
  const first = Math.max(0, Math.min(Math.floor(top / rowHeight) - 5, count - rows - 12));
  return { first, last: Math.min(count, first + rows + 12) };
}
