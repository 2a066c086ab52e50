/** The page begins here. */
import { render } from "preact";
import { listen } from "../api/events.ts";
import { isFile, unpack } from "../api/held.ts";
import { watchPrinting } from "../model/printing.ts";
import { begin } from "../model/theme.ts";
import { Shell } from "./shell.tsx";

begin();
if (isFile) await unpack();
else listen();
watchPrinting();
const app = document.getElementById("app")!;
app.textContent = "";
render(<Shell />, app);
