// The plain editor: the radiographs of the exam, each with its canvas, and the boxes on them.
//
// The canvas is streamlit-drawable-canvas, called as Streamlit would call it. Its own undo is not used: it forgets
// everything when a drawing is set from outside, which deleting from the list and relabelling do.

import mountCanvas, { type CanvasComponent } from "drawable-canvas";
import type { CanvasData, CanvasObject, Drawings, ExamOnScreen, Radiograph } from "./api";
import { h, keycap, listen, sleep } from "./dom";
import type { BoxChanges, ImageState, ImageViewer, ListedBox, ViewerEvents } from "./viewer";

const SEND = '[aria-label="Update the app with this drawing"]';
const EDIT = '[aria-label="Edit"]';
const DELETE = '[aria-label="Delete selected"]';
const LONGEST_DRAG = 5000; // milliseconds that a save waits for a drag

/** One radiograph and its canvas; kept from question to question of one exam. */
class View {
  readonly host = h("div", { class: "canvas-host" }, h("div", { class: "canvas-root" }));
  machine: CanvasObject[] = [];
  objects: CanvasObject[] = [];
  past: CanvasObject[][] = [];
  future: CanvasObject[][] = [];
  touched = false;
  painted = false;
  isPressed = false;
  /** The picture is in the browser, though its canvas may not have painted it. */
  loaded = false;
  /** Shown where the picture could not be loaded. */
  failure: HTMLElement | null = null;
  loads = 0;
  /** What the canvas was last called with. */
  mounted: CanvasComponent | null = null;
  endCanvas: (() => void) | undefined;

  constructor(
    readonly address: string,
    public radiograph: Radiograph,
  ) {
    this.host.addEventListener("pointerdown", () => (this.isPressed = true));
  }

  get canvas(): CanvasData | null {
    return this.radiograph.canvas ?? null;
  }

  query(selector: string): HTMLButtonElement | null {
    return this.host.querySelector<HTMLButtonElement>(selector);
  }

  end(): void {
    this.endCanvas?.();
    this.host.remove();
  }
}

const addressOf = (radiograph: Radiograph): string => radiograph.url ?? `none:${radiograph.id}`;

export class PlainEditor implements ImageViewer {
  readonly stage = h("div", { class: "stage" });
  readonly root: HTMLElement;
  editing = false;
  label = "";
  zoom = 1;
  private readonly strip = h("div", { class: "strip", role: "group", "aria-label": "Radiographs of the exam" });
  private readonly views = new Map<string, View>(); // by address of the picture
  private readonly ends: (() => void)[];
  order: View[] = [];
  private front: View | null = null;
  private locked = true;
  private question = "";

  constructor(private readonly events: ViewerEvents) {
    this.root = h("div", { class: "radiographs" }, this.stage, this.strip);
    const sizes = new ResizeObserver(() => this.fit());
    sizes.observe(this.stage);
    const released = (): void => {
      for (const view of this.order) view.isPressed = false;
    };
    const capture = { capture: true };
    this.ends = [() => sizes.disconnect(), listen(document, "pointerup", released, capture), listen(document, "pointercancel", released, capture)];
  }

  show(data: ExamOnScreen): void {
    this.locked = data.blind || !data.open || !data.asks.boxes;
    this.question = `${data.batch}:${data.question}:${data.blind}`;
    const wanted = new Set(data.radiographs.map(addressOf));
    for (const view of this.views.values()) if (!wanted.has(view.address)) this.removeView(view);
    this.order = data.radiographs.map((radiograph) => this.showRadiograph(radiograph));
    const isKept = this.front !== null && this.order.includes(this.front);
    if (!isKept) this.zoom = 1;
    this.setEditing(false);
    this.bringForward(isKept ? this.front : (this.order[0] ?? null));
  }

  withdrawn(): void {
    this.locked = true;
    for (const view of this.views.values()) this.removeView(view);
    this.order = [];
    this.front = null;
    this.stage.replaceChildren(h("p", { class: "no-picture" }, "This question is no longer assigned to you."));
    this.strip.replaceChildren();
  }

  drawings(): Drawings | null {
    if (!this.locked) for (const view of this.order) if (view.painted) view.query(SEND)?.click(); // an edit of a moment ago included
    if (!this.order.some((view) => view.touched)) return null;
    return Object.fromEntries(this.order.filter((view) => view.canvas).map((view) => [view.radiograph.id, view.objects]));
  }

  async settled(): Promise<void> {
    const until = performance.now() + LONGEST_DRAG;
    while (this.order.some((view) => view.isPressed) && performance.now() < until) await sleep(16);
    await sleep(0);
  }

