/** A call stack, leaf first, with ways to the source. */
import { post } from "../api/client.ts";
import type { FrameView, ParamView } from "../api/types.ts";
import { formatRoute, viewRoute } from "../model/route.ts";
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

/** Params are the arguments of a call with their values; what was perhaps not alive says so, and is paler. Core is where to ask what holds them. */
function Params({ of, core }: { of: readonly ParamView[]; core: string | undefined }) {
  return (
    <ul class="params" aria-label="arguments">
      {of.map((p, i) => {
        const addr = core && p.sure && /^(\*|\[\]|map\[|chan |<-chan )/.test(p.type) ? /0x[0-9a-f]{6,}/.exec(p.text)?.[0] : undefined;
        return (
          <li key={i} class={p.sure ? "" : "unsure"}>
            <code><b>{p.name}</b> <span class="muted">{p.type}</span> {p.text}</code>
            {addr ? <> <a href={formatRoute(viewRoute("heap", { core: core!, hold: addr }))} title={"what holds " + addr}>what holds it</a></> : null}
          </li>
        );
      })}
    </ul>
  );
}

/** Frames lists a stack. Core is the core that it is from. */
export function Frames({ of, core }: { of: readonly FrameView[]; core?: string | undefined }) {
  if (of.length === 0) return <p class="muted">No frames: its location is unknown.</p>;
  return (
    <ol class="frames">
      {of.map((f, i) => (
        <li key={i} class={f.created ? "created" : ""}>
          <code>{f.created ? <span class="muted">go statement in </span> : null}{f.function}<span class="muted">{f.args}{f.inlined ? " inlined" : ""}</span></code>
          <Place file={f.file} line={f.line} />
          {f.pc ? <span class="muted pc">{f.pc}</span> : null}
          {f.params?.length ? <Params of={f.params} core={core} /> : f.why && f.args && !f.inlined ? <span class="muted why">{f.why}</span> : null}
        </li>
      ))}
    </ol>
  );
}
