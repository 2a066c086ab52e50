/**
 * What the script of the fleet view takes from this one: it is loaded where there is a
 * store of profiles, and not in the pages of a recording. The bundle makes its imports of
 * these (web/tools/bundle.go), and its test says which are missing.
 */
export { useEffect, useState } from "preact/hooks";
export { Fragment, jsx, jsxs } from "preact/jsx-runtime";
export { post } from "../api/client.ts";
export { bytes, count, duration, number } from "../base/units.ts";
export { paintHeat } from "../draw/heat.ts";
export { localCommands } from "../model/commands.ts";
export { formatRoute, param, route, set } from "../model/route.ts";
export { linearMarks, logMarks, Plot } from "../tracks/plot.tsx";
export { Answer, Empty, useAnswer } from "../widgets/ask.tsx";
