// The frame of a form: question and radiograph side by side; in full screen a question panel beside or over the radiograph.

import { button, h, listen } from "./dom";
import { shortcutLabel, type ActionId } from "./shortcuts";

/** The parts of a form. */
export interface FrameParts {
  /** The line at the top: progress and status. */
  top: HTMLElement;
  /** The line about the patient. */
  patient: HTMLElement;
  /** The radiographs with their tools and list of boxes. */
  picture: (HTMLElement | null)[];
  /** The question and its input; scrolls. */
  column: HTMLElement;
  /** Messages and buttons below the column. */
  footer: (HTMLElement | null)[];
}

type Dock = "left" | "right" | "free";

const DOCK_KEY = "overread-panel-dock";
const SNAP = 40; // pixels from the window's edge within which a released panel docks

export class Frame {
  private parts: FrameParts | null = null;
  private readonly picture = h("section", { class: "left", "aria-label": "Radiographs" });
  private readonly question = h("section", { class: "right" });
  private readonly columns = h("div", { class: "columns" }, this.picture, this.question);
  private readonly hideButton = button("Hide", shortcutLabel("hide-question"), () => this.setHidden(!this.isHidden), { class: "quiet", "data-act": "hide-question" });
  private readonly sideButton = button("Side", shortcutLabel("move-question"), () => this.changeSide(), { class: "quiet", "data-act": "change-side", title: "Move the question to the other side" });
  private readonly head = h("div", { class: "panel-head", title: "Drag to move" }, h("b", {}, "Question"), h("span", { class: "spring" }), this.sideButton, this.hideButton);
  private readonly cleanups: (() => void)[];
  private isHidden = false;

  /** `onChange()` is called when the position or size of a part has changed. */
  constructor(
    private readonly root: HTMLElement,
    private readonly onChange: () => void,
  ) {
    this.dock(readDock());
    this.head.addEventListener("pointerdown", (event) => this.startMoving(event));
    this.cleanups = [listen(document, "fullscreenchange", () => this.handleFullScreenChange()), listen(window, "resize", () => this.keepInWindow())];
  }

  /** Show the parts of a question. A hidden question panel is shown again. */
  show(parts: FrameParts): void {
    this.parts = parts;
    this.setHidden(false);
    this.root.replaceChildren(this.columns);
    this.arrange();
  }

  /** Show a hidden question panel. */
  reveal(): void {
    this.setHidden(false);
  }

  /** Run an action that exists only in full screen. Returns whether the action was carried out. */
  runAction(id: ActionId): boolean {
    if (!this.isFullScreen || (id !== "hide-question" && id !== "move-question")) return false;
    if (id === "hide-question") this.setHidden(!this.isHidden);
    else this.changeSide();
    return true;
  }

  end(): void {
    for (const end of this.cleanups) end();
  }

  private get isFullScreen(): boolean {
    return (this.root.getRootNode() as ShadowRoot | Document).fullscreenElement === this.root;
  }

  private handleFullScreenChange(): void {
    const isFullScreen = this.isFullScreen;
    if (isFullScreen === this.question.contains(this.head)) return; // the layout already matches: another element entered or left full screen
    this.setHidden(false);
    this.arrange();
    this.root.focus({ preventScroll: true });
  }

  /** Arrange the parts. In full screen, the panel holds everything except the radiographs. */
  private arrange(): void {
    if (!this.parts) return;
    const { top, patient, picture, column, footer } = this.parts;
    const inPicture = picture.filter((part) => part !== null);
    const below = footer.filter((part) => part !== null);
    if (this.isFullScreen) {
      this.picture.replaceChildren(...inPicture);
      this.question.replaceChildren(this.head, top, patient, column, ...below);
    } else {
      this.picture.replaceChildren(patient, ...inPicture);
      this.question.replaceChildren(column, ...below);
      this.root.prepend(top);
    }
    this.onChange();
  }

  private setHidden(hidden: boolean): void {
    if (hidden === this.isHidden) return;
    this.isHidden = hidden;
    this.root.classList.toggle("question-hidden", hidden);
    this.hideButton.firstChild!.textContent = hidden ? "Show" : "Hide";
    this.onChange();
  }

  private changeSide(): void {
    this.dock(this.root.dataset.dock === "right" ? "left" : "right");
    this.onChange();
  }

  private dock(dock: Dock): void {
    this.root.dataset.dock = dock;
    if (dock === "free") return;
    this.question.removeAttribute("style");
    localStorage.setItem(DOCK_KEY, dock);
  }

  /** Move the panel with the pointer. Released at the left or right edge, it docks there. */
  private startMoving(event: PointerEvent): void {
    if (event.button !== 0 || event.target instanceof HTMLButtonElement) return;
    event.preventDefault();
    const { left, top } = this.question.getBoundingClientRect();
    const [dx, dy] = [event.clientX - left, event.clientY - top];
    const move = ({ clientX, clientY }: PointerEvent): void => this.moveTo(clientX - dx, clientY - dy);
    const end = ({ clientX }: PointerEvent): void => {
      for (const stop of stops) stop();
      if (clientX < SNAP) this.dock("left");
      else if (clientX > window.innerWidth - SNAP) this.dock("right");
      this.onChange();
    };
    const stops = [listen(window, "pointermove", move), listen(window, "pointerup", end), listen(window, "pointercancel", end)];
  }

  private moveTo(left: number, top: number): void {
    const wasDocked = this.root.dataset.dock !== "free";
    this.dock("free");
    const { width, height } = this.question.getBoundingClientRect();
    this.question.style.left = `${Math.max(0, Math.min(left, window.innerWidth - width))}px`;
    this.question.style.top = `${Math.max(0, Math.min(top, window.innerHeight - height))}px`;
    if (wasDocked) this.onChange();
  }

  private keepInWindow(): void {
    if (this.root.dataset.dock !== "free" || !this.isFullScreen) return;
    const { left, top } = this.question.getBoundingClientRect();
    this.moveTo(left, top);
  }
}

const readDock = (): Dock => (localStorage.getItem(DOCK_KEY) === "left" ? "left" : "right");
