// The base classes of the review, reading and adjudication forms: frame, saving, keys, time, drafts.

import type { ExamData, InputPreferences, ViewingTimes } from "./api";
import { fitTextAreas, formatDuration, h, listen, type Child } from "./dom";
import { DisplayedMaterial } from "./displayed-material";
import type { DraftStore } from "./drafts";
import { fillWindow } from "./fill-window";
import { Frame } from "./frame";
import { setPersonId } from "./http";
import { ImageCheck, type ImageCheckTexts } from "./image-check";
import { listenForKeys } from "./keys";
import { setOwnKeys, type ActionId } from "./shortcuts";
import { ViewingClock } from "./viewing-clock";
import type { MountedForm, StreamlitComponent, Trigger } from "./mount";
import { PlainEditorTools } from "./plain-editor-tools";
import { PlainEditor } from "./plain-editor";
import { SaveFlow, type SaveView } from "./save-flow";
import { createViewer, type ImageViewer } from "./viewer";

export interface CaseFormData extends ExamData {
  person: number;
  preferences?: InputPreferences;
}

/** One instance per mount. It fetches every further question itself, without a script run. */
export abstract class CaseForm<Data extends CaseFormData> implements MountedForm<Data>, SaveView {
  readonly root: HTMLElement;
  readonly savedLine = h("span", { class: "saved", role: "status" });
  readonly message = h("div", { class: "message", role: "alert" });
  /** The radiograph viewer, or the plain editor. */
  readonly imageView: ImageViewer;
  readonly imageCheck: ImageCheck;
  readonly saveFlow: SaveFlow = new SaveFlow(this);
  protected readonly frame: Frame;
  protected readonly displayed: DisplayedMaterial;
  /** The plain editor's tools; null if the radiograph viewer is used, which has its own. */
  readonly plainEditorTools: PlainEditorTools | null;
  readonly staleRevisionAction = { label: "Reload the page", run: () => location.reload() };
  data: Data;
  protected notifyScript: Trigger;
  protected isEnded = false;
  protected readonly cleanups: (() => void)[];
  /** The open overlay: the list of shortcuts, or the pause screen. */
  protected overlay: HTMLElement | null = null;

  constructor({ parentElement, data, setTriggerValue }: StreamlitComponent<Data>, name: string, texts: ImageCheckTexts) {
    this.data = data;
    this.notifyScript = setTriggerValue;
    this.root = h("div", { class: `judging ${name}`, tabindex: "-1" });
    parentElement.querySelector(".judging-root")?.replaceChildren(this.root);
    setOwnKeys(data.preferences?.keys ?? {});
    this.imageView = createViewer({ boxesChanged: () => this.boxesChanged(), imageDrawn: () => this.imageDrawn(), selectionChanged: () => this.selectionChanged(), imageStateChanged: () => this.imageCheck.update() }, data.preferences);
    this.imageCheck = new ImageCheck(this.imageView, texts);
    this.plainEditorTools = this.imageView instanceof PlainEditor ? new PlainEditorTools(this.imageView) : null;
    this.frame = new Frame(this.root, () => this.fit());
    this.displayed = new DisplayedMaterial(this.root);
    this.cleanups = [() => this.frame.end(), () => this.displayed.end(), listenForKeys((event) => this.root.isConnected && this.handleKey(event)), fillWindow(this.root, () => this.fit())];
  }

  /** Called by Streamlit at every run of the page's script. */
  update({ data, setTriggerValue }: StreamlitComponent<Data>): void {
    this.notifyScript = setTriggerValue;
    if (this.shouldShow(data)) this.show(data);
  }

  show(data: Data): void {
    this.saveFlow.questionShown();
    this.closeOverlay();
    this.data = data;
    setPersonId(data.person);
    this.savedLine.textContent = this.saveFlow.lastSaved;
  }

  abstract displayedCaseId(): string;

  showNote(text: Child, isProblem = false): void {
    this.saveFlow.showNote(text, isProblem);
  }

  fit(): void {
    fitTextAreas(this.root);
    this.imageView.fit();
    this.displayed.measureSoon();
  }

  end(): void {
    this.isEnded = true;
    this.imageView.end();
    for (const end of this.cleanups) end();
  }

  /** Whether to show the data of a script run. They may be older than what the form shows. */
  protected abstract shouldShow(data: Data): boolean;

  /** Returns whether the key was handled. */
  protected abstract handleKey(event: KeyboardEvent): boolean;

  protected boxesChanged(): void {}

