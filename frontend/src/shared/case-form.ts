// What the review, reading and adjudication forms share: the frame, saving, keys, time, drafts.

import type { ExamOnScreen, LookTimes } from "./api";
import { fitTextAreas, formatDuration, h, listen, type Child } from "./dom";
import type { DraftStore } from "./drafts";
import { fillWindow } from "./fill-window";
import { setPerson } from "./http";
import { ImageCheck, type ImageCheckTexts } from "./image-check";
import { listenForKeys } from "./keys";
import { LookClock } from "./look-clock";
import type { MountedForm, StreamlitComponent, Trigger } from "./mount";
import { PictureTools } from "./picture-tools";
import { PlainEditor } from "./plain-editor";
import { SaveFlow, type SaveView } from "./save-flow";
import { makeViewer, type ImageViewer } from "./viewer";

export interface FormData extends ExamOnScreen {
  person: number;
}

/** One instance a mount. It goes from question to question by its own requests. */
export abstract class CaseForm<Data extends FormData> implements MountedForm<Data>, SaveView {
  readonly root: HTMLElement;
  readonly savedLine = h("span", { class: "saved", role: "status" });
  readonly message = h("div", { class: "message", role: "alert" });
  readonly viewer: ImageViewer;
  readonly imageCheck: ImageCheck;
  readonly saveFlow: SaveFlow = new SaveFlow(this);
  /** The plain editor's tools; null with the viewer, which has its own. */
  readonly pictureTools: PictureTools | null;
  readonly showSaved = { label: "Reload the page", act: () => location.reload() };
  data: Data;
  protected trigger: Trigger;
  protected isEnded = false;
  protected readonly ends: (() => void)[];
  /** A sheet of keys or a break, over the form. */
  protected veil: HTMLElement | null = null;

  constructor({ parentElement, data, setTriggerValue }: StreamlitComponent<Data>, name: string, texts: ImageCheckTexts) {
    this.data = data;
    this.trigger = setTriggerValue;
    this.root = h("div", { class: `judging ${name}`, tabindex: "-1" });
    parentElement.querySelector(".judging-root")?.replaceChildren(this.root);
    this.viewer = makeViewer({ changed: () => this.boxesChanged(), drawn: () => this.imageDrawn(), chosen: () => this.boxChosen(), imageStateChanged: () => this.imageCheck.update() });
    this.imageCheck = new ImageCheck(this.viewer, texts);
    this.pictureTools = this.viewer instanceof PlainEditor ? new PictureTools(this.viewer) : null;
    this.ends = [listenForKeys((key, event) => this.root.isConnected && this.pressed(key, event)), fillWindow(this.root, () => this.fit())];
  }

  /** Streamlit's call, at every run of the page's script. */
  update({ data, setTriggerValue }: StreamlitComponent<Data>): void {
    this.trigger = setTriggerValue;
    if (this.isNew(data)) this.show(data);
  }

  show(data: Data): void {
    this.saveFlow.arrived();
    this.closeVeil();
    this.data = data;
    setPerson(data.person);
    this.savedLine.textContent = this.saveFlow.lastSaved;
  }

  abstract shownKey(): string;

  note(text: Child, isProblem = false): void {
    this.saveFlow.note(text, isProblem);
  }

  fit(): void {
    fitTextAreas(this.root);
    this.viewer.fit();
  }

  end(): void {
    this.isEnded = true;
    this.viewer.end();
    for (const end of this.ends) end();
  }

  /** Whether the page's script brings something that is to be shown. What it drew earlier may be older than the form. */
  protected abstract isNew(data: Data): boolean;

  /** Returns whether the key was taken. */
  protected abstract pressed(key: string, event: KeyboardEvent): boolean;

  protected boxesChanged(): void {}

  protected boxChosen(): void {}

  protected imageDrawn(): void {}

  /** Show the exam of another question. */
  protected showExam(data: ExamOnScreen): void {
    this.viewer.show(data);
    this.imageCheck.reset();
  }

  /** Try again what was not saved, or load again what it waits for. */
  protected tryAgain(): boolean {
    return this.imageCheck.loadAgain() || this.saveFlow.tryAgain();
  }

  /** The row of the plain editor's tools. */
  protected buildTools(): HTMLElement | null {
    const { blind, open, asks } = this.data;
    return this.pictureTools?.build(blind || !open || !asks.boxes) ?? null;
  }

  /** A viewer's keys that are left when the form has no use for them. */
  protected viewerKey(key: string, event: KeyboardEvent): boolean {
    if (this.viewer.key?.(event, false)) return true;
    if (this.pictureTools?.key(key, event.shiftKey)) return true;
    if (key === "l") this.viewer.next();
    return key === "l";
  }

  /** Keyboard focus on the form, unless something of it has it. */
  protected takeFocus(): void {
    const within = this.root.getRootNode() as Document | ShadowRoot;
    if (!this.root.contains(within.activeElement)) this.root.focus({ preventScroll: true });
  }

  protected openVeil(veil: HTMLElement): void {
    this.veil?.remove();
    this.veil = veil;
    this.root.append(veil);
    (veil.firstElementChild as HTMLElement | null)?.focus();
  }

  protected closeVeil(): void {
    this.veil?.remove();
    this.veil = null;
  }
}

const JUST_SHOWN = 500; // milliseconds in which nothing is saved of a question that nobody has touched

/** A form with a clock and drafts. */
export abstract class TimedForm<Data extends FormData, Part extends string> extends CaseForm<Data> {
  protected abstract drafts: DraftStore<Part> | null;
  protected readonly clock = new LookClock((times) => this.reportTime(times));
  protected readonly clockLine: HTMLElement;
  private untouchedSince = 0;

  constructor(component: StreamlitComponent<Data>, name: string, clockTitle: string, texts: ImageCheckTexts) {
    super(component, name, texts);
    this.clockLine = h("span", { class: "clock", title: clockTitle });
    const timer = setInterval(() => (this.clockLine.textContent = formatDuration(this.clock.totals().seconds_looking)), 1000);
    this.ends.push(
      () => clearInterval(timer),
      () => this.clock.end(),
      listen(window, "pagehide", () => this.leave()),
      listen(document, "visibilitychange", () => document.hidden && this.drafts?.flush()),
    );
  }

  override show(data: Data): void {
    this.drafts?.leave();
    this.drafts?.close();
    super.show(data);
    this.untouchedSince = performance.now();
  }

  override end(): void {
    this.leave();
    this.drafts?.close();
    super.end();
  }

  /** The second half of a double click that saved the question before: nobody has seen this one yet. */
  get isTooSoon(): boolean {
    return performance.now() - this.untouchedSince < JUST_SHOWN;
  }

  /** Whoever works on this question has seen it. */
  protected markTouched(): void {
    this.untouchedSince = -Infinity;
  }

  protected abstract reportTime(times: LookTimes): void;

  protected override imageDrawn(): void {
    this.clock.imageDrawn();
    if (this.pictureTools) for (const url of this.data.prefetch ?? []) new Image().src = url; // the viewer fetches ahead itself
  }

  private leave(): void {
    this.drafts?.leave();
    this.clock.reportNow();
  }
}
