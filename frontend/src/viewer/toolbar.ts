// The viewer's row of controls. Each is a button with a name, and its title states the key.

import { h, icon } from "../shared/dom";
import { shortcutLabel, keyHint, type ActionId } from "../shared/shortcuts";
import { isTable, type Voi } from "./types";

export interface Control {
  id: ActionId;
  name: string;
  /** One word that wide toolbars show beside the icon. */
  label?: string;
  /** The text on the button if it has no icon. */
  symbol: string;
  toggle?: boolean;
}

const ICON_PATHS: Record<string, string> = {
  boxes: "M2.5 3.5h11v9h-11z",
  window: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12M8 2v12M10 2.5v11M12 4v8",
  pan: "M8 1.5v13M1.5 8h13M6 3.5l2-2 2 2M6 12.5l2 2 2-2M3.5 6l-2 2 2 2M12.5 6l2 2-2 2",
  region: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M5.5 8a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0",
  ruler: "M1.5 10.5l9-9 4 4-9 9zM4 8l1.5 1.5M6 6l2 2M8 4l1.5 1.5",
  "heart-ratio": "M1.5 3v10M14.5 3v10M1.5 8h13M4.5 6v4M11.5 6v4",
  angle: "M13 13H2.5L11 3M7.2 13a4.8 4.8 0 0 0-1.6-3.6",
  undo: "M3 6h7a3.5 3.5 0 0 1 0 7H6M6 3L3 6l3 3",
  redo: "M13 6H6a3.5 3.5 0 0 0 0 7h4M10 3l3 3-3 3",
  remove: "M3.5 4.5h9M6.5 4.5v-2h3v2M5 4.5l.5 9h5l.5-9",
  "mirror-box": "M8 1.5v13M2 5h3.5v6H2zM10.5 5H14v6h-3.5z",
  invert: "M2.5 2.5h11v11h-11zM2.5 13.5l11-11M6 13.5l7.5-7.5M9.5 13.5l4-4",
  rotate: "M13 8a5 5 0 1 1-1.6-3.7M13.5 1.5v3.5H10",
  mirror: "M8 1.5v13M6 4L1.5 12H6zM10 4l4.5 8H10z",
  magnify: "M6.5 2a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9M10 10l4.5 4.5",
  "side-by-side": "M1.5 3h13v10h-13zM8 3v10",
  link: "M6.5 9.5l3-3M7 5l2-2a2.8 2.8 0 0 1 4 4l-2 2M9 11l-2 2a2.8 2.8 0 0 1-4-4l2-2",
  "full-screen": "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4",
};

const BOX_CONTROLS: Control[] = [
  { id: "boxes", name: "Boxes: drag to draw; drag a box to move it", label: "Boxes", symbol: "", toggle: true },
  { id: "undo", name: "Undo", label: "Undo", symbol: "" },
  { id: "redo", name: "Redo", label: "Redo", symbol: "" },
  { id: "remove", name: "Delete the selected box", label: "Delete", symbol: "" },
  { id: "mirror-box", name: "Copy the selected box to the other side", label: "Copy", symbol: "" },
];
const VIEW_CONTROLS: Control[] = [
  { id: "window", name: "Window: drag to adjust (or right drag with any tool)", label: "Window", symbol: "", toggle: true },
  { id: "region", name: "Window of a region", label: "Region", symbol: "", toggle: true },
  { id: "pan", name: "Pan (or middle drag or Space with any tool)", label: "Pan", symbol: "", toggle: true },
  { id: "ruler", name: "Ruler", label: "Ruler", symbol: "", toggle: true },
  { id: "heart-ratio", name: "Cardiothoracic ratio: drag across the heart, then across the thorax", label: "Ratio", symbol: "", toggle: true },
  { id: "angle", name: "Angle: drag to the vertex, then drag the other leg", label: "Angle", symbol: "", toggle: true },
  { id: "magnify", name: "Magnifier", label: "Magnify", symbol: "", toggle: true },
  { id: "invert", name: "Invert", label: "Invert", symbol: "", toggle: true },
  { id: "rotate", name: "Rotate right", label: "Rotate", symbol: "" },
  { id: "mirror", name: "Mirror horizontally", label: "Mirror", symbol: "" },
];
const ZOOM_CONTROLS: Control[] = [
  { id: "zoom-out", name: "Zoom out", symbol: "−" },
  { id: "zoom-in", name: "Zoom in", symbol: "+" },
  { id: "fit", name: "Fit to window", symbol: "Fit" },
  { id: "actual-size", name: "Actual size", symbol: "1:1" },
];
const SEVERAL_VIEW_CONTROLS: Control[] = [
  { id: "side-by-side", name: "Side by side", label: "Side by side", symbol: "", toggle: true },
  { id: "link", name: "Link window, zoom, position and rotation", label: "Link", symbol: "", toggle: true },
];
const FULL_SCREEN_CONTROLS: Control[] = [{ id: "full-screen", name: "Full screen", label: "Full screen", symbol: "", toggle: true }];

