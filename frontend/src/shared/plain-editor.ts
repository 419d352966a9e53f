// The plain editor: the radiographs of the exam, each with its canvas, and the boxes on them.
//
// The canvas is streamlit-drawable-canvas, called as Streamlit would call it. The undo of the canvas is not used: it
// loses its history whenever this code sets the boxes, as when a box is deleted from the list or relabelled.

import mountCanvas, { type CanvasComponent } from "drawable-canvas";
import type { CanvasData, CanvasObject, Drawings, ExamData, Radiograph } from "./api";
import { h, keycap, listen, sleep } from "./dom";
import { openLabelField } from "./label-field";
import { shortcutLabel, type ActionId } from "./shortcuts";
import type { BoxChanges, ImageState, ImageViewer, ListedBox, ViewerEvents } from "./viewer";

const SEND_BUTTON = '[aria-label="Update the app with this drawing"]';
const EDIT_BUTTON = '[aria-label="Edit"]';
const DELETE_BUTTON = '[aria-label="Delete selected"]';
const MAX_DRAG = 5000; // milliseconds that a save waits for a drag

const ACTIONS: ReadonlySet<ActionId> = new Set(["next-radiograph", "toggle-tool", "undo", "redo", "remove", "invert", "zoom-in", "zoom-out", "fit"] as const);

/** One radiograph and its canvas, kept across the questions of one exam. */
class RadiographView {
  readonly container = h("div", { class: "canvas-host", tabindex: "-1" }, h("div", { class: "canvas-root" }));
  originalObjects: CanvasObject[] = [];
  objects: CanvasObject[] = [];
  past: CanvasObject[][] = [];
  future: CanvasObject[][] = [];
  hasEdits = false;
  isPainted = false;
  isPressed = false;
  /** The picture is in the browser, though its canvas may not have painted it. */
  isLoaded = false;
  /** The message that the picture could not be loaded; null without a failure. */
  failure: HTMLElement | null = null;
  drawingNumber = 0;
  /** The parameters with which the canvas was last mounted. */
  canvasParameters: CanvasComponent | null = null;
  unmountCanvas: (() => void) | undefined;

  constructor(
    readonly address: string,
    public radiograph: Radiograph,
  ) {
    this.container.addEventListener("pointerdown", () => (this.isPressed = true));
  }

  get canvas(): CanvasData | null {
    return this.radiograph.canvas ?? null;
  }

  query(selector: string): HTMLButtonElement | null {
    return this.container.querySelector<HTMLButtonElement>(selector);
  }

  end(): void {
    this.unmountCanvas?.();
    this.container.remove();
  }
}

const getAddress = (radiograph: Radiograph): string => radiograph.previewUrl ?? `none:${radiograph.id}`;

export class PlainEditor implements ImageViewer {
  readonly stage = h("div", { class: "stage" });
  readonly root: HTMLElement;
  isEditing = false;
  zoom = 1;
  private readonly strip = h("div", { class: "strip", role: "group", "aria-label": "Radiographs of the exam" });
  private readonly views = new Map<string, RadiographView>(); // by address of the picture
  private readonly cleanups: (() => void)[];
  orderedViews: RadiographView[] = [];
  private front: RadiographView | null = null;
  private isLocked = true;
  private question = "";
  private label = ""; // of new boxes
  private labels: readonly string[] = [];
  private closeLabelField = (): void => undefined;

  constructor(private readonly events: ViewerEvents) {
    this.root = h("div", { class: "radiographs" }, this.stage, this.strip);
    const resizeObserver = new ResizeObserver(() => this.fit());
    resizeObserver.observe(this.stage);
    const onRelease = (): void => {
      for (const view of this.orderedViews.filter(({ isPressed }) => isPressed)) {
        view.isPressed = false;
        setTimeout(() => this.requestDrawing(view)); // otherwise the label field opens late, and typed letters act as shortcuts
      }
    };
    const capture = { capture: true };
    this.cleanups = [() => resizeObserver.disconnect(), listen(document, "pointerup", onRelease, capture), listen(document, "pointercancel", onRelease, capture)];
  }

  show(data: ExamData): void {
    this.closeLabelField(); // the next question may have the same radiograph
    this.isLocked = data.blind || !data.isOpen || !data.requested.boxes;
    this.question = `${data.batch}:${data.question}:${data.blind}`;
    this.labels = data.labels ?? [];
    const addresses = new Set(data.radiographs.map(getAddress));
    for (const view of this.views.values()) if (!addresses.has(view.address)) this.removeView(view);
    this.orderedViews = data.radiographs.map((radiograph) => this.prepareView(radiograph));
    const keepsFront = this.front !== null && this.orderedViews.includes(this.front);
    if (!keepsFront) this.zoom = 1;
    this.setEditing(false);
    this.bringToFront(keepsFront ? this.front : (this.orderedViews[0] ?? null));
  }