  list(): ListedBox[] {
    return this.order.flatMap((view) => {
      const { canvas, objects, machine } = view;
      const { rows = 1, columns = 1 } = view.radiograph;
      if (!canvas) return [];
      const [sx, sy] = [columns / canvas.canvasWidth, rows / canvas.canvasHeight];
      return objects.map((object, index) => ({
        view,
        index,
        label: object.label ?? "",
        width: Math.round(widthOf(object) * sx),
        height: Math.round(heightOf(object) * sy),
        x: Math.round(object.left * sx),
        y: Math.round(object.top * sy),
        machine: machine.some((box) => isSameBox(box, object)),
      }));
    });
  }

  changes(): BoxChanges {
    const gone = this.order.flatMap(({ machine, objects }) => machine.filter((box) => !objects.some((object) => isSameBox(box, object))).map(({ label = "" }) => ({ label })));
    return { added: this.list().filter((box) => !box.machine), gone };
  }

  relabel(box: ListedBox, label: string): void {
    const view = this.viewOf(box);
    if (view) this.edit(view, view.objects.map((object, at) => (at === box.index ? { ...object, label } : object)));
  }

  remove(box: ListedBox): void {
    const view = this.viewOf(box);
    if (view) this.edit(view, view.objects.filter((_, at) => at !== box.index));
  }

  choose(box: ListedBox): void {
    if (box.view !== this.front) this.bringForward(this.viewOf(box));
  }

  reset(): void {
    for (const view of this.order) if (view.canvas && !areSameBoxes(view.objects, view.machine)) this.edit(view, view.machine);
  }

  undo(): void {
    this.step("past", "future");
  }

  redo(): void {
    this.step("future", "past");
  }

  setLabel(label: string): void {
    this.label = label;
    for (const { mounted } of this.order) {
      if (!mounted) continue;
      mounted.data = { ...mounted.data, label };
      mountCanvas(mounted);
    }
  }

  /** Move and resize the boxes that are there, or draw new ones. */
  setEditing(on: boolean): void {
    this.editing = on && !this.locked;
    for (const view of this.order) this.pressEdit(view);
  }

  deleteSelected(): void {
    const button = this.front?.query(DELETE);
    if (this.editing && button && !button.disabled) button.click();
  }

  next(): void {
    if (this.front && this.order.length > 1) this.bringForward(this.order[(this.order.indexOf(this.front) + 1) % this.order.length] ?? null);
  }

  setZoom(zoom: number): void {
    this.zoom = Math.min(4, Math.max(1, zoom));
    this.fit();
  }

  get imageState(): ImageState {
    const views = this.order.filter((view) => view.canvas);
    if (views.length === 0) return "none";
    if (views.some((view) => view.failure)) return "failed";
    const isFrontDrawn = !this.front?.canvas || this.front.painted;
    return isFrontDrawn && views.every((view) => view.painted || view.loaded) ? "drawn" : "loading";
  }

  reload(): void {
    for (const view of this.order.filter(({ canvas, painted }) => canvas && !painted)) {
      this.probe(view);
      this.load(view, view.objects);
    }
    this.events.imageStateChanged();
  }

  /** The whole picture in the room there is, times the zoom; the canvas itself keeps its size. */
  fit(): void {
    const { stage, front } = this;
    const { clientWidth: width, clientHeight: height } = stage;
    if (!front?.canvas || width < 10 || height < 10) return;
    const { canvasWidth, canvasHeight } = front.canvas;
    const scale = Math.min(width / canvasWidth, height / canvasHeight) * this.zoom;
    const middleX = (stage.scrollLeft + width / 2) / Math.max(1, stage.scrollWidth);
    const middleY = (stage.scrollTop + height / 2) / Math.max(1, stage.scrollHeight);
    const { style } = front.host;
    style.width = `${Math.floor(canvasWidth * scale)}px`;
    style.height = `${Math.floor(canvasHeight * scale)}px`;
    style.setProperty("--scale", String(scale));
    stage.classList.toggle("zoomed", this.zoom > 1);
    stage.scrollTo(middleX * stage.scrollWidth - width / 2, middleY * stage.scrollHeight - height / 2);
  }

  end(): void {
    for (const end of this.ends) end();
    for (const view of this.views.values()) view.endCanvas?.();
    this.views.clear();
  }

  private viewOf(box: ListedBox): View | null {
    return this.order.find((view) => view === box.view) ?? null;
  }

  private showRadiograph(radiograph: Radiograph): View {
    const address = addressOf(radiograph);
    const known = this.views.get(address);
    const view = known ?? new View(address, radiograph);
    this.views.set(address, view);
    if (!known) this.probe(view);
    view.radiograph = radiograph;
    view.past = [];
    view.future = [];
    view.machine = radiograph.machine ?? [];
    view.objects = radiograph.canvas?.initialDrawing.objects ?? [];
    view.touched = Boolean(radiograph.touched);
    this.load(view, view.objects);
    return view;
  }