const windowTitle = (): string => `Window preset (${shortcutLabel("window-1")} to ${shortcutLabel("window-9")})`;
/** Names of presets in DICOM files are in upper case ("NORMAL"). */
const sentenceCase = (name: string): string => (name.length > 3 && name === name.toUpperCase() ? name.charAt(0) + name.slice(1).toLowerCase() : name);

export interface ToolbarState {
  pressed: ReadonlySet<string>;
  disabled: ReadonlySet<string>;
  presets: readonly Voi[];
  voi: Voi | null;
  note: string;
}

export class Toolbar {
  readonly root: HTMLElement;
  /** Tools that do not fit into the toolbar are hidden below its edge until "More" shows them. */
  private readonly tools = h("div", { class: "tools" });
  private readonly fixedTools = h("span", { class: "group" });
  private readonly moreButton = h("button", { type: "button", class: "more", "aria-label": "More tools", title: "More tools", "aria-expanded": "false", onclick: () => this.setExpanded(!this.root.classList.contains("expanded")) }, "⋯");
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly windowSelect: HTMLSelectElement;
  private shownPresets: readonly Voi[] | null = null;

  constructor(private readonly onAction: (id: ActionId) => void, onChoose: (index: number) => void) {
    this.windowSelect = h("select", {
      class: "windows",
      "aria-label": "Window",
      title: windowTitle(),
      onchange: () => {
        onChoose(Number(this.windowSelect.value));
        this.windowSelect.blur(); // so that the form receives keys again
      },
    });
    this.root = h("div", { class: "toolbar", role: "toolbar", "aria-label": "Radiograph" }, this.tools, this.moreButton, this.fixedTools);
    new ResizeObserver(() => this.updateMoreButton()).observe(this.tools);
  }

  /** Build the groups of controls for a question. */
  build({ boxes: canEditBoxes, hasSeveral }: { boxes: boolean; hasSeveral: boolean }): void {
    const groups = [canEditBoxes ? BOX_CONTROLS : [], VIEW_CONTROLS, [], ZOOM_CONTROLS, hasSeveral ? SEVERAL_VIEW_CONTROLS : []];
    this.buttons.clear();
    this.tools.replaceChildren(...groups.map((group, index) => (index === 2 ? this.windowSelect : h("span", { class: "group" }, ...group.map((control) => this.createButton(control))))));
    this.fixedTools.replaceChildren(...FULL_SCREEN_CONTROLS.map((control) => this.createButton(control)));
    this.setExpanded(false);
    this.updateMoreButton();
  }

  /** Show all tools, with further lines over the image if necessary, or only one line of them. */
  private setExpanded(expanded: boolean): void {
    this.root.classList.toggle("expanded", expanded);
    this.moreButton.setAttribute("aria-expanded", String(expanded));
  }

  private updateMoreButton(): void {
    const [first, last] = [this.tools.firstElementChild?.firstElementChild, [...this.buttons.values()].findLast((button) => this.tools.contains(button))];
    const isWrapped = first && last ? last.getBoundingClientRect().top > first.getBoundingClientRect().bottom - 2 : false;
    this.moreButton.classList.toggle("unused", !isWrapped);
  }

  paint({ pressed, disabled, presets, voi, note }: ToolbarState): void {
    for (const [id, button] of this.buttons) {
      if (button.hasAttribute("aria-pressed")) button.setAttribute("aria-pressed", String(pressed.has(id)));
      button.disabled = disabled.has(id);
    }
    if (this.shownPresets !== presets) {
      this.shownPresets = presets;
      this.windowSelect.replaceChildren(...presets.map((preset, index) => h("option", { value: String(index) }, sentenceCase(preset.name) || `Preset ${index + 1}`)), h("option", { value: "-1" }, "Custom"));
    }
    const index = voi ? presets.indexOf(voi) : -1;
    this.windowSelect.value = String(index);
    this.windowSelect.options[this.windowSelect.options.length - 1]!.textContent = voi && index < 0 && voi.name ? sentenceCase(voi.name) : "Custom";
    this.windowSelect.title = voi && isTable(voi) ? "table from the file" : windowTitle();
    this.buttons.get("ruler")?.setAttribute("title", `Ruler${keyHint("ruler")}. ${note}`);
  }

  private createButton({ id, name, label, symbol, toggle }: Control): HTMLButtonElement {
    const button = h("button", { type: "button", "data-control": id, "aria-label": name, title: `${name}${keyHint(id)}`, "aria-pressed": toggle ? "false" : null, onclick: () => this.onAction(id) });
    button.append(ICON_PATHS[id] ? icon(ICON_PATHS[id]) : symbol, ...(label ? [h("span", { class: "control-label", "aria-hidden": "true" }, label)] : []));
    this.buttons.set(id, button);
    return button;
  }
}
