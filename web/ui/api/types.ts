// Generated from the Go structs of package web by its TestTypes. Times are ns.

export interface AccessView {
  title: string;
  frames: FrameView[] | null;
}

export interface AgeBar {
  text: string;
  count: number;
}

export interface Amount {
  value: number;
  shown: string;
}

export interface Bars {
  key: string;
  title: string;
  from: (number | null)[];
  to: (number | null)[];
  count: (number | null)[];
  total: number;
  p50: number;
  p99: number;
  max: number;
}

export interface BenchCell {
  values: number[] | null;
  center: number;
  low: number;
  high: number;
  shown: string;
  range: string;
  delta: string;
  test: string;
  verdict: string;
}

export interface BenchRow {
  name: string;
  factor: number;
  digits: number;
  prefix: string;
  cells: BenchCell[] | null;
}

export interface BenchTable {
  config: BenchmarkPair[] | null;
  unit: string;
  better: number;
  files: string[] | null;
  table: Table | null;
  rows: BenchRow[] | null;
}

export interface BenchView {
  files: string[] | null;
  results: number;
  varying: string[] | null;
  problems: string[] | null;
  tables: BenchTable[] | null;
}

export interface BenchmarkPair {
  key: string;
  value: string;
}

export interface Brief {
  id: string;
  title: string;
  date: string;
  command: string;
  length: number;
  bytes: number;
  complete: boolean;
  error: string;
}

export interface ClassTime {
  class: number;
  name: string;
  spans: number;
  time_ns: number;
  longest_ns: number;
}

export interface CompareDiff {
  kinds: string[] | null;
  kind: string;
  types: string[] | null;
  type: string;
  page: Facts | null;
}

export interface CompareEncounter {
  kind: string;
  name: string;
  own?: boolean;
  time_ns: number;
  at: TimelineSpan;
}

export interface CompareSide {
  id: string;
  source: string;
  name: string;
  kinds: string[] | null;
  broken: string;
}

export interface CompareView {
  titles: string[] | null;
  rounds: number[] | null;
  rows: ReportComparisonRow[] | null;
  notes: string[] | null;
  gone: InsightFinding[] | null;
  new: InsightFinding[] | null;
  both: InsightFinding[] | null;
  regressed: boolean;
}

export interface CyclesPage {
  table: Table | null;
  start: number[] | null;
  end: number[] | null;
  pauses: Bars[] | null;
  cpu: TimeShare[] | null;
}

export interface Fact {
  key: string;
  head: string;
  shown: string;
  value: unknown;
}

export interface Facts {
  facts: Fact[] | null;
  tables: (Table | null)[] | null;
}

export interface FigurePage {
  of: string;
  figures: Table | null;
}

export interface Flame {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  views: FlameView[] | null;
  path: FlameStep[] | null;
  lost: boolean;
  names: string[] | null;
  files: string[] | null;
  classes: string;
  hits: string;
  flat: number[] | null;
  cum: number[] | null;
  signs: string;
  matched: number;
  matched_shown: string;
  base: number;
  base_shown: string;
}

export interface FlameStep {
  name: string;
  hash: string;
  weight: number;
  shown: string;
}

export interface FlameView {
  name: number[] | null;
  depth: number[] | null;
  weight: number[] | null;
  self: number[] | null;
  base: number[] | null;
  inline: number[] | null;
  narrow: number[] | null;
  narrow_weight: number[] | null;
  top: number;
  top_weight: number;
  total: number;
  width: number;
}

export interface FrameView {
  function: string;
  args: string;
  file: string;
  line: number;
  inlined: boolean;
  created: boolean;
  pc: string;
}

export interface GcPage {
  parts: GcPart[] | null;
}

export interface GcPart {
  title: string;
  figures: Table | null;
  notes: string[] | null;
}

export interface GoroutineLife {
  goroutine: number;
  function: string;
  span: TimelineSpan;
  within: TimelineSpan;
  page: Facts | null;
}

