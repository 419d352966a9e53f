// The boxes of one radiograph, drawn by Konva over the image, in CSS pixels of the pane.
//
// Konva's own scaling is not used: each box is placed by the view, so that lines, handles and labels keep their
// size at every zoom and the way back to the matrix is the one of transform.ts.

import Konva from "konva/lib/Core";
import { Label, Tag } from "konva/lib/shapes/Label";
import { Rect } from "konva/lib/shapes/Rect";
import { Text } from "konva/lib/shapes/Text";
import { Transformer } from "konva/lib/shapes/Transformer";

import type { RoomBox } from "./boxes";
import { placeLabel } from "./labels";
import { boxToMatrix, boxToScreen, type View } from "./transform";
import type { Corners } from "./types";

/** The machine's boxes are amber and dashed, one's own cyan and solid: told apart without colour. */
const LOOK = { machine: { stroke: "#ffb000", dash: [9, 5] }, own: { stroke: "#22d3ee", dash: [] as number[] } };
const FONT = 13;
const SMALL = 44; // CSS pixels
const CORNERS = ["top-left", "top-right", "bottom-left", "bottom-right"];
const SIDES = ["top-center", "middle-left", "middle-right", "bottom-center"];

export interface LayerTold {
  select: (id: number | null) => void;
  /** A drag or a pull at a handle has ended. */
  changed: (id: number, box: Corners, resized: boolean) => void;
}

export interface LayerState {
  boxes: readonly RoomBox[];
  isMachines: (box: RoomBox) => boolean;
  selected: number | null;
  locked: boolean;
}

export class BoxLayer {
  private readonly stage: Konva.Stage;
  private readonly layer = new Konva.Layer();
  private readonly handles: Transformer;
  private readonly ghost = new Rect({ stroke: LOOK.own.stroke, strokeWidth: 2, listening: false, visible: false });
  private readonly nodes = new Map<number, { rect: Rect; label: Label; at: RoomBox }>();
  private view: View | null = null;
  private state: LayerState = { boxes: [], isMachines: () => false, selected: null, locked: true };
  private dragged: number | null = null;

  constructor(container: HTMLDivElement, private readonly told: LayerTold) {
    this.stage = new Konva.Stage({ container, width: 1, height: 1 });
    this.handles = new Transformer({
      rotateEnabled: false, flipEnabled: false, keepRatio: false, ignoreStroke: true, borderEnabled: false,
      anchorSize: 9, anchorStroke: "#0b0c0e", anchorFill: "#ffffff", anchorCornerRadius: 1, shouldOverdrawWholeArea: false,
    }); // prettier-ignore
    this.layer.add(this.ghost, this.handles);
    this.stage.add(this.layer);
    Konva.dragButtons = [0];
  }

  /** Everything anew: other boxes, another choice. */
  show(state: LayerState): void {
    this.state = state;
    const wanted = new Set(state.boxes.map((box) => box.id));
    for (const [id, { rect, label }] of this.nodes) {
      if (wanted.has(id)) continue;
      rect.destroy();
      label.destroy();
      this.nodes.delete(id);
    }
    for (const box of state.boxes) {
      const known = this.nodes.get(box.id);
      if (known) known.at = box;
      else this.nodes.set(box.id, { ...this.nodesFor(box), at: box });
    }
    const chosen = state.selected === null ? undefined : this.nodes.get(state.selected);
    for (const { rect, label, at } of this.nodes.values()) {
      const look = state.isMachines(at) ? LOOK.machine : LOOK.own;
      const isChosen = chosen?.rect === rect;
      rect.setAttrs({ ...look, strokeWidth: isChosen ? 3 : 2, draggable: !state.locked, fill: isChosen && !state.locked ? "rgba(0,0,0,0.002)" : undefined });
      label.getText().setAttrs({ text: at.label || "no label", fill: look.stroke, fontStyle: at.label ? "normal" : "italic" });
    }
    chosen?.rect.moveToTop();
    this.handles.nodes(chosen && !state.locked ? [chosen.rect] : []);
    this.handles.moveToTop();
    if (this.view) this.place(this.view);
  }

  /** Another view of the same boxes. */
  place(view: View): void {
    this.view = view;
    if (this.stage.width() !== view.width || this.stage.height() !== view.height) this.stage.size({ width: view.width, height: view.height });
    for (const { rect, at } of this.nodes.values()) {
      if (at.id === this.dragged) continue;
      const [left, top, right, bottom] = boxToScreen(view, at.box);
      rect.setAttrs({ x: left, y: top, width: right - left, height: bottom - top, scaleX: 1, scaleY: 1 });
    }
    this.placeLabels();
    this.fitHandles();
    this.layer.batchDraw();
  }

  /** Whether the pointer is on something that Konva is to act on: a line, a handle, the chosen box. Labels are not:
   * one may stand where the next box begins. */
  isOn([x, y]: readonly [number, number]): boolean {
    return this.layer.visible() && this.stage.getIntersection({ x, y }) !== null;
  }

