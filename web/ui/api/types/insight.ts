// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface InsightCard {
  finding: number;
  symptoms?: number[];
  gain?: InsightGain;
  through?: InsightThrough;
}

export interface InsightEvidence {
  text: string;
  path?: string;
  phase?: string;
  file?: string;
  short?: string;
  line?: number;
  function?: string;
  source?: string;
  stack?: InsightFrame[];
  span_ns?: number[];
  about?: string;
}

export interface InsightFinding {
  rule: string;
  title: string;
  state: string;
  severity?: string;
  score: number;
  summary: string;
  impact?: InsightImpact;
  evidence?: InsightEvidence[];
  advice?: string;
  verify?: string;
  prove?: string;
  doubts?: string[];
}

export interface InsightFrame {
  function: string;
  file?: string;
  line?: number;
}

export interface InsightGain {
  of: string;
  share: number;
  low: number;
  high: number;
  per_request_ns?: number;
  lines?: number;
  line?: number;
  more?: boolean;
  beyond?: string;
}

export interface InsightImpact {
  value: number;
  unit: string;
  low: number;
  high: number;
}

export interface InsightParam {
  name: string;
  value: number;
  unit: string;
  source: string;
}

export interface InsightRule {
  id: string;
  title: string;
  about: string;
  asks: string[] | null;
  params: InsightParam[] | null;
  part?: boolean;
  measurement?: boolean;
  aside?: boolean;
}

export interface InsightThrough {
  share: number;
  line?: number;
  at: InsightEvidence;
}
