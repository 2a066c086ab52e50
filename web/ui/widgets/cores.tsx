/** Choosing a core where there are several. */
import { Answer, useAnswer } from "./ask.tsx";

export function CoreSelect({ source, label, value, onChange, first }: { source: string; label: string; value: string; onChange: (path: string) => void; first?: string }) {
  const ends = useAnswer("core/ends", { s: source }), list = ends.value ?? [];
  if (list.length < 2) return ends.error ? <Answer of={ends}>{() => null}</Answer> : null;
  return (
    <label class="goshot">
      {label}{" "}
      <select value={value || first || list[0]!.path} onChange={(e) => onChange(e.currentTarget.value)}>
        {list.map((c) => <option key={c.path} value={c.path}>{c.name.slice(-80)}</option>)}
      </select>
    </label>
  );
}