  hasAction(id: ActionId): boolean {
    return ACTIONS.has(id);
  }

  /** Run "next-radiograph"; plain-editor-tools.ts runs the other actions. Returns whether it was run. */
  runAction(id: ActionId): boolean {
    if (id === "next-radiograph") this.showNext();
    return id === "next-radiograph";
  }

  withdraw(): void {
    this.isLocked = true;
    for (const view of this.views.values()) this.removeView(view);
    this.orderedViews = [];
    this.front = null;
    this.stage.replaceChildren(h("p", { class: "no-picture" }, "This question is no longer assigned to you."));
    this.strip.replaceChildren();
  }

  getDrawings(): Drawings | null {
    for (const view of this.orderedViews) this.requestDrawing(view); // includes edits that the canvas has not reported yet
    if (!this.orderedViews.some((view) => view.hasEdits)) return null;
    return Object.fromEntries(this.orderedViews.filter((view) => view.canvas).map((view) => [view.radiograph.id, view.objects]));
  }

  async waitForDrawing(): Promise<void> {
    const deadline = performance.now() + MAX_DRAG;
    while (this.orderedViews.some((view) => view.isPressed) && performance.now() < deadline) await sleep(16);
    await sleep(0);
  }

  listBoxes(): ListedBox[] {
    return this.orderedViews.flatMap((view) => {
      const { canvas, objects, originalObjects } = view;
      if (!canvas) return [];
      return objects.map((object, index) => ({ view, index, ...measureBox(view, canvas, object), isOriginal: originalObjects.some((box) => isSameBox(box, object)) }));
    });
  }

  findBoxChanges(): BoxChanges {
    const removed = this.orderedViews.flatMap((view) => {
      const { canvas, originalObjects, objects } = view;
      return canvas ? originalObjects.filter((box) => !objects.some((object) => isSameBox(box, object))).map((box) => measureBox(view, canvas, box)) : [];
    });
    return { added: this.listBoxes().filter((box) => !box.isOriginal), removed };
  }

  relabelBox(box: ListedBox, label: string): void {
    const view = this.findView(box);
    if (view) this.edit(view, view.objects.map((object, index) => (index === box.index ? { ...object, label } : object)));
  }

  removeBox(box: ListedBox): void {
    const view = this.findView(box);
    if (view) this.edit(view, view.objects.filter((_, index) => index !== box.index));
  }

  selectBox(box: ListedBox): void {
    if (box.view !== this.front) this.bringToFront(this.findView(box));
  }

  resetBoxes(): void {
    for (const view of this.orderedViews) if (view.canvas && !areSameBoxes(view.objects, view.originalObjects)) this.edit(view, view.originalObjects);
  }

  undo(): void {
    this.stepHistory("past", "future");
  }

  redo(): void {
    this.stepHistory("future", "past");
  }

  setLabel(label: string): void {
    this.label = label;
    for (const { canvasParameters } of this.orderedViews) {
      if (!canvasParameters) continue;
      canvasParameters.data = { ...canvasParameters.data, label };
      mountCanvas(canvasParameters);
    }
  }

  /** Switch between editing existing boxes and drawing new ones. */
  setEditing(enabled: boolean): void {
    this.isEditing = enabled && !this.isLocked;
    for (const view of this.orderedViews) this.syncEditButton(view);
  }

  deleteSelected(): void {
    const button = this.front?.query(DELETE_BUTTON);
    if (this.isEditing && button && !button.disabled) button.click();
  }

  showNext(): void {
    if (this.front && this.orderedViews.length > 1) this.bringToFront(this.orderedViews[(this.orderedViews.indexOf(this.front) + 1) % this.orderedViews.length] ?? null);
  }

  setZoom(zoom: number): void {
    this.zoom = Math.min(4, Math.max(1, zoom));
    this.fit();
  }

  get imageState(): ImageState {
    const views = this.orderedViews.filter((view) => view.canvas);
    if (views.length === 0) return "none";
    if (views.some((view) => view.failure)) return "failed";
    const isFrontDrawn = !this.front?.canvas || this.front.isPainted;
    return isFrontDrawn && views.every((view) => view.isPainted || view.isLoaded) ? "drawn" : "loading";
  }

  reload(): void {
    for (const view of this.orderedViews.filter(({ canvas, isPainted }) => canvas && !isPainted)) {
      this.checkImage(view);
      this.mountDrawing(view, view.objects);
    }
    this.events.imageStateChanged();
  }

