// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface FleetChange {
  function: string;
  change: number;
  low: number;
  high: number;
  old: number;
  new: number;
  false: number;
  shown: string;
}

export interface FleetCost {
  type: string;
  head: string;
  means: string;
}

export interface FleetFigure {
  shown: string;
  value: number;
  before: string;
  course: (number | null)[];
  profiled: number;
}

export interface FleetFunction {
  name: string;
  file: string;
  costs: (FleetShare | null)[] | null;
}

export interface FleetFunctions {
  from_ms: number;
  until_ms: number;
  step_ms: number;
  costs: FleetCost[] | null;
  functions: FleetFunction[] | null;
  others: number;
  exact: boolean;
}

export interface FleetIncident {
  at_ms: number;
  service: string;
  target: string;
  rule: string;
  why: string;
  again: number;
  source: string;
  note: string;
  size: string;
  folder: string;
  download: string;
}

export interface FleetIncidents {
  watches: boolean;
  rules: FleetRule[] | null;
  incidents: FleetIncident[] | null;
}

export interface FleetLargest {
  at_ms: number;
  value: number;
  shown: string;
  labels: string;
  span: string;
  trace: string;
  source: string;
}

export interface FleetLine {
  name: string;
  select: string;
  source: string;
  shown: string;
  value: number;
  before: string;
  course: (number | null)[];
  profiled: number;
}

export interface FleetLines {
  from_ms: number;
  until_ms: number;
  step_ms: number;
  types: FleetCost[] | null;
  labels: string[] | null;
  type: string;
  by: string;
  unit: string;
  lines: FleetLine[] | null;
  others: number;
  source: string;
  before: string;
}

export interface FleetPin {
  name: string;
  select: string;
  from_ms: number;
  until_ms: number;
  reason: string;
}

export interface FleetPins {
  pins: FleetPin[] | null;
}

export interface FleetRegressions {
  from_ms: number;
  until_ms: number;
  step_ms: number;
  type: string;
  of: string;
  releases: FleetRelease[] | null;
  services: number;
  left: number;
}

export interface FleetRelease {
  service: string;
  label: string;
  old: string;
  new: string;
  at_ms: number;
  beside: boolean;
  before: string;
  after: string;
  judged: number;
  more: FleetChange[] | null;
  less: FleetChange[] | null;
  others: number;
  note: string;
}

export interface FleetRule {
  rule: string;
  targets: number;
  known: number;
}

export interface FleetService {
  name: string;
  select: string;
  source: string;
  before: string;
  costs: (FleetFigure | null)[] | null;
}

export interface FleetServices {
  from_ms: number;
  until_ms: number;
  step_ms: number;
  costs: FleetCost[] | null;
  services: FleetService[] | null;
  newest_ms: number;
}

export interface FleetShare {
  self: number;
  total: number;
  self_shown: string;
  total_shown: string;
}

export interface FleetSpread {
  from_ms: number;
  until_ms: number;
  step_ms: number;
  type: string;
  head: string;
  unit: string;
  of: string;
  count: number;
  rolled_up: number;
  columns: number;
  rows: number;
  low: number;
  growth: number;
  most: number;
  cells: number[] | null;
  largest: FleetLargest[] | null;
}

export interface FleetTarget {
  url: string;
  service: string;
  taken: number;
  last_ms: number;
  every: string;
  cost: string;
  error: string;
}

export interface FleetTargets {
  targets: FleetTarget[] | null;
  asks: boolean;
}
