// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.

export interface ReportComparisonRow {
  id: string;
  name: string;
  better: string;
  key: boolean;
  shown: string[] | null;
  rounds: (number[] | null)[] | null;
  rounds_shown: (string[] | null)[] | null;
  change: string;
  ratio: number | null;
  p: number | null;
  p_shown: string;
  confidence: number;
  verdict: string;
}

export interface ReportDrawing {
  width: number;
  height: number;
  legend: string[] | null;
  boxes: ReportDrawingBox[] | null;
  lines: ReportDrawingLine[] | null;
}

export interface ReportDrawingBox {
  x: number;
  y: number;
  w: number;
  h: number;
  text: string[] | null;
  size: number;
  share: number;
  tip: string;
  function: string;
}

export interface ReportDrawingLine {
  from: number;
  to: number;
  text: string[] | null;
  share: number;
  width: number;
  dashed: boolean;
  tip: string;
  points: number[] | null;
  head: number[] | null;
  label: number[] | null;
}