  /** Scale the image to the available space, times the zoom. The canvas keeps its own size. */
  fit(): void {
    const { stage, front } = this;
    const { clientWidth: width, clientHeight: height } = stage;
    if (!front?.canvas || width < 10 || height < 10) return;
    const { canvasWidth, canvasHeight } = front.canvas;
    const scale = Math.min(width / canvasWidth, height / canvasHeight) * this.zoom;
    const middleX = (stage.scrollLeft + width / 2) / Math.max(1, stage.scrollWidth);
    const middleY = (stage.scrollTop + height / 2) / Math.max(1, stage.scrollHeight);
    const { style } = front.container;
    style.width = `${Math.floor(canvasWidth * scale)}px`;
    style.height = `${Math.floor(canvasHeight * scale)}px`;
    style.setProperty("--scale", String(scale));
    stage.classList.toggle("zoomed", this.zoom > 1);
    stage.scrollTo(middleX * stage.scrollWidth - width / 2, middleY * stage.scrollHeight - height / 2);
  }

  end(): void {
    for (const end of this.cleanups) end();
    for (const view of this.views.values()) view.unmountCanvas?.();
    this.views.clear();
  }

  private findView(box: ListedBox): RadiographView | null {
    return this.orderedViews.find((view) => view === box.view) ?? null;
  }

  private prepareView(radiograph: Radiograph): RadiographView {
    const address = getAddress(radiograph);
    const existing = this.views.get(address);
    const view = existing ?? new RadiographView(address, radiograph);
    this.views.set(address, view);
    if (!existing) this.checkImage(view);
    view.radiograph = radiograph;
    view.past = [];
    view.future = [];
    view.originalObjects = radiograph.originalCanvasObjects ?? [];
    view.objects = radiograph.canvas?.initialDrawing.objects ?? [];
    view.hasEdits = Boolean(radiograph.boxesMayDiffer);
    this.mountDrawing(view, view.objects);
    return view;
  }

  /** Find out whether the picture can be loaded: the canvas reports nothing when it can't. */
  private checkImage(view: RadiographView): void {
    const { previewUrl } = view.radiograph;
    if (previewUrl === undefined) return;
    const picture = new Image();
    view.failure?.remove();
    view.failure = null;
    picture.addEventListener("load", () => {
      view.isLoaded = true;
      this.events.imageStateChanged();
    });
    picture.addEventListener("error", () => {
      view.failure = h("p", { class: "no-picture" }, "The image could not be loaded. ", h("button", { type: "button", onclick: () => this.reload() }, "Retry"));
      view.container.append(view.failure);
      this.events.imageStateChanged();
    });
    picture.src = previewUrl;
  }

  private removeView(view: RadiographView): void {
    view.end();
    this.views.delete(view.address);
  }

  /** Set the boxes of a canvas. Question and drawing number tell the canvas that they are new. */
  private mountDrawing(view: RadiographView, objects: CanvasObject[]): void {
    view.objects = objects;
    if (!view.canvas) return;
    view.drawingNumber += 1;
    const { question } = this;
    const drawing = { objects, background: "", overread: `${question}:${view.drawingNumber}` };
    view.canvasParameters = {
      data: { ...view.canvas, label: this.label, disabled: this.isLocked, initialDrawing: drawing },
      parentElement: view.container,
      setStateValue: (name, value) => {
        if (name === "backgroundFit" && value) this.markPainted(view);
        if (name === "drawing" && value && question === this.question) this.receiveDrawing(view, value.raw.objects);
      },
      key: view.address,
      name: "canvas",
    };
    view.unmountCanvas = mountCanvas(view.canvasParameters);
    if (this.isEditing) queueMicrotask(() => this.syncEditButton(view));
  }

  private markPainted(view: RadiographView): void {
    view.isPainted = true;
    if (view === this.front) this.events.imageDrawn();
    this.events.imageStateChanged();
  }

  /** Process the objects that the canvas reports after each edit and on request. */
  private receiveDrawing(view: RadiographView, objects: CanvasObject[]): void {
    if (this.isLocked) return;
    const boxes = objects.filter((object) => object.type === "LabeledRect");
    const validObjects = boxes.filter((object) => !isTooSmall(view, object));
    const before = view.objects;
    if (!areSameBoxes(validObjects, before)) {
      this.recordHistory(view);
      view.objects = validObjects;
      this.events.boxesChanged();
    }
    if (validObjects.length < boxes.length) this.mountDrawing(view, validObjects);
    const newBox = validObjects.length > before.length && validObjects.find((object) => !before.some((other) => isSameBox(object, other)));
    if (newBox && this.labels.length > 0) this.askForLabel(view, newBox);
  }

