/** Tables as text for other programs. */

/** field writes a value of a cell as loupe's -format csv does; a stack is one field. */
function plain(v: unknown): string {
  return v === null || v === undefined ? "" : Array.isArray(v) ? v.join(";") : String(v);
}

function quoted(s: string): string {
  return /[",\r\n]/.test(s) || /^\s/.test(s) || s === "\\." ? '"' + s.replaceAll('"', '""') + '"' : s;
}

/** csv writes lines of values, with commas. */
export function csv(lines: Iterable<readonly unknown[]>): string {
  let text = "";
  for (const l of lines) text += l.map((v) => quoted(plain(v))).join(",") + "\n";
  return text;
}

/** tsv writes lines of text for a spreadsheet's paste: tabs and line ends within a cell become spaces. */
export function tsv(lines: Iterable<readonly string[]>): string {
  let text = "";
  for (const l of lines) text += l.map((s) => s.replace(/[\t\r\n]+/g, " ")).join("\t") + "\n";
  return text;
}