export interface GoroutineRow {
  key: string;
  leaked: boolean;
  suspect: string;
  entry: string;
}

export interface GoroutineText {
  id: number;
  title: string;
  frames: FrameView[] | null;
}

export interface GoroutineView {
  of: ShotItem;
  against: ShotItem | null;
  total: number;
  before: number;
  groups: Table | null;
  rows: GoroutineRow[] | null;
  states: Table | null;
  ages: AgeBar[] | null;
  suspects: string[] | null;
  panic: PanicView | null;
  races: RaceView[] | null;
  notes: string[] | null;
}

export interface GraphShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  drawing: ReportDrawing | null;
  classes: string;
}

export interface GroupTime {
  lane: number;
  name: string;
  members: number;
  classes: ClassTime[] | null;
}

export interface GroupView {
  title: string;
  stacks: StackView[] | null;
  more: number;
  goroutines: Table | null;
  places: number[] | null;
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
  doubts?: string[];
}

export interface InsightFrame {
  function: string;
  file?: string;
  line?: number;
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
  needs: string[] | null;
  instead?: string[];
  params: InsightParam[] | null;
}

export interface LabelKey {
  key: string;
  total: Amount;
  values: LabelValue[] | null;
  more: number;
}

export interface LabelValue {
  value: string;
  weight: Amount;
  share: number;
  filter: string;
}

export interface LabelsShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  keys: LabelKey[] | null;
}

export interface Lane {
  key: string;
  title: string;
  unit: string;
  shape: string;
  source?: string;
  top?: number;
  lines?: LaneLine[];
  heat?: LaneHeat;
  spans?: LaneSpans;
  note?: string;
  missing?: string;
}

export interface LaneContact {
  goroutine: number;
  function: string;
  at: number;
  stack: InsightFrame[] | null;
  made: boolean;
  reason: string;
  waited_ns: number;
  where: InsightFrame[] | null;
}

export interface LaneDropped {
  goroutines: number;
  minSpans: number;
  goroutineSpans: boolean;
  procSpans: boolean;
}

export interface LaneHeat {
  start: number;
  width: number;
  rows: (number | null)[];
  counts: (number | null)[];
}

export interface LaneLine {
  key: string;
  title: string;
  step?: boolean;
  at: number[] | null;
  mean: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
}

export interface LaneList {
  origin: number;
  rate: number;
  minLevel: number;
  top: number;
  span: TimelineSpan;
  version: number;
  done: number;
  dropped: LaneDropped;
  tasks: number;
  total: number;
  lanes: LaneOnAxis[] | null;
}

export interface LaneMoment {
  version: number;
  lane: LaneOnAxis;
  at: number;
  span: LaneSpan | null;
  before: LaneSpan | null;
  after: LaneSpan | null;
  stay: LaneStay | null;
  stop: string;
  cycle: number;
}

export interface LaneOnAxis {
  id: number;
  kind: string;
  subject: number;
  name: string;
  group: number;
  members: number;
  start: number;
  end: number;
  spans: number;
  base: number;
  exact: boolean;
}

export interface LaneSpan {
  start_ns: number;
  end_ns: number;
  class: number;
  name: string;
}

export interface LaneSpans {
  start: number[] | null;
  end: number[] | null;
  count: number[] | null;
  worst?: (number | null)[];
  row?: number[];
  label?: string[];
}

export interface LaneStack {
  span: TimelineSpan;
  lanes: (Lane | null)[] | null;
}

export interface LaneStay {
  goroutine: number;
  function: string;
  state: string;
  reason: string;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  proc: number;
  stack: InsightFrame[] | null;
  by: LaneContact | null;
  met: LaneContact[] | null;
  more: number;
}

export interface LoadBar {
  mark_ns: number;
  count: number;
}

export interface LoadItem {
  phase: string;
  profiler: string;
  round: number;
  url: string;
  model: string;
  open: boolean;
  requests: number;
  span: TimelineSpan;
  damage: string;
}

