/** The fleet view, whose script comes when it is first shown. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../api/client.ts";
import { Trouble, Waiting } from "../widgets/ask.tsx";

export function Fleet() {
  const [view, setView] = useState<{ of: ComponentType } | null>(null), [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    import("../panels/fleet/index.tsx").then((m) => setView({ of: m.Fleet }), (e: unknown) => setProblem(new Problem("The view cannot be loaded: " + String(e), false)));
  }, []);
  if (problem) return <Trouble of={problem} />;
  return view ? <view.of /> : <Waiting />;
}