  /** Find out whether the picture can be loaded: the canvas reports nothing when it can't. */
  private probe(view: View): void {
    const { url } = view.radiograph;
    if (url === undefined) return;
    const picture = new Image();
    view.failure?.remove();
    view.failure = null;
    picture.addEventListener("load", () => {
      view.loaded = true;
      this.events.imageStateChanged();
    });
    picture.addEventListener("error", () => {
      view.failure = h("p", { class: "no-picture" }, "The image could not be loaded. ", h("button", { type: "button", onclick: () => this.reload() }, "Retry"));
      view.host.append(view.failure);
      this.events.imageStateChanged();
    });
    picture.src = url;
  }

  private removeView(view: View): void {
    view.end();
    this.views.delete(view.address);
  }

  /** Set a drawing from outside. The number in it keeps the canvas from taking two questions for one. */
  private load(view: View, objects: CanvasObject[]): void {
    view.objects = objects;
    if (!view.canvas) return;
    view.loads += 1;
    const { question } = this;
    const drawing = { objects, background: "", overread: `${question}:${view.loads}` };
    view.mounted = {
      data: { ...view.canvas, label: this.label, disabled: this.locked, initialDrawing: drawing },
      parentElement: view.host,
      setStateValue: (name, value) => {
        if (name === "backgroundFit" && value) this.markPainted(view);
        if (name === "drawing" && value && question === this.question) this.receive(view, value.raw.objects);
      },
      key: view.address,
      name: "canvas",
    };
    view.endCanvas = mountCanvas(view.mounted);
    if (this.editing) queueMicrotask(() => this.pressEdit(view));
  }

  private markPainted(view: View): void {
    view.painted = true;
    if (view === this.front) this.events.drawn();
    this.events.imageStateChanged();
  }

  /** The canvas reports what is on it: after each edit, and when it is asked. */
  private receive(view: View, objects: CanvasObject[]): void {
    if (this.locked) return;
    const boxes = objects.filter((object) => object.type === "LabeledRect");
    const kept = boxes.filter((object) => !isSpeck(view, object));
    if (!areSameBoxes(kept, view.objects)) {
      this.remember(view);
      view.objects = kept;
      this.events.changed();
    }
    if (kept.length < boxes.length) this.load(view, kept);
  }

  private edit(view: View, objects: CanvasObject[]): void {
    this.remember(view);
    this.load(view, objects);
    this.events.changed();
  }

  private remember(view: View): void {
    view.past.push(view.objects);
    view.future = [];
    view.touched = true;
  }

  private step(from: "past" | "future", to: "past" | "future"): void {
    const view = this.front;
    const objects = view?.[from].pop();
    if (!view || !objects) return;
    view[to].push(view.objects);
    this.load(view, objects);
    this.events.changed();
  }

  private pressEdit(view: View): void {
    const button = view.query(EDIT);
    if (button && (button.getAttribute("aria-pressed") === "true") !== this.editing) button.click();
  }

  private bringForward(view: View | null): void {
    this.front = view;
    const { order } = this;
    this.strip.replaceChildren(...(order.length > 1 ? order.map((each, index) => this.thumbnail(each, index)) : []));
    if (!view) {
      this.stage.replaceChildren();
      return;
    }
    const { id, view: name } = view.radiograph;
    this.stage.replaceChildren(view.canvas ? view.host : h("p", { class: "no-picture" }, `The workspace has no image for ${id} (${name}).`));
    this.fit();
    if (view.painted || !view.canvas) this.events.drawn();
  }

  private thumbnail(view: View, index: number): HTMLButtonElement {
    const isFront = view === this.front;
    const { url, view: name } = view.radiograph;
    return h(
      "button",
      { type: "button", class: "thumbnail", "aria-pressed": String(isFront), onclick: () => this.bringForward(view) },
      url !== undefined && h("img", { src: url.replace(/longest=\d+/, "longest=300"), alt: "", loading: "lazy" }),
      h("span", {}, `${index + 1}. ${name}`, !isFront && keycap("L")),
    );
  }
}

const NEAR = 0.05; // the canvas writes its numbers with four decimals
const isNear = (a: number, b: number): boolean => Math.abs(a - b) < NEAR;
const widthOf = (object: CanvasObject): number => object.width * (object.scaleX ?? 1);
const heightOf = (object: CanvasObject): number => object.height * (object.scaleY ?? 1);

function isSameBox(a: CanvasObject, b: CanvasObject): boolean {
  return (a.label ?? "") === (b.label ?? "") && isNear(a.left, b.left) && isNear(a.top, b.top) && isNear(widthOf(a), widthOf(b)) && isNear(heightOf(a), heightOf(b));
}

const areSameBoxes = (some: CanvasObject[], others: CanvasObject[]): boolean => some.length === others.length && some.every((box, at) => isSameBox(box, others[at]!));

/** What a click or a twitch leaves behind; a machine's box of that size is none. */
function isSpeck({ canvas, machine }: View, object: CanvasObject): boolean {
  const limit = 2 * (canvas?.strokeWidth ?? 0) + 0.01;
  const [width, height] = [widthOf(object), heightOf(object)];
  return width <= limit && height <= limit && !machine.some((box) => isNear(box.width, width) && isNear(box.height, height));
}