export interface LoadLine {
  name: string;
  share: number;
  step: number;
  values: number[] | null;
  need: number;
}

export interface LoadList {
  runs: LoadItem[] | null;
  table: Table | null;
}

export interface LoadMeeting {
  head: string;
  tables: (Table | null)[] | null;
}

export interface LoadOver {
  span: TimelineSpan;
  columns: number;
  rows: number;
  low_ns: number;
  growth: number;
  cells: number[] | null;
  most: number;
  lines: LoadLine[] | null;
  due: number[] | null;
  status: (number[] | null)[];
  failed: number[] | null;
  late_ns: number[] | null;
  flying: number[] | null;
  waiting: number[] | null;
}

export interface LoadPick {
  total: number;
  table: Table | null;
  requests: LoadRequest[] | null;
}

export interface LoadPoint {
  share: number;
  response_ns: number;
  service_ns: number;
  told: boolean;
}

export interface LoadRequest {
  id: string;
  span: TimelineSpan;
  goroutine: number;
  late_ns: number;
  dial_ns: number;
  write_ns: number;
  wait_ns: number;
  read_ns: number;
  failed: string;
  target: string;
  met: CompareEncounter[] | null;
}

export interface LoadView {
  phase: string;
  profiler: string;
  round: number;
  url: string;
  model: string;
  open: boolean;
  requests: number;
  span: TimelineSpan;
  damage: string;
  shown: TimelineSpan;
  page: Facts | null;
  over: LoadOver | null;
  bars: LoadBar[] | null;
  curve: LoadPoint[] | null;
  steps: Table | null;
  last: number;
}

export interface MmuPage {
  source: string;
  covers: TimelineSpan;
  windows: (number | null)[];
  least: (number | null)[];
  most: (number | null)[];
  table: Facts | null;
}

export interface Notice {
  kind: string;
  source?: string;
  version?: number;
  job?: string;
  done?: number;
}

export interface PanicView {
  kind: string;
  message: string;
  signal: string;
  values: string[] | null;
  first: GoroutineText | null;
  threads: ThreadView[] | null;
}

export interface PathStep {
  start_ns: number;
  end_ns: number;
  goroutine: number;
  state: string;
  reason: string;
  function: string;
  depth: number;
}

export interface Peeked {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  nodes: PeekedNode[] | null;
}

export interface PeekedEdge {
  name: string;
  class: number;
  weight: Amount;
  share: number;
  inline: boolean;
}

export interface PeekedNode {
  name: string;
  class: number;
  flat: Amount;
  cum: Amount;
  callers: PeekedEdge[] | null;
  callees: PeekedEdge[] | null;
}

export interface Problem {
  error: string;
  missing: boolean;
}

export interface RaceView {
  accesses: AccessView[] | null;
}

export interface Ranking {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  table: Table | null;
  classes: string;
  names: string[] | null;
}

export interface RecordingHost {
  os: string;
  arch: string;
  kernel?: string;
  cpu?: string;
  cpus: number;
  quota?: number;
  memory?: number;
  memory_limit?: number;
  virtual?: string;
  load: number;
  boot_id?: string;
}

export interface RecordingMark {
  at_ns: number;
  text: string;
}

export interface RecordingPhase {
  name: string;
  span: TimelineSpan;
  profiler?: string;
  round?: number;
  order?: number;
  run: number;
  user_ns: number;
  system_ns: number;
  max_rss?: number;
  error?: string;
}

export interface RecordingRun {
  pid: number;
  span: TimelineSpan;
  user_ns: number;
  system_ns: number;
  max_rss: number;
  exit?: string;
  stopped?: boolean;
}

export interface RecordingTarget {
  kind: string;
  name: string;
  args?: string[];
  dir?: string;
  env?: string[];
  package?: string;
  module?: string;
  go?: string;
  build_settings?: Record<string, string>;
  agent: boolean;
  runs?: RecordingRun[];
}

