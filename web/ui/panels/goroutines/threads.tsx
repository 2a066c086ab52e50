/** The threads of a core: what each was executing, and its registers. */
import { useEffect } from "preact/hooks";
import { count } from "../../base/units.ts";
import { localCommands } from "../../model/commands.ts";
import { param, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";
import { CoreSelect } from "../../widgets/cores.tsx";
import { Frames } from "../../widgets/frames.tsx";
import { Registers } from "./failure.tsx";

export function Threads({ source }: { source: string }) {
  const core = param("core");
  const page = useAnswer("core/threads", { s: source, core });
  useEffect(() => {
    localCommands.value = [{ name: "Goroutines instead of threads", run: () => set({ tab: undefined }) }];
    return () => (localCommands.value = []);
  }, []);
  return (
    <>
      <h2 class="unseen">Threads</h2>
      <CoreSelect source={source} label="Threads of" value={core} onChange={(path) => set({ core: path })} />
      <Answer of={page} source={source}>
        {(p) => p && (
          <>
            <p class="muted">{count(p.total)} {p.total === 1 ? "thread" : "threads"}, leaf first, with what they had in their registers.</p>
            {(p.threads ?? []).map((t) => (
              <details key={t.title} class={"gothread" + (t.dying ? " dying" : "")} open={t.dying || p.total === 1}>
                <summary><b>{t.title}</b>{t.dying ? <span class="gograve"> ended the program</span> : null} <code class="muted">{t.frames?.[0]?.function}</code></summary>
                {t.frames?.length ? <Frames of={t.frames} /> : <p class="muted">No Go function is on this stack.</p>}
                {t.more > 0 ? <p class="muted">and {count(t.more)} more frames</p> : null}
                <Registers of={t.registers ?? []} />
              </details>
            ))}
            {p.total > (p.threads?.length ?? 0) ? <p class="note">{count(p.total - (p.threads?.length ?? 0))} more threads are not shown; loupe core threads -n 0 lists them.</p> : null}
          </>
        )}
      </Answer>
    </>
  );
}