  /** The box whose label the pointer is on, in CSS pixels of the pane. */
  labelAt([x, y]: readonly [number, number]): number | null {
    if (!this.layer.visible()) return null;
    for (const [id, { label }] of this.nodes) {
      const [left, top] = [label.x(), label.y()];
      if (label.visible() && x >= left && x <= left + label.width() && y >= top && y <= top + label.height()) return id;
    }
    return null;
  }

  /** The smallest box that the place is in. */
  boxAt(place: readonly [number, number]): number | null {
    const area = ([a, b, c, d]: Corners): number => (c - a) * (d - b);
    const inside = this.state.boxes.filter(({ box: [a, b, c, d] }) => place[0] >= a && place[0] <= c && place[1] >= b && place[1] <= d);
    return inside.sort((some, other) => area(some.box) - area(other.box))[0]?.id ?? null;
  }

  /** What is being drawn, on screen; null takes it away. */
  showGhost(corners: Corners | null, dashed = false): void {
    this.ghost.visible(corners !== null);
    if (corners) {
      const [left, top, right, bottom] = corners;
      this.ghost.setAttrs({ x: left, y: top, width: right - left, height: bottom - top, dash: dashed ? [3, 4] : [] });
      this.ghost.stroke(dashed ? "#e8e8e8" : LOOK.own.stroke);
    }
    this.layer.batchDraw();
  }

  /** Off while another tool has the pointer. */
  setListening(on: boolean): void {
    this.layer.listening(on);
    this.handles.visible(on);
  }

  setVisible(on: boolean): void {
    this.layer.visible(on);
  }

  /** Whether a box is being moved or resized. */
  get isBusy(): boolean {
    return this.dragged !== null;
  }

  /** Where the label of a box stands, for a field over it. */
  labelPlace(id: number): [number, number] | null {
    const found = this.nodes.get(id);
    return found ? [found.label.x(), found.label.y()] : null;
  }

  end(): void {
    this.stage.destroy();
  }

  private nodesFor(box: RoomBox): { rect: Rect; label: Label } {
    const rect = new Rect({ strokeScaleEnabled: false, hitStrokeWidth: 12 });
    const label = new Label({ listening: false });
    label.add(new Tag({ cornerRadius: 2, fill: "rgba(6, 8, 10, 0.78)" }), new Text({ fontSize: FONT, fontFamily: "system-ui, sans-serif", padding: 3 }));
    const id = box.id;
    rect.on("pointerdown", ({ evt }) => {
      if (evt.button === 0) this.told.select(id);
    });
    rect.on("dragstart transformstart", () => (this.dragged = id));
    rect.on("dragmove transform", () => this.placeLabels());
    rect.on("dragend", () => this.ended(id, rect, false));
    rect.on("transformend", () => this.ended(id, rect, true));
    this.layer.add(rect, label);
    return { rect, label };
  }

  private ended(id: number, rect: Rect, resized: boolean): void {
    this.dragged = null;
    if (this.view) this.told.changed(id, boxToMatrix(this.view, cornersOf(rect)), resized);
  }

  /** On a small box there are handles at the corners alone, and smaller ones: they must not cover what is boxed. */
  private fitHandles(): void {
    const [chosen] = this.handles.nodes();
    if (!chosen) return;
    const isSmall = Math.min(chosen.width(), chosen.height()) < SMALL;
    if (this.handles.anchorSize() !== (isSmall ? 6 : 9)) this.handles.setAttrs({ anchorSize: isSmall ? 6 : 9, enabledAnchors: isSmall ? CORNERS : [...CORNERS, ...SIDES] });
    this.handles.forceUpdate();
  }

  private placeLabels(): void {
    const { view } = this;
    if (!view) return;
    const boxes = [...this.nodes.values()].map(({ rect }) => cornersOf(rect));
    const labels: Corners[] = [];
    for (const { rect, label } of this.nodes.values()) {
      const [width, height] = [label.width(), label.height()];
      const own = cornersOf(rect);
      const isOff = own[2] < 0 || own[3] < 0 || own[0] > view.width || own[1] > view.height;
      label.visible(!isOff);
      if (isOff) continue;
      const others = boxes.filter((box) => box.some((value, at) => value !== own[at]) && !contains(box, own));
      const [x, y] = placeLabel(own, width, height, view, [...others, ...labels]);
      label.position({ x, y });
      labels.push([x, y, x + width, y + height]);
    }
  }
}

function cornersOf(rect: Rect): Corners {
  const [x, y, width, height] = [rect.x(), rect.y(), rect.width() * rect.scaleX(), rect.height() * rect.scaleY()];
  return [x, y, x + width, y + height];
}

/** A box around another can't be kept clear of that one's label. */
const contains = ([a, b, c, d]: Corners, [e, f, g, h]: Corners): boolean => a <= e && b <= f && c >= g && d >= h;
