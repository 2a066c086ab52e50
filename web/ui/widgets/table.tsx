/** A table of any length: sorted, searched and walked through by keyboard; only what is seen is in the page. */
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Table as Sheet, TableColumn } from "../api/types.ts";
import { csv as csvOf, tsv } from "../base/csv.ts";
import { download, say } from "../base/dom.ts";
import { count } from "../base/units.ts";
import { store, stored } from "../model/prefs.ts";
import { printing } from "../model/printing.ts";
import { arrange, window as part } from "../model/rows.ts";
import { failed, toast } from "../model/toasts.ts";
import { Icon } from "./icon.tsx";

/** rowHeight is the height of a row in CSS pixels, as in widgets.css. */
const rowHeight = 24;

/** searchFrom is the number of rows from which finding one needs help. */
const searchFrom = 8;

/** printed is how many rows go on paper. */
const printed = 2000;

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

/** csv writes the rows of a table, as loupe's -format csv does. */
export function csv(t: Sheet, rows: readonly number[]): string {
  return csvOf([(t.columns ?? []).map((c) => c.key), ...rows.map((r) => t.values?.[r] ?? [])]);
}

/** useColumns returns the columns that are shown, by their number, and what changes that. */
function useColumns(t: Sheet): { seen: readonly number[]; hidden: ReadonlySet<string>; flip: (key: string) => void } {
  const name = "hide." + t.key;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set((stored(name) ?? "").split(",").filter(Boolean)));
  const columns = t.columns ?? [];
  const some = columns.map((_, i) => i).filter((i) => !hidden.has(columns[i]!.key));
  return {
    seen: some.length ? some : columns.map((_, i) => i), hidden,
    flip(key) {
      const next = new Set(hidden);
      if (!next.delete(key)) next.add(key);
      setHidden(next);
      store(name, [...next].join(","));
    },
  };
}

/** turned is what a click on the head of a column sorts by: its natural way first, then the other, then the table's own order. */
export function turned(by: string, c: TableColumn): string {
  const ways = c.left ? [c.key, "-" + c.key, ""] : ["-" + c.key, c.key, ""];
  return ways[(ways.indexOf(by === "" ? " " : by) + 1) % ways.length]!;
}

