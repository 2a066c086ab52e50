/** Whether the page is being printed: then tables show more than what is in sight. */
import { options } from "preact";
import { signal } from "@preact/signals";

export const printing = signal(false);

/** watchPrinting begins to look. The page must have changed when the event is over, so nothing is put off. */
export function watchPrinting(): void {
  const turn = (on: boolean) => (): void => {
    const before = options.debounceRendering;
    options.debounceRendering = (render) => render();
    printing.value = on;
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  };
  addEventListener("beforeprint", turn(true));
  addEventListener("afterprint", turn(false));
}