  /** Ask for the label of a new box. Drawing and labelling it are one step of undo. */
  private askForLabel(view: RadiographView, newBox: CanvasObject): void {
    const { question } = this;
    const { container, canvas } = view;
    const scale = canvas ? container.clientWidth / canvas.canvasWidth : 1;
    const host = { root: container, view: { width: container.clientWidth, height: container.clientHeight } };
    this.closeLabelField = openLabelField(host, "", this.labels, [newBox.left * scale, newBox.top * scale], (label) => {
      const save = (): void => {
        if (question !== this.question) return;
        this.requestDrawing(view);
        if (!view.objects.some((object) => isSameBox(object, newBox))) return; // it was changed or deleted meanwhile
        this.mountDrawing(view, view.objects.map((object) => (isSameBox(object, newBox) ? { ...object, label } : object)));
        this.events.boxesChanged();
      };
      if (view.isPressed) void this.waitForDrawing().then(save); // setting the boxes now would remove the one being drawn
      else save();
    });
  }

  /** Have the canvas report its boxes now. */
  private requestDrawing(view: RadiographView): void {
    if (!this.isLocked && view.isPainted) view.query(SEND_BUTTON)?.click();
  }

  private edit(view: RadiographView, objects: CanvasObject[]): void {
    this.recordHistory(view);
    this.mountDrawing(view, objects);
    this.events.boxesChanged();
  }

  private recordHistory(view: RadiographView): void {
    view.past.push(view.objects);
    view.future = [];
    view.hasEdits = true;
  }

  private stepHistory(from: "past" | "future", to: "past" | "future"): void {
    const view = this.front;
    const objects = view?.[from].pop();
    if (!view || !objects) return;
    view[to].push(view.objects);
    this.mountDrawing(view, objects);
    this.events.boxesChanged();
  }

  private syncEditButton(view: RadiographView): void {
    const button = view.query(EDIT_BUTTON);
    if (button && (button.getAttribute("aria-pressed") === "true") !== this.isEditing) button.click();
  }

  private bringToFront(view: RadiographView | null): void {
    this.front = view;
    const { orderedViews } = this;
    this.strip.replaceChildren(...(orderedViews.length > 1 ? orderedViews.map((orderedView, index) => this.createThumbnail(orderedView, index)) : []));
    if (!view) {
      this.stage.replaceChildren();
      return;
    }
    const { id, view: projection } = view.radiograph;
    this.stage.replaceChildren(view.canvas ? view.container : h("p", { class: "no-picture" }, `The workspace has no image for ${id} (${projection}).`));
    this.fit();
    if (view.isPainted || !view.canvas) this.events.imageDrawn();
  }

  private createThumbnail(view: RadiographView, index: number): HTMLButtonElement {
    const isFront = view === this.front;
    const { previewUrl, view: projection } = view.radiograph;
    return h(
      "button",
      { type: "button", class: "thumbnail", "aria-pressed": String(isFront), onclick: () => this.bringToFront(view) },
      previewUrl !== undefined && h("img", { src: previewUrl.replace(/longest=\d+/, "longest=300"), alt: "", loading: "lazy" }),
      h("span", {}, `${index + 1}. ${projection}`, !isFront && keycap(shortcutLabel("next-radiograph"))),
    );
  }
}

const TOLERANCE = 0.05; // the canvas writes its numbers with four decimals
const isNear = (a: number, b: number): boolean => Math.abs(a - b) < TOLERANCE;
/** The box in pixels of the radiograph. */
function measureBox({ radiograph: { rows = 1, columns = 1 } }: RadiographView, canvas: CanvasData, object: CanvasObject): Pick<ListedBox, "label" | "width" | "height" | "x" | "y"> {
  const [sx, sy] = [columns / canvas.canvasWidth, rows / canvas.canvasHeight];
  return {
    label: object.label ?? "",
    width: Math.round(getWidth(object) * sx),
    height: Math.round(getHeight(object) * sy),
    x: Math.round(object.left * sx),
    y: Math.round(object.top * sy),
  };
}

const getWidth = (object: CanvasObject): number => object.width * (object.scaleX ?? 1);
const getHeight = (object: CanvasObject): number => object.height * (object.scaleY ?? 1);

function isSameBox(a: CanvasObject, b: CanvasObject): boolean {
  return (a.label ?? "") === (b.label ?? "") && isNear(a.left, b.left) && isNear(a.top, b.top) && isNear(getWidth(a), getWidth(b)) && isNear(getHeight(a), getHeight(b));
}

const areSameBoxes = (first: CanvasObject[], second: CanvasObject[]): boolean => first.length === second.length && first.every((box, index) => isSameBox(box, second[index]!));

/** Whether a box is so small that it comes from an accidental click. Original boxes are never too small. */
function isTooSmall({ canvas, originalObjects }: RadiographView, object: CanvasObject): boolean {
  const limit = 2 * (canvas?.strokeWidth ?? 0) + 0.01;
  const [width, height] = [getWidth(object), getHeight(object)];
  return width <= limit && height <= limit && !originalObjects.some((box) => isNear(box.width, width) && isNear(box.height, height));
}
