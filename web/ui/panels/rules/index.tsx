/** The catalogue of what loupe looks for. */
import { param, set } from "../../model/route.ts";
import { Answer, useAnswer } from "../../widgets/ask.tsx";

export function Rules() {
  const rules = useAnswer("rules");
  const wanted = param("rule");
  const text = param("q").toLowerCase();
  return (
    <>
      <h1>Rules</h1>
      <Answer of={rules}>
        {(list) => {
          const all = (list ?? []).flatMap((v) => (v.rule ? [{ ...v.rule, questions: v.asks ?? [] }] : []));
          const found = all.filter((r) => !text || (r.id + " " + r.title + " " + r.about).toLowerCase().includes(text));
          return (
            <>
              <p class="muted">What loupe looks for. Each rule lists the data it needs, its thresholds, and where they come from.</p>
              <input type="search" aria-label="filter rules" placeholder="Filter" value={param("q")} onInput={(e) => set({ q: e.currentTarget.value }, true)} />
              <p class="muted" role="status">{found.length} of {all.length}</p>
              <div class="rules">
                {found.map((r) => (
                  <details key={r.id} id={r.id} open={r.id === wanted || found.length === 1}>
                    <summary><code>{r.id}</code> {r.title}</summary>
                    <p>{r.about}</p>
                    {r.questions.map((q) => <p class="muted" key={q.asks}>Asks {q.asks}: {(q.from ?? []).join(", or ")}.</p>)}
                    {r.params?.length ? (
                      <table class="plain">
                        <thead><tr><th>threshold</th><th>value</th><th>from</th></tr></thead>
                        <tbody>{r.params.map((p) => <tr key={p.name}><td>{p.name}</td><td>{p.value} {p.unit}</td><td>{p.source}</td></tr>)}</tbody>
                      </table>
                    ) : null}
                  </details>
                ))}
              </div>
            </>
          );
        }}
      </Answer>
    </>
  );
}
