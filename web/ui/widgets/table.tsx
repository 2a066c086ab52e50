/** A table of any length: sorted, searched and walked through by keyboard; only what is seen is in the page. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Table as Sheet } from "../api/types.ts";
import { download, say } from "../base/dom.ts";
import { count } from "../base/units.ts";

/** rowHeight is the height of a row in CSS pixels, as in theme.css. */
const rowHeight = 24;

export interface TableProps {
  of: Sheet;
  /** label names the table for people who do not see it; else its title does. */
  label?: string;
  /** height is how many rows are shown before the table scrolls. */
  rows?: number;
  /** cell replaces what a cell shows. */
  cell?: (row: number, column: number, shown: string) => ComponentChildren;
  /** onRow is called when a row is opened by click or Enter. */
  onRow?: (row: number) => void;
  /** rowClass marks rows. */
  rowClass?: (row: number) => string | undefined;
  /** selected is the number of the chosen row. */
  selected?: number | null;
  /** sort is the key of the column that sorts at first, with "-" for descending. */
  sort?: string;
  /** bare leaves the search field and the buttons out. */
  bare?: boolean;
}

/** order compares values of cells: numbers by size, all else as text; what is unknown comes last. */
function order(a: unknown, b: unknown, down: boolean): number {
  const none = (v: unknown): boolean => v === null || v === undefined || v === "";
  if (none(a) || none(b)) return none(a) === none(b) ? 0 : none(a) ? 1 : -1;
  const n = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -n : n;
}

/** csv writes the rows of a table, as loupe's -format csv does. */
export function csv(t: Sheet, rows: readonly number[]): string {
  const field = (v: unknown): string => {
    const s = v === null || v === undefined ? "" : Array.isArray(v) ? v.join(";") : String(v);
    return /[",\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
  };
  const lines = [(t.columns ?? []).map((c) => field(c.key)).join(",")];
  for (const r of rows) lines.push((t.values?.[r] ?? []).map(field).join(","));
  return lines.join("\n") + "\n";
}

export function Table({ of: t, label, rows = 20, cell, onRow, rowClass, selected, sort, bare }: TableProps) {
  const columns = t.columns ?? [], shown = t.shown ?? [];
  const [by, setBy] = useState(sort ?? "");
  const [text, setText] = useState("");
  const [at, setAt] = useState<{ row: number; column: number }>({ row: 0, column: 0 });
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);

  const list = useMemo(() => {
    const wanted = text.toLowerCase();
    const list: number[] = [];
    for (let i = 0; i < shown.length; i++) {
      if (!wanted || shown[i]!.some((c) => c.toLowerCase().includes(wanted))) list.push(i);
    }
    const down = by.startsWith("-"), column = columns.findIndex((c) => c.key === by.replace("-", ""));
    if (column >= 0) {
      const v = t.values ?? [];
      list.sort((a, b) => order(v[a]?.[column], v[b]?.[column], down) || a - b);
    }
    return list;
  }, [t, by, text]);

  // The chosen row is brought into sight when something else has chosen it.
  useEffect(() => {
    if (selected === undefined || selected === null || !box.current) return;
    const place = list.indexOf(selected);
    if (place < 0) return;
    const y = place * rowHeight, b = box.current;
    if (y < b.scrollTop || y + 2 * rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = Math.max(0, y - b.clientHeight / 2);
  }, [selected, list]);

  const first = Math.max(0, Math.floor(top / rowHeight) - 5), last = Math.min(list.length, first + rows + 12);
  const move = (row: number, column: number): void => {
    row = Math.min(list.length - 1, Math.max(0, row));
    column = Math.min(columns.length - 1, Math.max(0, column));
    setAt({ row, column });
    const b = box.current;
    if (b) {
      const y = row * rowHeight;
      if (y < b.scrollTop) b.scrollTop = y;
      else if (y + 2 * rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = y + 2 * rowHeight - b.clientHeight;
    }
    const r = list[row];
    if (r !== undefined) say(columns.map((c, i) => c.head + " " + shown[r]![i]).join(", "));
  };
  const keys = (e: KeyboardEvent): void => {
    const page = Math.max(1, rows - 1);
    const steps: Record<string, [number, number]> = {
      ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageDown: [page, 0], PageUp: [-page, 0],
      Home: [-list.length, 0], End: [list.length, 0],
    };
    const step = steps[e.key];
    if (step && !e.altKey && !e.ctrlKey && !e.metaKey) {
      move(at.row + step[0], at.column + step[1]);
    } else if (e.key === "Enter" && onRow && list[at.row] !== undefined) {
      onRow(list[at.row]!);
    } else if (e.key === "c" && (e.ctrlKey || e.metaKey) && !getSelection()?.toString()) {
      void navigator.clipboard?.writeText(shown[list[at.row]!]?.[at.column] ?? "");
      say("copied");
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const name = label ?? t.title ?? t.key;
  if (shown.length === 0) {
    return (
      <section class="table">
        {t.title ? <h3>{t.title}</h3> : null}
        {(t.notes ?? ["There is nothing to list."]).map((n) => <p class="note" key={n}>{n}</p>)}
      </section>
    );
  }
  return (
    <section class="table">
      {(t.title || !bare) && (
        <div class="tablehead">
          {t.title ? <h3>{t.title}</h3> : <span />}
          {!bare && shown.length > 8 ? (
            <input type="search" placeholder="Filter" aria-label={"filter " + name} value={text} onInput={(e) => { setText(e.currentTarget.value); if (box.current) box.current.scrollTop = 0; }} />
          ) : null}
          {!bare ? <span class="muted">{text ? `${count(list.length)} of ${count(shown.length)}` : count(shown.length)}</span> : null}
          {!bare ? <button type="button" class="quiet" onClick={() => download(t.key + ".csv", csv(t, list), "text/csv")}>CSV</button> : null}
        </div>
      )}
      <div class="rows" ref={box} tabIndex={0} role="grid" aria-label={name} aria-rowcount={list.length + 1} aria-colcount={columns.length}
        style={{ maxHeight: (rows + 1) * rowHeight + 4 + "px" }} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={keys}>
        <table role="presentation">
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((c) => {
                const down = by === "-" + c.key, up = by === c.key;
                return (
                  <th key={c.key} role="columnheader" class={c.left ? "left" : ""} aria-sort={down ? "descending" : up ? "ascending" : "none"}>
                    <button type="button" tabIndex={-1} onClick={() => setBy(down ? c.key : "-" + c.key)}>{c.head}{down ? " ▾" : up ? " ▴" : ""}</button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {first > 0 ? <tr style={{ height: first * rowHeight + "px" }} role="presentation" /> : null}
            {list.slice(first, last).map((r, n) => (
              <tr key={r} role="row" aria-rowindex={first + n + 2} aria-selected={r === selected}
                class={[r === selected ? "selected" : "", rowClass?.(r) ?? "", onRow ? "open" : "", first + n === at.row ? "at" : ""].join(" ")}
                onClick={() => { setAt({ row: first + n, column: at.column }); onRow?.(r); }}>
                {columns.map((c, i) => (
                  <td key={c.key} role="gridcell" class={(c.left ? "left" : "") + (first + n === at.row && i === at.column ? " here" : "")} title={shown[r]![i]}>
                    {cell ? cell(r, i, shown[r]![i]!) : shown[r]![i]}
                  </td>
                ))}
              </tr>
            ))}
            {last < list.length ? <tr style={{ height: (list.length - last) * rowHeight + "px" }} role="presentation" /> : null}
          </tbody>
        </table>
      </div>
      {(t.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
    </section>
  );
}
