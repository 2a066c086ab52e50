/** Lanes: what they are called, what their classes mean and look like. */
import type { LaneOnAxis, TaskLane } from "../api/types.ts";
import { bytes, count, duration } from "../base/units.ts";

export type LaneKind = "proc" | "thread" | "gc" | "goroutine" | "group" | "counter" | "latency" | "task";

/** Lane is a lane with a key that stays its own when the lanes are numbered anew. */
export interface Lane extends LaneOnAxis {
  readonly key: string;
  /** version is that of the set in which it has its number. */
  readonly version: number;
  /** task is the user's task that the lane is of. Its spans are all here; lanes of other kinds have tiles. */
  readonly task?: TaskLane;
}

/** Texture is how a pattern lays its colour over the ground. */
export type Texture = "solid" | "hatch" | "diagonal" | "sparse" | "dots" | "dashes" | "check";

/** Class is one state of a kind of lane. */
export interface Class {
  readonly name: string;
  /** colour is a custom property of the theme. */
  readonly colour: string;
  readonly texture: Texture;
  /** share is how much of the lane's height it takes when it takes all of the time: waiting is half as high as doing. */
  readonly share: number;
  /** top ones hang from the top. */
  readonly top?: boolean;
  /** rare ones have a tick where they would be too small to be seen. */
  readonly rare?: boolean;
}

const none: Class = { name: "", colour: "idle", texture: "solid", share: 0 };

// A colour has one meaning in all pictures: purple is marking, whoever does it, magenta
// the part of it that is asked of who allocates, and light purple is sweeping.
const goroutine: readonly Class[] = [
  { name: "runs", colour: "running", texture: "solid", share: 1 },
  { name: "runnable", colour: "runnable", texture: "solid", share: 1, top: true },
  { name: "GC work", colour: "mark", texture: "solid", share: 1, rare: true },
  { name: "syscall", colour: "syscall", texture: "hatch", share: 1 },
  { name: "sync", colour: "sync", texture: "solid", share: 0.5 },
  { name: "chan", colour: "chan", texture: "dots", share: 0.5 },
  { name: "network", colour: "net", texture: "dashes", share: 0.5 },
  { name: "sleeps or other", colour: "sleep", texture: "solid", share: 0 },
];

/** classesOf are the states of a kind of lane, by number. */
export const classesOf: Record<LaneKind, readonly Class[]> = {
  goroutine,
  group: goroutine.map((c) => ({ ...c, share: 1, rare: false, top: false, colour: c.colour === "sleep" ? "idle" : c.colour })),
  proc: [
    { name: "runs", colour: "running", texture: "solid", share: 1 },
    { name: "GC work", colour: "mark", texture: "solid", share: 1 },
    { name: "syscall", colour: "syscall", texture: "hatch", share: 1 },
    { name: "mark assist", colour: "assist", texture: "diagonal", share: 1, rare: true },
    { name: "sweep", colour: "sweep", texture: "sparse", share: 1 },
    { name: "stop-the-world", colour: "stw", texture: "solid", share: 1, rare: true },
    { name: "scheduler", colour: "sleep", texture: "dots", share: 0.5 },
    { name: "idle", colour: "idle", texture: "solid", share: 0 },
  ],
  thread: [
    { name: "has a P", colour: "running", texture: "solid", share: 1 },
    { name: "syscall", colour: "syscall", texture: "hatch", share: 1 },
    none, none, none, none, none,
    { name: "parked", colour: "idle", texture: "solid", share: 0 },
  ],
  gc: [
    { name: "mark", colour: "mark", texture: "solid", share: 1 },
    { name: "stop-the-world", colour: "stw", texture: "solid", share: 1, rare: true },
    { name: "sweep", colour: "sweep", texture: "sparse", share: 0.5 },
    none, none, none, none,
    { name: "off", colour: "idle", texture: "solid", share: 0 },
  ],
  counter: [],
  latency: [],
  task: [
    { name: "in a region", colour: "running", texture: "solid", share: 1 },
    { name: "task", colour: "net", texture: "dashes", share: 0.5 },
    none, none, none, none, none,
    { name: "not started or finished", colour: "idle", texture: "solid", share: 0 },
  ],
};

/** heights are how high lanes of each kind are, in CSS pixels. */
export const heights: Record<LaneKind, number> = { proc: 18, thread: 16, gc: 18, goroutine: 18, group: 30, counter: 36, latency: 66, task: 18 };

/** dense is how high a goroutine's lane is where many are to be seen at once. */
export const dense = 8;

/** figure prints a value of a counter: those of the heap are bytes. */
export function figure(lane: Lane, v: number): string {
  return /heap|memory|bytes/i.test(lane.name) ? bytes(v) : Math.abs(v) >= 1000 ? count(v) : String(Number(v.toPrecision(3)));
}

/** keyOf names a lane in an address: "g12", "p3", "m1234", "gc", "latency", "fn:main.worker", "n:goroutines running". */
export function keyOf(l: { kind: string; subject: number; name: string }): string {
  switch (l.kind) {
    case "proc": return "p" + l.subject;
    case "thread": return "m" + l.subject;
    case "goroutine": return "g" + l.subject;
    case "group": return "fn:" + l.name;
    case "counter": return "n:" + l.name;
    case "task": return "t" + l.subject;
    default: return l.kind;
  }
}

/** laneOf gives a lane of an answer its key. */
export function laneOf(l: LaneOnAxis, version: number): Lane {
  return { ...l, key: keyOf(l), version };
}

/** laneOfTask makes a lane of a task. */
export function laneOfTask(t: TaskLane, version: number): Lane {
  return {
    id: -1, kind: "task", subject: t.id, name: t.name, group: 0, members: 0, start: t.start_ns, end: t.end_ns, spans: t.spans?.length ?? 0, base: -1, exact: false,
    key: "t" + t.id, version, task: t,
  };
}

/** short leaves of a function's name what tells it from others: "http.(*conn).serve". */
export function short(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** title is what a lane is called. */
export function title(l: Lane): string {
  switch (l.kind as LaneKind) {
    case "proc": return "P " + l.subject;
    case "thread": return "M " + l.subject;
    case "gc": return "GC";
    case "latency": return "wait for a P";
    case "goroutine": return "g" + l.subject;
    case "task": return (l.name || "task") + " " + l.subject;
    case "group": return (short(l.name) || "unknown") + " ×" + count(l.members);
    default: return l.name;
  }
}

/** about says more of a lane than its title. */
export function about(l: Lane): string {
  switch (l.kind as LaneKind) {
    case "goroutine": return l.name ? "g" + l.subject + " " + l.name : "g" + l.subject;
    case "group": return `${l.name || "unknown"}: ${count(l.members)} ${l.members === 1 ? "goroutine" : "goroutines"} started with this function`;
    case "latency": return "scheduling latency: how long goroutines were runnable before they ran; brighter means more of them, higher means longer";
    case "task": return `task ${l.subject} ${l.name}: ${count(l.task?.regions ?? 0)} ${l.task?.regions === 1 ? "region" : "regions"}, ${duration(l.end - l.start)}`;
    case "gc": return "garbage collection: mark phases, stop-the-world and sweep";
    default: return title(l);
  }
}
