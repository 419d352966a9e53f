// The radiograph viewer of a form: the radiographs of an exam with the boxes of a question.
//
// It has the interface of the plain editor (shared/plain-editor.ts), so forms treat both alike.

import type { Boxes, ViewerBox } from "./boxes";
import { runCommand } from "./commands";
import { h, isTyping, listen } from "../shared/dom";
import { isViewerAction, setOwnKeys, type ActionId } from "../shared/shortcuts";
import { BoxEdits } from "./box-edits";
import { rulerNote } from "./overlay-text";
import { isFullScreen, onFullScreenChange, toggleFullScreen } from "./fullscreen";
import { PointerTools } from "./pointer-tools";
import { findControlAction, findFixedAction, isFixedRepeatable, KEY_HELP } from "./keys";
import { openLabelField } from "../shared/label-field";
import { listPaneBoxes, measureBox, type PaneBox } from "./pane-boxes";
import type { DrawnBox, InputPreferences } from "../shared/api";
import type { BoxChanges, ImageViewer, ViewerEvents } from "../shared/viewer";
import type { Pane } from "./pane";
import { fetchFirst, clearCache, hasPixels, prefetch, type PictureAddresses } from "./picture-cache";
import { QuestionBoxes } from "./question-boxes";
import { describeSelection, SelectionAnnouncer } from "./selection-announcer";
import style from "./style.css";
import { Toolbar } from "./toolbar";
import type { Corners, ExamData, ImageState } from "./types";
import { PaneGrid } from "./pane-grid";

const CAPTURE = { capture: true };

export class RadiographViewer implements ImageViewer {
  readonly keyHelp = KEY_HELP;
  readonly draftDelay = 60; // milliseconds; an edit is finished when it is reported

  readonly root: HTMLElement;
  readonly pointerTools: PointerTools;
  readonly edits: BoxEdits;
  readonly paneGrid: PaneGrid;
  selected: number | null = null;
  private label = ""; // of new boxes
  private readonly toolbar = new Toolbar((id) => this.runAction(id), (index) => this.chooseWindow(index));
  private readonly announcer = new SelectionAnnouncer();
  private readonly cleanups: (() => void)[];
  private boxes = new QuestionBoxes([]);
  private locked = true;
  private upcoming: PictureAddresses[] = [];
  private labels: readonly string[] = [];

  constructor(private readonly events: ViewerEvents, { keys: ownKeys, leftButton }: InputPreferences) {
    setOwnKeys(ownKeys); // this bundle has its own copy of shortcuts.ts
    this.paneGrid = new PaneGrid({
      paneAdded: (pane) => this.pointerTools.add(pane),
      paneRemoved: (pane) => this.pointerTools.remove(pane),
      imageDrawn: () => this.imageDrawn(),
      loadEnded: () => this.events.imageStateChanged(),
      viewChanged: () => this.paintControls(),
      createLayerEvents: (pane) => ({ select: (id) => this.select(id), boxChanged: (id, box, resized) => this.edits.moveOrResize(id, box, resized, pane().view) }),
    });
    this.root = h("div", { class: "reading-room" }, h("style", {}, style), h("div", { class: "controls" }, this.paneGrid.tabs, this.toolbar.root), this.paneGrid.root, this.announcer.root);
    this.edits = new BoxEdits({ history: () => this.boxes.history, apply: (next, undoGroup) => this.apply(next, undoGroup), select: (id) => this.select(id) });
    this.pointerTools = new PointerTools(this.root, {
      paneFocused: (pane) => pane !== this.front && this.bringToFront(pane),
      paneChanged: (pane) => this.paneGrid.paneChanged(pane),
      boxDrawn: (pane, box) => this.addBox(pane, box),
      boxClicked: (_, box) => this.select(box),
      boxDoubleClicked: (box) => this.editLabel(box),
      tabPressed: (pane, back) => this.selectByTab(pane, back),
      toolChanged: () => this.paintControls(),
    });
    this.pointerTools.leftButton = leftButton;
    const keyListeners = [listen(window, "keydown", (event) => this.handleControlKey(event), CAPTURE), listen(window, "keyup", (event) => this.handleKeyUp(event), CAPTURE), listen(window, "blur", () => this.releaseKeys(), CAPTURE)];
    this.cleanups = [...keyListeners, onFullScreenChange(() => this.paintControls()), () => this.pointerTools.end()];
  }

  // ------------------------------------------------------------ questions and boxes

