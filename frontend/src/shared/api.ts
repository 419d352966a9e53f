// Requests and responses of the forms' routes, and the data that a form shows. Field names match the JSON.
//
// They mirror web/review/schemas.py, web/reading/schemas.py and web/adjudication/schemas.py (requests), and sheet.py beside each.

/** x_min, y_min, x_max, y_max in pixels of the stored matrix; (0, 0) is the outer corner of the first pixel (PS3.3 C.18.6). */
export type Corners = [number, number, number, number];

export interface PlainBox {
  label: string;
  box: Corners;
}

/** A box as the viewer sends it. */
export interface DrawnBox extends PlainBox {
  type: "Box";
}

/** A box as the drawable canvas sends it, in pixels of its surface. */
export interface CanvasObject {
  type: string;
  label?: string;
  left: number;
  top: number;
  width: number;
  height: number;
  scaleX?: number;
  scaleY?: number;
}

/** All boxes by radiograph. */
export type Drawings = Record<string, (DrawnBox | CanvasObject)[]>;

/** What the drawable canvas is called with (web/drawing/canvas.py). */
export interface CanvasData {
  canvasWidth: number;
  canvasHeight: number;
  strokeWidth: number;
  initialDrawing: { objects: CanvasObject[]; background: string };
  [further: string]: unknown;
}

export interface Radiograph {
  id: string;
  view: string;
  canvas?: CanvasData | null;
  rows?: number;
  columns?: number;
  /** Addresses of the matrix, of its metadata, and of an 8-bit picture that is used if the matrix is not available. */
  pixels?: string;
  facts?: string;
  url?: string;
  boxes?: PlainBox[];
  machineBoxes?: PlainBox[];
  machine?: CanvasObject[];
  /** Whether the boxes may differ from the machine's. */
  boxesMayDiffer?: boolean;
}

/** The data of a question, case or dispute that a viewer needs. */
export interface ExamData {
  batch: number;
  question: number;
  blind: boolean;
  open: boolean;
  requested: { boxes: boolean };
  radiographs: Radiograph[];
  prefetch?: string[];
  upcoming?: { pixels: string; facts: string }[];
  /** Suggested labels of boxes; without them a new box is not asked for its label. */
  labels?: string[];
}

export interface Patient {
  age: string | null;
  sex: string | null;
  indication: string | null;
}

/** Seconds in total, seconds with the image displayed and the person active, and seconds away. */
export interface ViewingTimes {
  seconds: number;
  seconds_looking: number;
  seconds_away: number;
}

/** Whether the radiographs were displayed at the time of the judgement. */
export type ImageDisplay = "drawn" | "not drawn" | "not drawn, confirmed";

interface WithImage {
  image: ImageDisplay;
}

export type AnswerFormat = "closed" | "single" | "multiple" | "open";

/** Indices of the right options, or text. */
export type Answer = number[] | string;

/** What a person has chosen on the page My account. */
export interface InputPreferences {
  /** Own keys by action; see shortcuts.ts. */
  keys: Record<string, string>;
  /** What the left mouse button does on a radiograph. */
  leftButton: "boxes" | "window" | "pan";
}

interface CommonData extends ExamData {
  /** Only in data from the page's script; a form keeps them for the questions that it loads itself. */
  preferences?: InputPreferences;
  /** The person that the page was opened for. */
  person: number;
  patient: Patient;
  stem: string;
  options: string[];
  format: AnswerFormat;
}

// ------------------------------------------------------------------------------------------------ review

export type Decision = "accept" | "revise" | "reject";

export interface Question {
  id: string;
  stem: string;
  options: string[];
  answer: Answer;
  alsoRight: string[];
  explanation: string;
  task: string | null;
  contentType: string | null;
  category: string | null;
  /** Null before the reviewer's verdict, too. */
  difficulty: string | null;
}

/** The corrected fields; boxes are sent as drawings beside it. */
export interface Correction {
  stem?: string;
  options?: string[];
  answer?: Answer;
  explanation?: string;
  task?: string;
  category?: string;
  difficulty?: string;
}

export interface Opinion {
  /** The yes/no fields, by their ids. */
  [flag: string]: unknown;
  ratings: Record<string, number | null>;
  difficulty: string | null;
  errors: string[];
  correction: Correction;
  clinical_reasoning: string;
  comment: string;
}

