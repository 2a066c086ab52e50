/** The source of a function with the weight of each line, why it allocates, and what it was compiled to. */
import { useMemo, useState } from "preact/hooks";
import { post } from "../../api/client.ts";
import type { SourceRoutine, SourceShown } from "../../api/types.ts";
import { list } from "../../model/source.ts";
import { failed } from "../../model/toasts.ts";

/** piece is a stretch of a line of Go and what it is: k a keyword, s a string, c a comment. */
interface Piece {
  readonly text: string;
  readonly kind: "" | "k" | "s" | "c";
}

const token = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:\\.|[^"\\])*"?|`[^`]*`?|'(?:\\.|[^'\\])*'?)|\b(break|case|chan|const|continue|default|defer|else|fallthrough|for|func|go|goto|if|import|interface|map|package|range|return|select|struct|switch|type|var)\b/g;

/** pieces tells the words of a line apart. What spans lines is not known, which costs a colour and no more. */
export function pieces(line: string): Piece[] {
  const out: Piece[] = [];
  let last = 0;
  for (const m of line.matchAll(token)) {
    if (m.index > last) out.push({ text: line.slice(last, m.index), kind: "" });
    out.push({ text: m[0], kind: m[1] ? "c" : m[2] ? "s" : "k" });
    last = m.index + m[0].length;
  }
  if (last < line.length) out.push({ text: line.slice(last), kind: "" });
  return out;
}

export function Source({ of }: { of: SourceShown }) {
  return <>{(of.routines ?? []).map((r) => <Routine key={r.name + r.file} of={r} />)}</>;
}

function Routine({ of: r }: { of: SourceRoutine }) {
  const lines = r.lines ?? [], go = r.file.endsWith(".go");
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const most = useMemo(() => Math.max(1, ...lines.map((l) => Math.abs(l.flat.value || l.cum.value / 4))), [lines]);
  const edit = (line: number): void => {
    post("edit", { file: r.file, line }).catch(failed);
  };
  const flip = (n: number): void => {
    const next = new Set(open);
    if (!next.delete(n)) next.add(n);
    setOpen(next);
  };
  const coded = lines.filter((l) => l.code?.length).map((l) => l.number);
  return (
    <section>
      <h2 class="ph">{r.name} <span class="muted">{r.file} · {r.flat.shown} itself, {r.cum.shown} with what it calls</span></h2>
      {r.error ? <p class="note">No text: {r.error}. The lines with a weight are below.</p> : null}
      {coded.length ? <p><button type="button" onClick={() => setOpen(open.size ? new Set() : new Set(coded))}>{open.size ? "Fold the instructions" : "Expand all instructions"}</button></p> : null}
      <div class="psource" tabIndex={0} role="region" aria-label={"source of " + r.name}>
        <table>
          <thead><tr><th scope="col">flat</th><th scope="col">cum</th><th scope="col">line</th><th scope="col" style={{ textAlign: "left" }}>text</th></tr></thead>
          <tbody>
            {lines.map((l) => {
              const heat = Math.min(1, Math.abs(l.flat.value || l.cum.value / 4) / most);
              return [
                <tr key={l.number} class={heat > 0 ? "hot" : ""} style={heat > 0 ? { "--heat": heat.toFixed(2) } : undefined}>
                  <td>{l.flat.value ? l.flat.shown : ""}</td>
                  <td>{l.cum.value ? l.cum.shown : ""}</td>
                  <td>{list.value?.editor ? <button type="button" class="quiet" title="open in the editor" onClick={() => edit(l.number)}>{l.number}</button> : l.number}</td>
                  <td class="text">
                    {go ? pieces(l.text).map((p, i) => (p.kind ? <span key={i} class={"p" + p.kind}>{p.text}</span> : p.text)) : l.text}
                    {l.code?.length ? <button type="button" class="quiet" aria-expanded={open.has(l.number)} onClick={() => flip(l.number)}>{open.has(l.number) ? "▾" : "▸"} {l.code.length} instructions</button> : null}
                  </td>
                </tr>,
                ...(l.why ?? []).map((w, i) => (
                  <tr key={l.number + "w" + i} class="why"><td colSpan={3}>{w.shown}</td><td class="text">{w.certainty === "ambiguous" ? "one of: " : ""}{(w.reasons ?? []).join("; ")}</td></tr>
                )),
                ...(open.has(l.number) ? l.code! : []).map((c) => (
                  <tr key={c.address + l.number} class="asm"><td>{c.flat.value ? c.flat.shown : ""}</td><td>{c.cum.value ? c.cum.shown : ""}</td><td>{c.address}</td><td class="text">{c.text}{c.inlined ? "   // " + c.inlined : ""}</td></tr>
                )),
              ];
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