  protected selectionChanged(): void {}

  protected imageDrawn(): void {}

  /** Show the exam of another question. */
  protected showExam(data: ExamData): void {
    this.imageView.show(data);
    this.imageCheck.reset();
  }

  /** Before a save: scroll to the first text that was not displayed in full, and show a message. Returns whether there was one; the save must then wait. */
  protected revealUnreadMaterial(): boolean {
    const [first, ...others] = this.displayed.findUndisplayed();
    if (!first) return false;
    const names = [first, ...others].map(({ name }) => name).join(", ").replace(/, ([^,]+)$/, " and $1");
    this.frame.reveal();
    this.displayed.reveal(first);
    this.handleReveal();
    this.showNote([h("b", {}, "Not saved: "), `read ${names} first, which had not been displayed in full. Now in view: ${first.name}.`]);
    return true;
  }

  /** Called after unread material was scrolled into view. */
  protected handleReveal(): void {}

  /** Retry the failed save, or reload the images that it waits for. */
  protected tryAgain(): boolean {
    return this.imageCheck.reload() || this.saveFlow.tryAgain();
  }

  /** The row of the plain editor's tools. */
  protected buildTools(): HTMLElement | null {
    const { blind, isOpen, requested } = this.data;
    return this.plainEditorTools?.build(blind || !isOpen || !requested.boxes) ?? null;
  }

  /** Returns whether the action belongs to the viewer and had an effect. */
  protected runViewerAction(id: ActionId, event: KeyboardEvent): boolean {
    return this.imageView.runAction(id, event) || (this.plainEditorTools?.runAction(id) ?? false);
  }

  /** Focus the form unless one of its elements has the focus. */
  protected takeFocus(): void {
    const rootNode = this.root.getRootNode() as Document | ShadowRoot;
    if (!this.root.contains(rootNode.activeElement)) this.root.focus({ preventScroll: true });
  }

  protected openOverlay(overlay: HTMLElement): void {
    this.overlay?.remove();
    this.overlay = overlay;
    this.root.append(overlay);
    (overlay.firstElementChild as HTMLElement | null)?.focus();
  }

  protected closeOverlay(): void {
    this.overlay?.remove();
    this.overlay = null;
  }
}

const DOUBLE_CLICK_GUARD = 500; // milliseconds after display in which an untouched question is not saved

/** A form with a clock and drafts. */
export abstract class TimedForm<Data extends CaseFormData, Part extends string> extends CaseForm<Data> {
  protected abstract drafts: DraftStore<Part> | null;
  protected readonly clock = new ViewingClock((times) => this.reportTime(times));
  protected readonly clockLine: HTMLElement;
  private clicksIgnoredUntil = 0;

  constructor(component: StreamlitComponent<Data>, name: string, clockTitle: string, texts: ImageCheckTexts) {
    super(component, name, texts);
    this.clockLine = h("span", { class: "clock", title: clockTitle });
    const timer = setInterval(() => (this.clockLine.textContent = formatDuration(this.clock.getTotals().seconds_looking)), 1000);
    this.cleanups.push(
      () => clearInterval(timer),
      () => this.clock.end(),
      listen(window, "pagehide", () => this.sendPending()),
      listen(document, "visibilitychange", () => document.hidden && this.drafts?.flush()),
    );
  }

  override show(data: Data): void {
    this.drafts?.sendOnLeave();
    this.drafts?.close();
    super.show(data);
    this.clicksIgnoredUntil = performance.now() + DOUBLE_CLICK_GUARD;
  }

  override end(): void {
    this.sendPending();
    this.drafts?.close();
    super.end();
  }

  /** Whether a click may be the second half of a double click that saved the previous question. */
  get isTooSoon(): boolean {
    return performance.now() < this.clicksIgnoredUntil;
  }

  protected override handleReveal(): void {
    this.clicksIgnoredUntil = performance.now() + DOUBLE_CLICK_GUARD;
  }

  /** Allow saving at once: input on this question shows that the person has seen it. */
  protected markTouched(): void {
    this.clicksIgnoredUntil = 0;
  }

  protected abstract reportTime(times: ViewingTimes): void;

  protected override imageDrawn(): void {
    this.clock.imageDrawn();
    if (this.plainEditorTools) for (const url of this.data.prefetch ?? []) new Image().src = url; // the radiograph viewer prefetches its images itself
  }

  private sendPending(): void {
    this.drafts?.sendOnLeave();
    this.clock.reportNow();
  }
}
