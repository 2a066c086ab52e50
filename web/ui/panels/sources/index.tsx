/** The list of what can be looked at. */
import { list } from "../../model/source.ts";
import { formatRoute } from "../../model/route.ts";
import { Empty, Waiting } from "../../widgets/ask.tsx";

export function Sources() {
  const all = list.value;
  if (!all) return <Waiting />;
  return (
    <>
      <h1>What to look at</h1>
      {all.sources?.length ? (
        <ul class="sources">
          {all.sources.map((s) => (
            <li key={s.id}>
              <a href={formatRoute({ source: s.id, view: "overview", params: {} })}>{s.name}</a> <span class="muted">{s.live ? "being written" : s.kind}</span>
            </li>
          ))}
        </ul>
      ) : <Empty><p>There is nothing yet. Record something: <code>loupe run ./cmd/server</code></p></Empty>}
    </>
  );
}
