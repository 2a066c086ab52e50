/** A call stack, leaf first, with ways to the source. */
import { post } from "../api/client.ts";
import type { FrameView } from "../api/types.ts";
import { list } from "../model/source.ts";
import { failed } from "../model/toasts.ts";

/** openSource opens a line in the user's editor. */
export function openSource(file: string, line: number): void {
  post("edit", { file, line }).catch(failed);
}

/** Place is a file and a line; it opens the editor where there is one. */
export function Place({ file, line }: { file: string; line: number }) {
  if (!file) return null;
  const short = file.split(/[/\\]/).slice(-2).join("/") + (line > 0 ? ":" + line : "");
  if (!list.value?.editor || !/^([/\\]|[A-Za-z]:)/.test(file)) return <span class="muted" title={file}>{short}</span>;
  return <button type="button" class="link" title={"open " + file + " in the editor"} onClick={() => openSource(file, line)}>{short}</button>;
}

/** Frames lists a stack. */
export function Frames({ of }: { of: readonly FrameView[] }) {
  if (of.length === 0) return <p class="muted">No frames: where it runs is not known.</p>;
  return (
    <ol class="frames">
      {of.map((f, i) => (
        <li key={i} class={f.created ? "created" : ""}>
          <code>{f.created ? <span class="muted">go statement in </span> : null}{f.function}<span class="muted">{f.args}{f.inlined ? " inlined" : ""}</span></code>
          <Place file={f.file} line={f.line} />
          {f.pc ? <span class="muted pc">{f.pc}</span> : null}
        </li>
      ))}
    </ol>
  );
}
