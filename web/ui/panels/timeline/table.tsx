/** The lanes that are seen as a table. */
import { Table } from "../../widgets/table.tsx";
import { duration } from "../../base/units.ts";
import { seen } from "../../model/viewport.ts";
import type { Stage } from "./stage.ts";
import { tableOf } from "./tell.ts";

export function TableTwin({ stage }: { stage: Stage }) {
  stage.shape.value;
  const v = stage.settled.value, s = v ? seen(v) : stage.seen;
  return (
    <section class="tl-table">
      <h2>The lanes that are seen, over {duration(s.end - s.start)}</h2>
      <Table of={tableOf(stage)} label="visible lanes" rows={16} />
    </section>
  );
}