/** The draft of a verdict: the opinion, and why an earlier verdict is changed. */
export type OpinionDraft = Opinion & { why: string };

export interface OwnAnswerDraft {
  answer: Answer | null;
  cannot: boolean;
  confidence: number | null;
}

export interface BoxesDraft {
  drawings: Drawings;
}

export interface ReviewDrafts {
  form: OpinionDraft;
  own: OwnAnswerDraft;
  boxes: BoxesDraft;
}

export type ReviewDraftPart = keyof ReviewDrafts;

/** A value of a closed list. The id is stored, the label is shown. */
export interface Choice {
  id: string;
  label: string;
}

export interface YesNoField extends Choice {
  /** Whether a verdict that accepts or revises must have it. */
  required: boolean;
}

export interface RatingQuestion {
  name: string;
  label: string;
  anchors: string[];
  /** Whether it is given before the report is opened, and fixed from then on. */
  ofImage: boolean;
}

/** The choices of the form, as domain/ratings.py, domain/verdicts.py and domain/vocabulary.py declare them. */
export interface Scales {
  /** The values of a rating, from worst to best. */
  values: number[];
  flags: YesNoField[];
  errors: Choice[];
  tasks: Choice[];
  tiers: Choice[];
}

/** A comment of the reviewer (`mine`) or of a coordinator. */
export interface QuestionComment {
  author: string;
  mine: boolean;
  text: string;
  at: string;
}

export interface RecentVerdict {
  question: number;
  decision: Decision;
  at: string;
}

export interface Feedback {
  correct: boolean;
  summary: string;
  details: { heading: string; text: string }[];
}

export interface ReviewData extends CommonData {
  /** The number of the form's request that this answers; 0 on a fresh page. */
  turn: number;
  batchName: string;
  batches: { id: number; name: string; left: number }[];
  guideline: boolean;
  progress: { done: number; skipped: number; left: number; total: number; position: number };
  previous: number | null;
  next: number | null;
  /** The person's last verdicts in this batch, newest first, one per question. */
  recent: RecentVerdict[];
  skipped: string | null;
  prefetch: string[];
  /** Null while the reviewer has to give their own answer first. */
  full: Question | null;
  ownAnswer: { text: string; confidence: number; at: string } | null;
  report: { text: string | null } | null;
  fixedAlignment: number | null;
  last: { revision: number; decision: Decision; at: string; opinion: Opinion } | null;
  /** The revision of the next verdict. */
  revision: number;
  drafts: { [Part in ReviewDraftPart]?: { revision: number; body: ReviewDrafts[Part] } };
  viewingTimes: ViewingTimes;
  /** Whether the batch is a practice set. */
  practice: boolean;
  /** The known answer of a practice question, once it is judged. */
  feedback: Feedback | null;
  comments: { total: number; unread: number };
  requested: { ratings: RatingQuestion[]; flags: boolean; texts: boolean; answerKey: boolean; boxes: boolean };
  /** Accepting fills open fields: the top rating, and yes. */
  oneKeyAccept: boolean;
  scales: Scales;
  /** The labels of the confidences 1, 2, ...; see domain/vocabulary.py. */
  confidences: string[];
  /** Suggested labels of boxes. */
  labels: string[];
}

interface QuestionRequest {
  batch: number;
  question: number;
}

export interface VerdictRequest extends QuestionRequest, ViewingTimes, WithImage {
  revision: number;
  decision: Decision;
  opinion: Opinion;
  drawings: Drawings | null;
  why: string;
}

interface DraftRequest {
  part: string;
  revision: number;
  body: unknown;
}

/** The next open question, the last judged question, or a question by its number. */
export type TurnTarget = "next" | "last" | number;

// ----------------------------------------------------------------------------------------------- reading

export interface ReadingEntry extends OwnAnswerDraft {
  faulty: string;
}

export type ReadingDraft = ReadingEntry & { drawings: Drawings | null };

