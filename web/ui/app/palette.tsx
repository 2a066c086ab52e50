/** Everything that can be done, by name; every source; and every key. */
import { useState } from "preact/hooks";
import { localCommands } from "../model/commands.ts";
import { keys, setKeys, shownKey, standard, type Action } from "../model/keys.ts";
import { go, route, viewRoute } from "../model/route.ts";
import { list } from "../model/source.ts";
import { Chooser, type Option } from "../widgets/chooser.tsx";
import { Dialog } from "../widgets/dialog.tsx";
import { commands, open } from "./commands.ts";
import { views } from "./views.ts";

const close = (): void => void (open.value = "");

/** lastPart is what distinguishes the names of files: the folder is told behind it. */
export function lastPart(name: string): { last: string; folder: string } {
  const one = !name.includes(", ");
  const at = one ? name.replace(/\/+$/, "").lastIndexOf("/") : -1;
  return at < 0 ? { last: name, folder: "" } : { last: name.slice(at + 1), folder: name.slice(0, at) };
}

/** searches look for what was typed in the views that can. */
function searches(text: string): Option[] {
  if (text.length < 2 || !route.value.source) return [];
  return (["profile", "timeline", "goroutines"] as const).map((view) => ({
    id: "find " + view, name: `Find ${text}`, detail: view === "profile" ? "functions of the profile" : "in the " + views.find((v) => v.id === view)!.name.toLowerCase(),
    run: () => go(viewRoute(view, { q: text })),
  }));
}

/** sources are what can be opened, in the view that is shown. */
function sources(prefix: string): Option[] {
  const { source, view } = route.value;
  return (list.value?.sources ?? []).map((s) => {
    const { last, folder } = lastPart(s.name);
    const stays = views.find((v) => v.id === view)?.panel ? view : "overview";
    return {
      id: "source " + s.id, name: prefix + last, detail: [folder, s.live ? "being written" : s.kind === "recording" ? "" : s.kind].filter(Boolean).join(" · "),
      marked: s.id === source && !prefix, run: () => go(viewRoute(stays, {}, s.id)),
    };
  });
}

export function Palette() {
  const local: Option[] = localCommands.value.map((c, i) => ({ id: "local " + i + c.name, ...c, detail: "in this view" }));
  const all: Option[] = commands().map((c) => ({ id: c.name, ...c }));
  const [typed, setTyped] = useState("");
  return <Chooser title="Do something" placeholder="Go to, open, find a function…" of={[...local, ...all, ...sources("Open ")]} more={searches(typed.trim())} onType={setTyped} onClose={close} />;
}

export function SourcePicker() {
  return <Chooser title="What to look at" placeholder="Find a recording or file" of={sources("")} onClose={close} />;
}

/** changeable says what the keys that can be changed do. */
const changeable: Record<Action, string> = {
  go: "Go to a view: then its letter", search: "Search in this view", undo: "Undo navigation", redo: "Redo navigation", whole: "Show the full time range",
  link: "Copy a link to this view", help: "This help",
};

export function Help() {
  const { on, of } = keys.value;
  const twice = new Set(Object.values(of).filter((k, i, all) => all.indexOf(k) !== i));
  const rows = (all: readonly { name: string; keys?: string }[]) => (
    <dl class="keys">
      {all.filter((c) => c.keys).map((c) => <div key={c.name}><dt><kbd>{c.keys}</kbd></dt><dd>{c.name}</dd></div>)}
    </dl>
  );
  return (
    <Dialog title="Keys" onClose={close} wide>
      {localCommands.value.some((c) => c.keys) ? <section><h3>This view</h3>{rows(localCommands.value)}</section> : null}
      <section>
        <h3>Everywhere</h3>
        {rows([
          { name: "Search commands", keys: "Ctrl K" }, ...(on ? [{ name: changeable.search, keys: shownKey(of.search) }] : []), ...commands(),
          { name: "Back and forward, as in any page", keys: "Alt ← →" },
        ])}
      </section>
      <section>
        <h3>Tables</h3>
        {rows([
          { name: "Move to another cell; up from the first row to the column headers", keys: "← ↑ → ↓" }, { name: "First and last cell of the row", keys: "Home End" }, { name: "First and last row", keys: "Ctrl Home End" },
          { name: "A page of rows", keys: "PageUp PageDown" }, { name: "Open the row; on a column header, sort", keys: "Enter" }, { name: "Copy the cell", keys: "Ctrl C" },
        ])}
      </section>
      <section>
        <h3>Single keys</h3>
        <p><label><input type="checkbox" checked={on} onChange={() => setKeys({ on: !on, of })} /> work anywhere on the page</label></p>
        {on ? (
          <div class="remap">
            {(Object.keys(changeable) as Action[]).map((a) => (
              <label key={a}>
                <input value={of[a]} maxLength={2} size={2} autocomplete="off" spellcheck={false} aria-invalid={twice.has(of[a])}
                  onFocus={(e) => e.currentTarget.select()} onInput={(e) => {
                    const typed = [...e.currentTarget.value].filter((c) => c.trim() && c !== of[a]).at(-1);
                    if (typed) setKeys({ on, of: { ...of, [a]: typed } });
                    e.currentTarget.value = typed ?? of[a];
                    e.currentTarget.select();
                  }} /> {changeable[a]}
              </label>
            ))}
          </div>
        ) : null}
        {twice.size ? <p class="bad">{[...twice].map((k) => `"${k}"`).join(", ")} stands for more than one thing: the first of them happens.</p> : null}
        {on && (Object.keys(standard) as Action[]).some((a) => of[a] !== standard[a]) ? <p><button type="button" onClick={() => setKeys({ on, of: standard })}>Reset to defaults</button></p> : null}
        <p class="muted">Shortcuts of a chart work while it has focus, regardless of these settings.</p>
      </section>
    </Dialog>
  );
}