export function Table({ of: t, label, rows = 20, cell, onRow, rowClass, selected, sort, bare }: TableProps) {
  const columns = t.columns ?? [], shown = (t.shown ?? []) as readonly string[][];
  const id = useId();
  const { seen, hidden, flip } = useColumns(t);
  const [by, setBy] = useState(sort ?? "");
  const [text, setText] = useState("");
  // The place that the keyboard is at; row -1 is the heads, and the column counts the seen ones.
  const [at, setAt] = useState<{ row: number; column: number }>({ row: 0, column: 0 });
  const [top, setTop] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const list = useMemo(() => arrange(shown, (t.values ?? []) as readonly unknown[][], text, columns.findIndex((c) => c.key === by.replace(/^-/, "")), by.startsWith("-")), [t, by, text]);

  // The chosen row is brought into sight when something else has chosen it.
  useEffect(() => {
    if (selected === undefined || selected === null || !box.current) return;
    const place = list.indexOf(selected);
    if (place < 0) return;
    const y = place * rowHeight, b = box.current;
    if (y < b.scrollTop || y + 2 * rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = Math.max(0, y - b.clientHeight / 2);
  }, [selected, list]);

  const here = { row: Math.min(at.row, list.length - 1), column: Math.min(at.column, seen.length - 1) };
  const { first, last } = printing.value ? { first: 0, last: Math.min(list.length, printed) } : part(list.length, top, rowHeight, rows);
  const named = columns.findIndex((c) => c.left);
  const move = (row: number, column: number): void => {
    row = Math.min(list.length - 1, Math.max(-1, row));
    column = Math.min(seen.length - 1, Math.max(0, column));
    setAt({ row, column });
    const b = box.current;
    if (!b) return;
    const y = Math.max(0, row) * rowHeight;
    if (y < b.scrollTop) b.scrollTop = y;
    else if (y + 2 * rowHeight > b.scrollTop + b.clientHeight) b.scrollTop = y + 2 * rowHeight - b.clientHeight;
    setTop(b.scrollTop);
    requestAnimationFrame(() => b.querySelector(".here")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
  };
  const turn = (c: TableColumn): void => {
    const next = turned(by, c);
    setBy(next);
    say(next === "" ? "in the table's order" : `sorted by ${c.head}, ${next.startsWith("-") ? "descending" : "ascending"}`);
  };
  const copy = (what: string, told: string): void => {
    navigator.clipboard.writeText(what).then(() => toast(told), failed);
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.target !== box.current || e.altKey) return;
    const page = Math.max(1, rows - 1), all = list.length + 1, wide = seen.length;
    const control = e.ctrlKey || e.metaKey;
    const steps: Record<string, [number, number]> = control ? { Home: [-all, -wide], End: [all, wide] } : {
      ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], PageDown: [page, 0], PageUp: [-page, 0], Home: [0, -wide], End: [0, wide],
    };
    const step = steps[e.key], row = list[here.row], column = seen[here.column];
    if (step) {
      // A page up, or the way to the first row, ends there and not on the heads.
      const to = here.row + step[0];
      move(step[0] < -1 && here.row >= 0 ? Math.max(0, to) : to, here.column + step[1]);
    } else if (e.key === "Enter" && here.row < 0 && column !== undefined) {
      turn(columns[column]!);
    } else if (e.key === "Enter" && onRow && row !== undefined) {
      onRow(row);
    } else if (e.key === "c" && control && !e.shiftKey && !getSelection()?.toString() && row !== undefined && column !== undefined) {
      copy(shown[row]![column] ?? "", "Cell copied.");
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  const name = label ?? (t.title || t.key);
  if (shown.length === 0) {
    return (
      <section class="table">
        {t.title ? <h3>{t.title}</h3> : null}
        {(t.notes?.length ? t.notes : ["Nothing to list."]).map((n) => <p class="note" key={n}>{n}</p>)}
      </section>
    );
  }
  return (
    <section class="table">
      {(t.title || !bare) && (
        <div class="tablehead">
          {t.title ? <h3>{t.title}</h3> : null}
          {!bare && shown.length > searchFrom ? (
            <input type="search" placeholder="Filter" aria-label={"filter " + name} value={text} onInput={(e) => { setText(e.currentTarget.value); if (box.current) box.current.scrollTop = 0; setTop(0); }} />
          ) : null}
          {!bare ? <span class="muted" role="status">{text ? `${count(list.length)} of ${count(shown.length)}` : count(shown.length)}</span> : null}
          {!bare ? (
            <>
              <button type="button" class="quiet" aria-label={"copy " + name} onClick={() => copy(tsv([seen.map((c) => columns[c]!.head), ...list.map((r) => seen.map((c) => shown[r]![c] ?? ""))]), "Table copied.")}>Copy</button>
              <button type="button" class="quiet" aria-label={"save " + name + " as CSV"} onClick={() => download(t.key + ".csv", csv(t, list), "text/csv")}>CSV</button>
              {columns.length > 3 ? <Columns of={columns} hidden={hidden} flip={flip} name={name} /> : null}
            </>
          ) : null}
        </div>
      )}
      <div class="rows" ref={box} tabIndex={0} role="grid" aria-label={name} aria-rowcount={list.length + 1} aria-colcount={seen.length} aria-readonly="true"
        aria-activedescendant={here.row < 0 || here.row >= first && here.row < last ? `${id}-${here.row}-${here.column}` : undefined}
        style={{ maxHeight: (rows + 1) * rowHeight + 4 + "px" }} onScroll={(e) => setTop(e.currentTarget.scrollTop)} onKeyDown={keys}>
        <table role="presentation">
          <thead role="rowgroup">
            <tr role="row" aria-rowindex={1}>
              {seen.map((c, n) => {
                const { key, head, left } = columns[c]!;
                const down = by === "-" + key, up = by === key;
                return (
                  <th key={key} id={`${id}--1-${n}`} role="columnheader" class={(left ? "left" : "") + (c === named ? " named" : "") + (here.row < 0 && n === here.column ? " here" : "")}
                    aria-colindex={n + 1} aria-sort={down ? "descending" : up ? "ascending" : "none"}>
                    <button type="button" tabIndex={-1} onClick={() => turn(columns[c]!)}>{head}{down ? " ▾" : up ? " ▴" : ""}</button>
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {first > 0 ? <tr style={{ height: first * rowHeight + "px" }} role="presentation"><td colSpan={seen.length} role="presentation" /></tr> : null}
            {list.slice(first, last).map((r, n) => (
              <tr key={r} role="row" aria-rowindex={first + n + 2} aria-selected={selected === undefined ? undefined : r === selected}
                class={[r === selected ? "selected" : "", rowClass?.(r) ?? "", onRow ? "open" : "", first + n === here.row ? "at" : ""].join(" ")}
                onClick={() => { setAt({ row: first + n, column: here.column }); onRow?.(r); }}>
                {seen.map((c, i) => (
                  <td key={columns[c]!.key} id={`${id}-${first + n}-${i}`} role="gridcell" aria-colindex={i + 1} title={shown[r]![c]}
                    class={(columns[c]!.left ? "left" : "") + (c === named ? " named" : "") + (first + n === here.row && i === here.column ? " here" : "")}>
                    {cell ? cell(r, c, shown[r]![c]!) : shown[r]![c]}
                  </td>
                ))}
              </tr>
            ))}
            {last < list.length ? <tr style={{ height: (list.length - last) * rowHeight + "px" }} role="presentation"><td colSpan={seen.length} role="presentation" /></tr> : null}
          </tbody>
        </table>
      </div>
      {printing.value && list.length > printed ? <p class="note">{count(list.length - printed)} more rows are not on paper; CSV has them all.</p> : null}
      {(t.notes ?? []).map((n) => <p class="note" key={n}>{n}</p>)}
    </section>
  );
}

/** Columns chooses which columns are shown; the browser remembers it. */
function Columns({ of, hidden, flip, name }: { of: readonly TableColumn[]; hidden: ReadonlySet<string>; flip: (key: string) => void; name: string }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  return (
    <div class="columns" ref={box} onKeyDown={(e) => {
      if (e.key !== "Escape" || !open) return;
      e.stopPropagation();
      setOpen(false);
      box.current?.querySelector("button")?.focus();
    }} onFocusOut={(e) => { if (e.relatedTarget && !e.currentTarget.contains(e.relatedTarget as Node)) setOpen(false); }}>
      <button type="button" class="quiet" aria-label={"columns of " + name} title="columns" aria-expanded={open} onClick={() => setOpen(!open)}><Icon of="columns" /></button>
      {open ? (
        <div role="group" aria-label={"columns of " + name} tabIndex={-1}>
          {of.map((c) => <label key={c.key}><input type="checkbox" checked={!hidden.has(c.key)} onChange={() => flip(c.key)} /> {c.head || c.key}</label>)}
        </div>
      ) : null}
    </div>
  );
}