export interface ReadingData extends CommonData {
  study: number;
  studyName: string;
  position: number;
  training: boolean;
  progress: { done: number; total: number; trainingDone: number; training: number };
  /** Whether the arm shows age, sex and indication. */
  clinicalInfoShown: boolean;
  prefetch: string[];
  askConfidence: boolean;
  /** The labels of the confidences 1, 2, ...; see domain/vocabulary.py. */
  confidences: string[];
  idleSeconds: number;
  goingBack: boolean;
  previous: number | null;
  next: number | null;
  revision: number;
  draftRevision: number;
  entry: ReadingEntry | null;
  answeredAt: string | null;
  feedback: { right: boolean | null; answer: string; correctAnswers: (number[] | string | null)[]; explanation: string } | null;
  times: ViewingTimes;
}

interface CaseRequest {
  study: number;
  position: number;
}

// ------------------------------------------------------------------------------------------ adjudication

/** The source of a field's value: a reviewer by index, the machine, or the adjudicator. */
export type ValueSource = number | "machine" | "own";

export type DisputedField = "stem" | "options" | "answer" | "also_right" | "explanation" | "task" | "category" | "difficulty" | "boxes";

export interface OwnValues {
  stem?: string;
  options?: string[];
  answer?: Answer;
  also_right?: number[][];
  explanation?: string;
  task?: string;
  category?: string;
  difficulty?: string;
}

export interface FieldDifference {
  name: DisputedField;
  machine: string;
  /** One for each reviewer; null where they rejected. */
  values: (string | null)[];
}

export interface DisputeRadiograph extends Radiograph {
  overlay?: PlainBox[];
  sides?: Record<string, PlainBox[]>;
}

export interface DisputeData extends CommonData {
  batchName: string;
  questionId: string;
  progress: { settled: number; total: number };
  previous: number | null;
  next: number | null;
  revision: number;
  disputedAspects: string[];
  radiographs: DisputeRadiograph[];
  key: string;
  explanation: string;
  reviewers: { name: string; decision: Decision; errors: string[]; ratings: Record<string, number>; texts: string[] }[];
  fields: FieldDifference[];
  reports: { id: number; kind: string; text: string; release: string; at: string }[];
  settled: { decision: Decision; reason: string; at: string; revision: number } | null;
  choices: { tasks: string[]; difficulties: string[]; labels: string[] };
}

export interface AdjudicationRequest extends QuestionRequest, WithImage {
  revision: number;
  decision: "reject" | "stand";
  picks: Partial<Record<DisputedField, ValueSource>>;
  own: OwnValues;
  drawings: Drawings | null;
  reason: string;
  reports: number[];
}

// ------------------------------------------------------------------------------------------------ routes

/** `sheet` is the next data to show. It is null if nothing is left or the page has to explain. */
interface SaveResponse<Data> {
  at: string;
  sheet: Data | null;
}

interface SavedDraft {
  revision: number;
  at: string;
}

export interface Routes {
  "/judging/verdict": { request: VerdictRequest; response: SaveResponse<ReviewData> & { revision: number; decision: Decision } };
  "/judging/own-answer": { request: QuestionRequest & WithImage & { answer: Answer | null; confidence: number | null }; response: SaveResponse<ReviewData> };
  "/judging/skip": { request: QuestionRequest & { reason: string }; response: SaveResponse<ReviewData> };
  "/judging/report": { request: QuestionRequest & WithImage & { image_alignment: number }; response: SaveResponse<ReviewData> };
  "/judging/turn": { request: QuestionRequest & { to: TurnTarget }; response: { sheet: ReviewData | null } };
  "/judging/look": { request: QuestionRequest & ViewingTimes; response: { at: string } };
  "/judging/draft": { request: QuestionRequest & DraftRequest; response: SavedDraft };
  "/judging/comment": { request: QuestionRequest & { text: string }; response: { comments: QuestionComment[] } };
  "/judging/comments": { request: QuestionRequest; response: { comments: QuestionComment[] } };
  "/reading/answer": { request: CaseRequest & ViewingTimes & WithImage & ReadingDraft & { revision: number }; response: SaveResponse<ReadingData> & { revision: number } };
  "/reading/turn": { request: { study: number; to: number | null }; response: { sheet: ReadingData | null } };
  "/reading/time": { request: CaseRequest & ViewingTimes; response: { at: string } };
  "/reading/draft": { request: CaseRequest & DraftRequest; response: SavedDraft };
  "/settling/adjudication": { request: AdjudicationRequest; response: SaveResponse<DisputeData> & { revision: number } };
  "/settling/turn": { request: { batch: number; to: number | null }; response: { sheet: DisputeData | null } };
}

export type Route = keyof Routes;
