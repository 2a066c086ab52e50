/** A window to find one of many things by typing a few letters of it. */
import { useMemo, useRef, useState } from "preact/hooks";
import { count } from "../base/units.ts";
import { Dialog } from "./dialog.tsx";

export interface Option {
  readonly id: string;
  readonly name: string;
  /** detail stands behind the name, and is searched too. */
  readonly detail?: string | undefined;
  readonly keys?: string | undefined;
  /** marked is the one that holds. */
  readonly marked?: boolean;
  readonly run: () => void;
}

/** most is how many of the options that fit are listed. */
const most = 60;

/**
 * match says how well an option fits what was typed: less is better, null is
 * not at all. All words must be in it; the beginning of a word counts more.
 */
export function match(o: { name: string; detail?: string | undefined }, typed: string): number | null {
  const name = o.name.toLowerCase(), all = name + " " + (o.detail ?? "").toLowerCase();
  let rank = 0;
  for (const w of typed.toLowerCase().split(/\s+/)) {
    if (!w) continue;
    const at = all.indexOf(w);
    if (at < 0) return null;
    if (name.startsWith(w)) rank += 0;
    else if (at < name.length && /[^\p{L}\p{N}]/u.test(all[at - 1] ?? " ")) rank += 1;
    else rank += at < name.length ? 2 : 3;
  }
  return rank;
}

/** find returns the options that fit, the best first. */
export function find(of: readonly Option[], typed: string): Option[] {
  const found: { o: Option; rank: number }[] = [];
  for (const o of of) {
    const rank = match(o, typed);
    if (rank !== null) found.push({ o, rank });
  }
  return (typed.trim() ? found.sort((a, b) => a.rank - b.rank) : found).map((f) => f.o);
}

export function Chooser({ title, placeholder, of, more, onType, onClose }: {
  title: string;
  placeholder: string;
  of: readonly Option[];
  /** more are found elsewhere for what was typed, and are not searched again. */
  more?: readonly Option[];
  onType?: (text: string) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const found = useMemo(() => [...find(of, text), ...(more ?? [])], [of, text, more]);
  const [at, setAt] = useState(() => Math.max(0, of.findIndex((o) => o.marked)));
  const box = useRef<HTMLUListElement>(null);
  const shown = found.slice(0, Math.max(most, at + 1));
  const run = (i: number): void => {
    const o = found[i];
    if (!o) return;
    onClose();
    o.run();
  };
  const to = (i: number): void => {
    i = Math.max(0, Math.min(found.length - 1, i));
    setAt(i);
    requestAnimationFrame(() => box.current?.children[i]?.scrollIntoView({ block: "nearest" }));
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.isComposing) return;
    switch (e.key) {
      case "ArrowDown": to(at + 1); break;
      case "ArrowUp": to(at - 1); break;
      case "PageDown": to(at + 10); break;
      case "PageUp": to(at - 10); break;
      case "Enter": run(at); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <input type="search" list={undefined} autofocus role="combobox" aria-expanded="true" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck={false}
        aria-activedescendant={shown.length ? "found" + at : undefined} aria-label={placeholder} placeholder={placeholder} value={text}
        onInput={(e) => { setText(e.currentTarget.value); setAt(0); onType?.(e.currentTarget.value); }} onKeyDown={keys} />
      <ul class="chooser" id="found" ref={box} role="listbox" aria-label={title}>
        {shown.map((o, i) => (
          <li key={o.id} id={"found" + i} role="option" aria-selected={i === at} onClick={() => run(i)} onPointerMove={() => at !== i && setAt(i)}>
            <span class="name">{o.name}</span>
            {o.marked ? <span class="muted">shown now</span> : null}
            {o.detail ? <span class="detail muted">{o.detail}</span> : null}
            {o.keys ? <kbd>{o.keys}</kbd> : null}
          </li>
        ))}
      </ul>
      <p class="muted" role="status">{found.length === 0 ? "No matches." : found.length > shown.length ? `${count(shown.length)} of ${count(found.length)}: type more to find the others` : ""}</p>
    </Dialog>
  );
}
