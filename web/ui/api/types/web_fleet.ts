// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

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
