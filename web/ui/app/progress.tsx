/** What is being computed, once it takes longer than people like to wait. */
import { useEffect, useState } from "preact/hooks";
import { asking, stop } from "../api/client.ts";
import { jobs } from "../api/events.ts";
import { percent } from "../base/units.ts";

/** patience is how long an answer may take, in ms, before the page tells of it. */
const patience = 500;

export function Progress() {
  const busy = asking.value > 0;
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!busy) {
      setLate(false);
      return;
    }
    const timer = setTimeout(() => setLate(true), patience);
    return () => clearTimeout(timer);
  }, [busy]);
  if (!busy || !late) return null;
  const all = [...jobs.value.values()];
  const done = all.length ? Math.min(...all.map((j) => j.done)) : 0;
  return (
    <div class="strip" role="status">
      <div class={done > 0 ? "bar" : "bar moving"} style={done > 0 ? { width: percent(done) } : {}} />
      <div class="doing">
        <span>{all.length ? all.map((j) => j.job + (j.done > 0 ? " " + Math.round(j.done * 100) + "%" : "")).join(", ") : "computing"}</span>
        <button type="button" onClick={stop}>Stop</button>
      </div>
    </div>
  );
}