export interface RegionItem {
  name: string;
  goroutine: number;
  task: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  exec_ns: number;
  sched_wait_ns: number;
  blocked_ns: number;
}

export interface RegisterView {
  name: string;
  value: string;
}

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

export interface RunList {
  proc: number[] | null;
  goroutine: number[] | null;
  start: number[] | null;
  end: number[] | null;
  function: number[] | null;
  names: string[] | null;
  many: boolean;
}

export interface SamplePart {
  title: string;
  figures: Table | null;
  waits: Table | null;
  notes: string[] | null;
}

export interface SchedPage {
  start: number;
  covers: TimelineSpan;
  sched: Facts | null;
  blocked: Facts | null;
  stw: Facts | null;
  tasks: Facts | null;
  hogs: Table | null;
  waits: Bars;
  runs: Bars;
  pauses: Bars[] | null;
  filter: string;
}

export interface SchedParts {
  parts: SamplePart[] | null;
}

export interface SessionFile {
  name: string;
  kind: string;
  types?: string[];
  program?: string;
  time?: string;
  length_ns?: number;
  stacks?: number;
  cycles?: number;
  samples?: number;
  dumps?: number;
  goroutines?: number;
  requests?: number;
  results?: number;
  format?: string;
  bytes: number;
}

export interface ShotItem {
  id: string;
  kind: string;
  name: string;
  title: string;
  at: number;
  goroutines: number;
}

export interface SourceCode {
  address: string;
  text: string;
  flat: Amount;
  cum: Amount;
  inlined?: string;
}

export interface SourceEntry {
  path: string;
  kind: string;
  phase?: string;
  span: TimelineSpan;
  bytes: number;
}

export interface SourceInfo {
  id: string;
  name: string;
  title: string;
  kind: string;
  live: boolean;
  version: number;
  axis: TimelineSpan;
  start?: string;
  complete: boolean;
  target: RecordingTarget;
  host: RecordingHost;
  phases: RecordingPhase[] | null;
  marks: RecordingMark[] | null;
  entries: SourceEntry[] | null;
  files: SessionFile[] | null;
  notes: string[] | null;
  kinds: string[] | null;
}

export interface SourceItem {
  id: string;
  name: string;
  kind: string;
  live: boolean;
}

export interface SourceLine {
  number: number;
  text: string;
  flat: Amount;
  cum: Amount;
  why?: SourceWhy[];
  code?: SourceCode[];
}

export interface SourceList {
  version: string;
  editor: boolean;
  sources: SourceItem[] | null;
}

export interface SourceRoutine {
  name: string;
  file: string;
  flat: Amount;
  cum: Amount;
  lines: SourceLine[] | null;
  error?: string;
}

export interface SourceShown {
  type: string;
  unit: string;
  total: number;
  shown: string;
  covers: string;
  diff: boolean;
  part: number;
  part_shown: string;
  notes: string[] | null;
  routines: SourceRoutine[] | null;
}

export interface SourceWhy {
  shown: string;
  certainty: string;
  reasons: string[] | null;
}

export interface StackView {
  count: number;
  state: string;
  frames: FrameView[] | null;
}

export interface Table {
  key: string;
  title: string;
  columns: TableColumn[] | null;
  shown: (string[] | null)[] | null;
  values: (unknown[] | null)[] | null;
  notes: string[] | null;
}

export interface TableColumn {
  key: string;
  head: string;
  left: boolean;
}

export interface TaskItem {
  id: number;
  name: string;
  parent: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  regions: number;
  logs: number;
  goroutines: number[] | null;
}

export interface TaskLane {
  id: number;
  name: string;
  parent: number;
  start_ns: number;
  end_ns: number;
  begun: boolean;
  ended: boolean;
  regions: number;
  logs: number;
  goroutines: number[] | null;
  spans: TaskSpan[] | null;
  left: number;
}

export interface TaskLanes {
  total: number;
  version: number;
  lanes: TaskLane[] | null;
}

