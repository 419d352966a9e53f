// Requests and responses of the forms' routes, and the data that a form shows. Field names match the JSON.
//
// They mirror schemas.py (requests) and sheet.py (data) in web/review, web/reading and web/adjudication.

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

/** The arguments of the drawable canvas (web/drawing/canvas.py). */
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
  /** The matrix, its metadata, and an 8-bit image that is used if the matrix is not available. */
  pixelsUrl?: string;
  metadataUrl?: string;
  previewUrl?: string;
  /** The current boxes. */
  boxes?: PlainBox[];
  /** The boxes of the original question, for the radiograph viewer. */
  originalBoxes?: PlainBox[];
  /** The same boxes for the plain editor. */
  originalCanvasObjects?: CanvasObject[];
  /** Whether `boxes` may differ from the original boxes. */
  boxesMayDiffer?: boolean;
}

/** The data of a question, case or dispute that a viewer needs. */
export interface ExamData {
  batch: number;
  question: number;
  blind: boolean;
  /** Whether the person may still save an answer or verdict. */
  isOpen: boolean;
  requested: { boxes: boolean };
  radiographs: Radiograph[];
  prefetch?: string[];
  upcoming?: { pixelsUrl: string; metadataUrl: string }[];
  /** Suggested labels of boxes; without them no label is requested for a new box. */
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

interface WithImageDisplay {
  image_display: ImageDisplay;
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
  /** Sent only by the page's script. The form keeps the value for the questions that it loads later. */
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
  /** Null if the question has none, and always null before the reviewer's verdict. */
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

/** The draft of a verdict: the opinion, and the reason for changing an earlier verdict. */
export type OpinionDraft = Opinion & { change_reason: string };

export interface OwnAnswerDraft {
  answer: Answer | null;
  cannot_determine: boolean;
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
  /** Whether the rating is given before the report is opened, and cannot be changed afterwards. */
  ratedBeforeReport: boolean;
}

/** The choices of the form, as domain/ratings.py, domain/verdicts.py and domain/vocabulary.py declare them. */
export interface FormChoices {
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
  requestNumber: number;
  batchName: string;
  batches: { id: number; name: string; left: number }[];
  guideline: boolean;
  progress: { done: number; skipped: number; left: number; total: number; position: number };
  previous: number | null;
  next: number | null;
  /** The person's last verdicts in this batch, newest first, one per question. */
  recent: RecentVerdict[];
  /** The reason for which the reviewer skipped the question; null if they did not. */
  skipReason: string | null;
  prefetch: string[];
  /** Null until the reviewer has given their own answer, if the batch requires one. */
  questionWithKey: Question | null;
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
  /** If true, accepting fills empty ratings with the top value, and empty yes/no fields with yes. */
  oneKeyAccept: boolean;
  choices: FormChoices;
  /** The labels of the confidences 1, 2, ...; see domain/vocabulary.py. */
  confidences: string[];
  /** Suggested labels of boxes. */
  labels: string[];
}

interface QuestionRequest {
  batch: number;
  question: number;
}

export interface VerdictRequest extends QuestionRequest, ViewingTimes, WithImageDisplay {
  revision: number;
  decision: Decision;
  opinion: Opinion;
  drawings: Drawings | null;
  change_reason: string;
}

interface DraftRequest {
  part: string;
  revision: number;
  body: unknown;
}

/** The next open question, the last judged question, or a question by its number. */
export type QuestionTarget = "next" | "last" | number;

// ----------------------------------------------------------------------------------------------- reading

export interface ReadingEntry extends OwnAnswerDraft {
  /** The reader's description of a fault of the question; empty if they did not report it. */
  fault_description: string;
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
  canGoBack: boolean;
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

/** The source of a field's value: a reviewer by index, the original question, or the adjudicator. */
export type ValueSource = number | "original" | "own";

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
  original: string;
  /** One for each reviewer; null for a reviewer who rejected. */
  values: (string | null)[];
}

export interface DisputeRadiograph extends Radiograph {
  /** The original boxes, and the reviewers' boxes that differ from them. */
  overlay?: PlainBox[];
  /** The boxes of the original question and of each reviewer, by `ValueSource`. */
  boxesBySource?: Record<string, PlainBox[]>;
}

export interface DisputeData extends CommonData {
  batchName: string;
  questionId: string;
  progress: { adjudicated: number; total: number };
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
  adjudication: { decision: Decision; reason: string; at: string; revision: number } | null;
  choices: { tasks: string[]; difficulties: string[]; labels: string[] };
}

export interface AdjudicationRequest extends QuestionRequest, WithImageDisplay {
  revision: number;
  decision: "reject" | "keep";
  /** The source of each field's value. */
  value_sources: Partial<Record<DisputedField, ValueSource>>;
  own: OwnValues;
  drawings: Drawings | null;
  reason: string;
  reports: number[];
}

// ------------------------------------------------------------------------------------------------ routes

/** `next` has the data to show next. It is null if nothing is left or the page must show a message. */
interface SaveResponse<Data> {
  at: string;
  next: Data | null;
}

interface SavedDraft {
  revision: number;
  at: string;
}

export interface Routes {
  "/review/verdict": { request: VerdictRequest; response: SaveResponse<ReviewData> & { revision: number; decision: Decision } };
  "/review/own-answer": { request: QuestionRequest & WithImageDisplay & { answer: Answer | null; confidence: number | null }; response: SaveResponse<ReviewData> };
  "/review/skip": { request: QuestionRequest & { reason: string }; response: SaveResponse<ReviewData> };
  "/review/report": { request: QuestionRequest & WithImageDisplay & { image_alignment: number }; response: SaveResponse<ReviewData> };
  "/review/question": { request: QuestionRequest & { target: QuestionTarget }; response: { next: ReviewData | null } };
  "/review/viewing-times": { request: QuestionRequest & ViewingTimes; response: { at: string } };
  "/review/draft": { request: QuestionRequest & DraftRequest; response: SavedDraft };
  "/review/comment": { request: QuestionRequest & { text: string }; response: { comments: QuestionComment[] } };
  "/review/comments": { request: QuestionRequest; response: { comments: QuestionComment[] } };
  "/reading/answer": { request: CaseRequest & ViewingTimes & WithImageDisplay & ReadingDraft & { revision: number }; response: SaveResponse<ReadingData> & { revision: number } };
  "/reading/case": { request: { study: number; position: number | null }; response: { next: ReadingData | null } };
  "/reading/viewing-times": { request: CaseRequest & ViewingTimes; response: { at: string } };
  "/reading/draft": { request: CaseRequest & DraftRequest; response: SavedDraft };
  "/adjudication/decision": { request: AdjudicationRequest; response: SaveResponse<DisputeData> & { revision: number } };
  "/adjudication/dispute": { request: { batch: number; question: number | null }; response: { next: DisputeData | null } };
}

export type Route = keyof Routes;
