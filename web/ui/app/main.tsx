/** The page begins here. */
import { render } from "preact";
import { listen } from "../api/events.ts";
import { first } from "../api/first.ts";
import { isFile, unpack } from "../api/held.ts";
import { watchPrinting } from "../model/printing.ts";
import { route } from "../model/route.ts";
import { current, list } from "../model/source.ts";
import { begin } from "../model/theme.ts";
import { goToOnly, Shell } from "./shell.tsx";

export * from "./shared.ts";

begin();
if (isFile) await unpack();
else listen();
watchPrinting();
start();
const app = document.getElementById("app")!;
app.textContent = "";
render(<Shell />, app);

/** start shows what the page was sent with; the only source there is need not be chosen. */
function start(): void {
  const { sources, source } = first;
  list.value = sources ?? null;
  goToOnly(sources);
  if (source && route.value.source === source.id) current.value = source;
}