export interface TaskPage {
  id: number;
  start_ns: number;
  end_ns: number;
  page: Facts | null;
  path: PathStep[] | null;
  left: number;
}

export interface TaskSpan {
  start_ns: number;
  end_ns: number;
  region: string;
  goroutine: number;
}

export interface ThreadView {
  title: string;
  registers: RegisterView[] | null;
}

export interface TimePage {
  span: TimelineSpan;
  goroutines: TimeShare[] | null;
  procs: TimeShare[] | null;
}

export interface TimeShare {
  key: string;
  title: string;
  share: number;
  shown: string;
}

export interface TimelineHit {
  version: number;
  total: number;
  number: number;
  lane: LaneOnAxis | null;
  span: LaneSpan | null;
}

export interface TimelineSpan {
  start_ns: number;
  end_ns: number;
}

export interface TimelineStats {
  within: TimelineSpan;
  exact: boolean;
  procs: ClassTime[] | null;
  goroutines: ClassTime[] | null;
  groups: GroupTime[] | null;
  groupsTotal: number;
  stops: ClassTime;
  marks: ClassTime;
}

export interface TopPage {
  table: Table | null;
  note: string;
  view: string;
  path?: string;
}

export interface TraceTasks {
  tasksTotal: number;
  tasks: TaskItem[] | null;
  regionsTotal: number;
  regions: RegionItem[] | null;
  tasksLeft: number;
  regionsLeft: number;
}

export interface Trend {
  entry: string;
  values: number[] | null;
}

export interface WeightKind {
  key: string;
  title: string;
  kind: string;
  timed: boolean;
  covers: string;
  types: WeightType[] | null;
  type: string;
  labels: boolean;
  span: TimelineSpan;
  error?: string;
}

export interface WeightType {
  type: string;
  unit: string;
  total: string;
  means: string;
}

/** Answers is what each endpoint answers. */
export interface Answers {
  "benchmarks/tables": BenchView | null;
  "compare/benchmarks": BenchView | null;
  "compare/figures": CompareView | null;
  "compare/loads": CompareView | null;
  "compare/profiles": CompareDiff | null;
  "compare/sides": CompareSide[] | null;
  "compare/traces": Facts | null;
  "edit": boolean;
  "findings": InsightFinding[] | null;
  "gc": GcPage | null;
  "gc/cycles": CyclesPage | null;
  "gc/mmu": MmuPage | null;
  "goroutines/group": GroupView | null;
  "goroutines/one": GoroutineText | null;
  "goroutines/range": Facts | null;
  "goroutines/shots": ShotItem[] | null;
  "goroutines/trends": Trend[] | null;
  "goroutines/view": GoroutineView | null;
  "lanes": LaneStack | null;
  "load/met": LoadMeeting | null;
  "load/requests": LoadPick | null;
  "load/run": LoadView | null;
  "load/runs": LoadList | null;
  "overview/figures": FigurePage | null;
  "overview/time": TimePage | null;
  "overview/top": TopPage | null;
  "profile/compare": Facts | null;
  "profile/flame": Flame | null;
  "profile/graph": GraphShown | null;
  "profile/kinds": WeightKind[] | null;
  "profile/labels": LabelsShown | null;
  "profile/peek": Peeked | null;
  "profile/source": SourceShown | null;
  "profile/top": Ranking | null;
  "rules": (InsightRule | null)[] | null;
  "sched/samples": SchedParts | null;
  "sched/trace": SchedPage | null;
  "source": SourceInfo | null;
  "sources": SourceList | null;
  "sources/briefs": Brief[] | null;
  "timeline/at": LaneMoment | null;
  "timeline/find": TimelineHit | null;
  "timeline/goroutine": GoroutineLife | null;
  "timeline/lanes": LaneList | null;
  "timeline/runs": RunList | null;
  "timeline/stats": TimelineStats | null;
  "timeline/task": TaskPage | null;
  "timeline/tasklanes": TaskLanes | null;
  "timeline/tasks": TraceTasks | null;
}
