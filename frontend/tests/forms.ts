// Example data of the forms, and a page that mounts a form as Streamlit does.

import { vi } from "vitest";
import type { Choice, DisputeData, Radiograph, ReadingData, ReviewData } from "../src/shared/api";
import { NOW } from "./server";

const radiograph: Radiograph = {
  id: "pa",
  view: "PA",
  rows: 100,
  columns: 100,
  previewUrl: "/radiographs/1/pa?longest=1600",
  boxes: [],
  originalBoxes: [],
  originalCanvasObjects: [],
  canvas: { canvasWidth: 1600, canvasHeight: 1600, strokeWidth: 5, initialDrawing: { objects: [], background: "" } },
};

const commonFields = { person: 7, blind: false, isOpen: true, patient: { age: "61 years", sex: "female", indication: "cough" }, stem: "What is shown?", options: ["effusion", "nothing"], prefetch: [] };

const confidences = ["a guess", "unsure", "fairly sure", "sure", "certain"];

/** Values whose labels are their ids. */
const choices = (...ids: string[]): Choice[] => ids.map((id) => ({ id, label: id }));

export function reviewData(changes: Partial<ReviewData> = {}): ReviewData {
  return {
    ...commonFields,
    radiographs: [{ ...radiograph }],
    format: "single",
    requestNumber: 0,
    batch: 1,
    batchName: "first",
    batches: [{ id: 1, name: "first", left: 3 }],
    question: 1,
    guideline: false,
    progress: { done: 0, skipped: 0, left: 3, total: 3, position: 1 },
    previous: null,
    next: 2,
    recent: [],
    skipReason: null,
    questionWithKey: { id: "q1", stem: "What is shown?", options: ["effusion", "nothing"], answer: [0], alsoRight: [], explanation: "So.", task: "presence", contentType: null, category: "Opacity", difficulty: "easy" },
    ownAnswer: null,
    report: null,
    fixedAlignment: null,
    last: null,
    revision: 1,
    drafts: {},
    viewingTimes: { seconds: 0, seconds_looking: 0, seconds_away: 0 },
    practice: false,
    feedback: null,
    comments: { total: 0, unread: 0 },
    requested: { ratings: [], flags: false, texts: true, answerKey: true, boxes: true },
    oneKeyAccept: false,
    choices: {
      values: [1, 2, 3, 4, 5],
      flags: [
        { id: "domain_specific", label: "Needs radiology knowledge", required: true },
        { id: "cognitive_depth", label: "More than recall", required: true },
        { id: "image_centric", label: "Needs the image", required: false },
      ],
      errors: choices("wrong key", "unclear"),
      tasks: choices("presence", "location"),
      tiers: choices("easy", "medium", "hard"),
    },
    confidences,
    labels: [],
    ...changes,
  };
}

export function readingData(changes: Partial<ReadingData> = {}): ReadingData {
  return {
    ...commonFields,
    radiographs: [{ ...radiograph }],
    format: "single",
    batch: 1,
    question: 1,
    requested: { boxes: false },
    study: 1,
    studyName: "readers",
    position: 1,
    training: false,
    progress: { done: 0, total: 3, trainingDone: 0, training: 0 },
    clinicalInfoShown: true,
    askConfidence: true,
    confidences,
    idleSeconds: 300,
    canGoBack: true,
    previous: null,
    next: 2,
    revision: 1,
    draftRevision: 0,
    entry: null,
    answeredAt: null,
    feedback: null,
    times: { seconds: 0, seconds_looking: 0, seconds_away: 0 },
    ...changes,
  };
}

export function disputeData(changes: Partial<DisputeData> = {}): DisputeData {
  return {
    ...commonFields,
    radiographs: [{ ...radiograph }],
    format: "single",
    batch: 1,
    batchName: "first",
    question: 1,
    questionId: "q1",
    requested: { boxes: false },
    progress: { adjudicated: 0, total: 2 },
    previous: null,
    next: 2,
    revision: 1,
    disputedAspects: ["decision"],
    key: "A",
    explanation: "So.",
    reviewers: [
      { name: "A", decision: "revise", errors: [], ratings: {}, texts: [] },
      { name: "B", decision: "reject", errors: ["wrong key"], ratings: {}, texts: ["no"] },
    ],
    fields: [{ name: "stem", original: "What is shown?", values: ["What is seen?", null] }],
    reports: [],
    adjudication: null,
    choices: { tasks: [], difficulties: [], labels: [] },
    ...changes,
  };
}

export const saved = (next: unknown): object => ({ revision: 1, decision: "accept", at: NOW, next });

/** A form on a page, with methods for what a person does there. */
export class MountedPage<Data> {
  /** Selectors of elements below the window's edge until they are scrolled into view. All other elements are in view: there is no layout here. */
  outOfSight: string[];
  readonly trigger = vi.fn<(name: string, value: unknown) => void>();
  readonly end: () => void;
  private readonly parent = document.createElement("div");

  constructor(
    private readonly form: (component: { parentElement: HTMLElement; data: Data; setTriggerValue: (name: string, value: unknown) => void }) => () => void,
    data: Data,
    outOfSight: string[] = [],
  ) {
    this.outOfSight = outOfSight;
    const isOutOfSight = (element: Element): boolean => this.outOfSight.some((selector) => element.matches(selector));
    const scrollTo = (element: Element): void => {
      this.outOfSight = this.outOfSight.filter((selector) => !element.matches(selector));
    };
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      return new DOMRect(0, isOutOfSight(this) ? 10_000 : 0, 100, 20);
    });
    vi.spyOn(Element.prototype, "scrollIntoView").mockImplementation(function (this: Element) {
      scrollTo(this);
    });
    this.parent.innerHTML = '<div class="judging-root"></div>';
    document.body.append(this.parent);
    this.end = this.run(data);
  }

  /** A run of the page's script. */
  run(data: Data): () => void {
    return this.form({ parentElement: this.parent, data, setTriggerValue: this.trigger });
  }

  close(): void {
    this.end();
    this.parent.remove();
  }

  find(selector: string): HTMLElement {
    const element = this.parent.querySelector<HTMLElement>(selector);
    if (!element) throw new Error(`nothing matches ${selector}`);
    return element;
  }

  field(selector: string): HTMLTextAreaElement {
    return this.find(selector) as HTMLTextAreaElement;
  }

  get message(): string {
    return this.find(".message").textContent;
  }

  button(text: string): HTMLButtonElement {
    const element = [...this.parent.querySelectorAll("button")].find((button) => button.textContent.startsWith(text) || button.getAttribute("aria-label") === text);
    if (!element) throw new Error(`no button ${text}`);
    return element;
  }

  click(text: string): void {
    this.button(text).click();
  }

  /** Press keys, such as "a", "Shift+4" and "Enter". */
  press(...keys: string[]): void {
    for (const shortcut of keys) {
      const parts = shortcut.split(/\+(?=.)/);
      const key = parts.at(-1) ?? "";
      const code = /^\d$/.test(key) ? `Digit${key}` : "";
      this.find(".judging").dispatchEvent(new KeyboardEvent("keydown", { key, code, shiftKey: parts.includes("Shift"), altKey: parts.includes("Alt"), bubbles: true, composed: true }));
    }
  }

  type(selector: string, text: string): void {
    const field = this.field(selector);
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** Let milliseconds pass. */
export const advanceTime = async (milliseconds: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(milliseconds);
};