  show(data: ExamData): void {
    this.pointerTools.cancel();
    this.locked = this.pointerTools.locked = data.blind || !data.isOpen || !data.requested.boxes;
    this.upcoming = data.upcoming ?? [];
    this.labels = data.labels ?? [];
    this.boxes = new QuestionBoxes(data.radiographs);
    this.selected = null;
    this.toolbar.build({ boxes: !this.locked, hasSeveral: data.radiographs.length > 1 });
    this.pointerTools.selectDefault();
    this.paneGrid.showRadiographs(data.radiographs);
    this.showBoxes();
  }

  /** All boxes by radiograph, as the server takes them; null if none may differ from the original boxes. */
  getDrawings(): Record<string, DrawnBox[]> | null {
    return this.locked ? null : this.boxes.toDrawings();
  }

  /** Resolves when no box is being drawn. */
  async waitForDrawing(): Promise<void> {
    const deadline = performance.now() + 5000;
    while (this.pointerTools.isDrawing && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 16));
    this.boxes.history.closeGroup();
  }

  listBoxes(): PaneBox[] {
    return this.orderedViews.flatMap((pane) => listPaneBoxes(pane, this.boxesOf(pane), this.boxes.isOriginalBox, this.selected));
  }

  /** Boxes that are not in the original question, and original boxes that were changed or removed. */
  findBoxChanges(): BoxChanges {
    return { added: this.listBoxes().filter((box) => !box.isOriginal), removed: this.boxes.listRemovedOriginalBoxes().map(measureBox) };
  }

  relabelBox({ view: pane, index }: PaneBox, label: string): void {
    this.edits.relabel(this.boxesOf(pane)[index]!.id, label);
  }

  removeBox({ view: pane, index }: PaneBox): void {
    this.edits.remove(this.boxesOf(pane)[index]!.id);
  }

  selectBox({ view: pane, index }: PaneBox): void {
    if (pane !== this.front) this.bringToFront(pane);
    this.select(this.boxesOf(pane)[index]?.id ?? null);
  }

  resetBoxes(): void {
    this.apply(this.boxes.originalBoxes);
  }

  setLabel(label: string): void {
    this.label = label;
  }

  /** Remove all images of this exam and the next: the question is no longer assigned to the person. */
  withdraw(): void {
    this.pointerTools.cancel();
    this.locked = this.pointerTools.locked = true;
    this.boxes = new QuestionBoxes([]);
    this.selected = null;
    this.paneGrid.clear();
    clearCache();
    this.paintControls();
  }

  end(): void {
    for (const end of this.cleanups) end();
    this.paneGrid.end();
  }

  // ------------------------------------------------------------ boxes

  select(id: number | null): void {
    if (id === this.selected) return;
    this.selected = id;
    const pane = this.findPaneOfBox(id);
    if (pane && pane !== this.front) this.bringToFront(pane);
    this.showBoxes();
  }

  addBox(pane: Pane, box: Corners): void {
    if (this.locked) return;
    const id = this.edits.add(pane.radiograph.id, this.label, box);
    if (this.labels.length > 0) this.editLabel(id);
  }

  stepHistory(direction: "undo" | "redo"): void {
    if (this.locked) return;
    const changedRadiograph = this.edits.stepHistory(direction);
    if (changedRadiograph === undefined) return;
    const pane = this.paneGrid.findPane(changedRadiograph ?? undefined);
    if (pane && pane !== this.front) this.bringToFront(pane);
    this.afterEdit();
  }

  editLabel(id: number): void {
    const [pane, box] = [this.findPaneOfBox(id), this.boxes.find(id)];
    const position = pane?.layer.findLabelPosition(id);
    if (!this.locked && pane && box && position) openLabelField(pane, box.label, this.labels, position, (label) => this.edits.relabel(id, label));
  }

  setBoxesHidden(hidden: boolean): void {
    for (const pane of this.orderedViews) pane.layer.setVisible(!hidden);
  }

  private boxesOf(pane: Pane): ViewerBox[] {
    return this.boxes.listBoxesOn(pane.radiograph.id);
  }

  private findPaneOfBox(id: number | null): Pane | undefined {
    return this.paneGrid.findPane(this.boxes.find(id)?.radiograph);
  }

  private apply(next: Boxes, undoGroup = ""): void {
    if (this.locked) return;
    this.boxes.history.apply(next, undoGroup);
    this.afterEdit();
  }

  private afterEdit(): void {
    this.boxes.mayDiffer = true;
    if (!this.boxes.find(this.selected)) this.selected = null;
    this.showBoxes();
    this.events.boxesChanged();
  }

  private showBoxes(): void {
    for (const pane of this.orderedViews) pane.layer.showBoxes({ boxes: this.boxesOf(pane), isOriginalBox: this.boxes.isOriginalBox, selected: this.selected, locked: this.locked });
    this.paintControls();
    this.events.selectionChanged();
    this.announcer.announce(describeSelection(this.listBoxes()));
  }

  /** Select the next box of the pane; false after the last, so that Tab moves to the next control. */
  private selectByTab(pane: Pane, back: boolean): boolean {
    const boxes = this.boxesOf(pane);
    const index = boxes.findIndex((box) => box.id === this.selected);
    const next = index < 0 ? (back ? boxes.length - 1 : 0) : index + (back ? -1 : 1);
    this.select(boxes[next]?.id ?? null);
    return next >= 0 && next < boxes.length;
  }

  // ------------------------------------------------------------ radiographs

  get front(): Pane | null {
    return this.paneGrid.front;
  }

  get orderedViews(): Pane[] {
    return this.paneGrid.orderedPanes;
  }

  /** Whether the radiographs of the question are on screen. */
  get imageState(): ImageState {
    return this.paneGrid.imageState;
  }

  /** Reload what failed to load. */
  reload(): void {
    this.paneGrid.reload();
  }

  showNext(): void {
    this.paneGrid.showNext();
  }

  prefetchNext = (): void => fetchFirst(this.upcoming); // the form has requested the next question

  bringToFront(pane: Pane): void {
    this.paneGrid.bringToFront(pane);
  }

  fit(): void {
    this.paneGrid.fit();
  }

  chooseWindow(index: number): void {
    const pane = this.front;
    const voi = pane?.presets[index];
    if (!pane || !voi) return;
    pane.setVoi(voi);
    this.paneGrid.paneChanged(pane);
  }

  private imageDrawn(): void {
    this.events.imageDrawn();
    this.events.imageStateChanged();
    const pictures = this.orderedViews.map(({ radiograph }) => radiograph).filter(hasPixels);
    void prefetch([...pictures, ...this.upcoming]);
  }

  // ------------------------------------------------------------ keys and controls

  /** Handles a fixed key. Returns whether it was handled. */
  handleKey(event: KeyboardEvent): boolean {
    const action = findFixedAction(event, { hasSelection: this.selected !== null && !this.locked, isOnButton: event.composedPath()[0] instanceof HTMLButtonElement });
    if (!action) return false;
    if (event.repeat && !isFixedRepeatable(action)) return true;
    return this.execute(action, event);
  }

  hasAction(id: ActionId): boolean {
    return isViewerAction(id);
  }

  runAction(id: ActionId, event?: KeyboardEvent): boolean {
    return this.hasAction(id) && this.execute(id, event);
  }

  toggleFullScreen(): void {
    toggleFullScreen(this.root);
  }

  private execute(action: string, event?: KeyboardEvent): boolean {
    const wasRun = runCommand(this, action, event);
    if (wasRun) this.paintControls();
    return wasRun;
  }

  private handleControlKey(event: KeyboardEvent): void {
    const action = isTyping(event) ? null : findControlAction(event);
    if (!action || !this.root.isConnected || this.locked || (this.selected === null && action.startsWith("size-"))) return;
    event.preventDefault();
    event.stopPropagation();
    this.execute(action, event);
  }

  private handleKeyUp(event: KeyboardEvent): void {
    if (event.key === " ") this.pointerTools.setSpace(false);
    this.setBoxesHidden(false);
    if (event.key.startsWith("Arrow") && !isTyping(event)) this.boxes.history.closeGroup();
  }

  private releaseKeys(): void {
    this.pointerTools.setSpace(false);
    this.setBoxesHidden(false);
  }

  private paintControls(): void {
    const { front: pane, isSideBySide, isLinked, isMagnifying } = this.paneGrid;
    const { history } = this.boxes;
    const pressed = { [this.pointerTools.tool]: true, magnify: isMagnifying, "side-by-side": isSideBySide, link: isLinked, invert: pane?.invert, "full-screen": isFullScreen(this.root) };
    const disabled = { undo: !history.canUndo, redo: !history.canRedo, remove: this.selected === null, "mirror-box": this.selected === null, link: !isSideBySide };
    const listTrueNames = (flags: Record<string, unknown>): Set<string> => new Set(Object.keys(flags).filter((name) => flags[name]));
    const note = pane?.picture ? rulerNote(pane.picture.metadata) : "";
    this.toolbar.paint({ pressed: listTrueNames(pressed), disabled: listTrueNames(disabled), presets: pane?.presets ?? [], voi: pane?.voi ?? null, note });
  }
}
