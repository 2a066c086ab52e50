/** Everything that can be done, by name. */
import { useState } from "preact/hooks";
import { Dialog } from "../widgets/dialog.tsx";
import { commands, localCommands, open } from "./commands.ts";

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const words = text.toLowerCase().split(/\s+/);
  const found = [...localCommands.value, ...commands()].filter((c) => words.every((w) => c.name.toLowerCase().includes(w))).slice(0, 40);
  const close = (): void => void (open.value = "");
  const run = (i: number): void => {
    close();
    found[i]?.run();
  };
  const keys = (e: KeyboardEvent): void => {
    if (e.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
    else if (e.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (e.key === "Enter") run(at);
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title="Do something" onClose={close}>
      <input type="search" autofocus list={undefined} role="combobox" aria-expanded="true" aria-controls="found" aria-activedescendant={"found" + at} aria-label="command"
        placeholder="Go to, open, export …" value={text} onInput={(e) => { setText(e.currentTarget.value); setAt(0); }} onKeyDown={keys} />
      <ul class="palette" id="found" role="listbox" aria-label="commands">
        {found.map((c, i) => (
          <li key={c.name} id={"found" + i} role="option" aria-selected={i === at} onClick={() => run(i)} onPointerMove={() => setAt(i)}>
            {c.name}
            {c.keys ? <kbd>{c.keys}</kbd> : null}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

export function Help() {
  const close = (): void => void (open.value = "");
  const list = (title: string, all: readonly { name: string; keys?: string }[]) => (
    <section>
      <h3>{title}</h3>
      <dl class="keys">
        {all.filter((c) => c.keys).map((c) => <div key={c.name}><dt><kbd>{c.keys}</kbd></dt><dd>{c.name}</dd></div>)}
      </dl>
    </section>
  );
  return (
    <Dialog title="Keys" onClose={close} wide>
      {localCommands.value.length ? list("This view", localCommands.value) : null}
      {list("Everywhere", [{ name: "Do anything by name", keys: "Ctrl K" }, { name: "Search in this view", keys: "/" }, ...commands()])}
      <p class="muted">Single keys can be turned off in the list of Ctrl K. Tables: arrows, Page, Home, End, Enter opens, Ctrl C copies a cell.</p>
    </Dialog>
  );
}
