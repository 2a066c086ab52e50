/** Small pictures of 16 by 16 that stand beside words, or for one that is named otherwise. */

/** paths are drawn with a line of the colour of the text. */
const paths = {
  loupe: "M11 7A4 4 0 1 1 3 7a4 4 0 0 1 8 0M10 10l4 4",
  fleet: "M2 2.500h12v3H2zM2 6.500h12v3H2zM2 10.500h12v3H2zM4.500 4h.5M4.500 8h.5M4.500 12h.5",
  overview: "M2 9h5V2H2zM9 14h5V7H9zM2 14h5v-3H2zM9 5h5V2H9z",
  timeline: "M2 3h7M5 6.5h8M2 10h5M9 10h5M4 13.500h6",
  profile: "M2 13h12M3 10h10M4 7h5M11 7h1M5 4h2",
  gc: "M13 8a5 5 0 1 1-1.500-3.500M13 2v3h-3",
  scheduler: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
  requests: "M2 4h12M2 8h7M2 12h10M9 6.500v3M12 10.500v3",
  load: "M2 13V9M5 13V6M8 13V3M11 13V7M14 13v-3",
  goroutines: "M3 3v10M3 5c4 0 3 4 7 4h3M10.500 6.500 13 9l-2.500 2.500",
  heap: "M8 1.500 14 5v6l-6 3.500L2 11V5zM2 5l6 3.500L14 5M8 8.500v6",
  benchmarks: "M8 4a5 5 0 1 0 0 10A5 5 0 0 0 8 4M8 9V6M6.500 1.500h3",
  compare: "M8 2v12M6 5H2M6 8H3M6 11H1.500M10 5h2M10 8h4M10 11h1",
  rules: "M2 4l1 1 2-2M2 8.500l1 1 2-2M2 13l1 1 2-2M8 4h6M8 8.500h6M8 13h6",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1",
  moon: "M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7",
  help: "M5.500 6a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .7-1 1.700M8 12.500v.5",
  search: "M11 7A4 4 0 1 1 3 7a4 4 0 0 1 8 0M10 10l4 4",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6l4 4 4-4",
  fold: "M9 4 5 8l4 4M13 4 9 8l4 4",
  unfold: "M7 4l4 4-4 4M3 4l4 4-4 4",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  save: "M8 2v8M5 7l3 3 3-3M2.500 11v3h11v-3",
  link: "M7 9a2.500 2.500 0 0 0 3.500 0l2-2A2.500 2.500 0 0 0 9 3.500L8 4.500M9 7a2.500 2.500 0 0 0-3.500 0l-2 2A2.500 2.500 0 0 0 7 12.500l1-1",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ of }: { of: IconName }) {
  return (
    <svg class="icon" width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={paths[of]} />
    </svg>
  );
}
