// The boxes of one radiograph, drawn by Konva over the image, in CSS pixels of the pane.
//
// Konva's own scaling is not used: each box is placed by the view, so that lines, handles and labels keep their
// size at every zoom, and transform.ts converts positions back to the matrix.

import Konva from "konva/lib/Core";
import { Label, Tag } from "konva/lib/shapes/Label";
import { Rect } from "konva/lib/shapes/Rect";
import { Text } from "konva/lib/shapes/Text";
import { Transformer } from "konva/lib/shapes/Transformer";

import type { ViewerBox } from "./boxes";
import { placeLabel } from "./label-placement";
import { boxToMatrix, boxToScreen, type View } from "./transform";
import type { Corners } from "./types";

/** Original boxes are amber and dashed, own boxes cyan and solid: distinguishable without colour. */
const STYLES = { original: { stroke: "#ffb000", dash: [9, 5] }, own: { stroke: "#22d3ee", dash: [] as number[] } };
const FONT = 13;
const SMALL_BOX = 44; // CSS pixels
const CORNERS = ["top-left", "top-right", "bottom-left", "bottom-right"];
const SIDES = ["top-center", "middle-left", "middle-right", "bottom-center"];

export interface BoxLayerEvents {
  select: (id: number | null) => void;
  /** A box was moved or resized. */
  boxChanged: (id: number, box: Corners, resized: boolean) => void;
}

export interface BoxLayerState {
  boxes: readonly ViewerBox[];
  isOriginalBox: (box: ViewerBox) => boolean;
  selected: number | null;
  locked: boolean;
}

export class BoxLayer {
  private readonly stage: Konva.Stage;
  private readonly layer = new Konva.Layer();
  private readonly handles: Transformer;
  private readonly preview = new Rect({ stroke: STYLES.own.stroke, strokeWidth: 2, listening: false, visible: false });
  private readonly nodes = new Map<number, { rect: Rect; label: Label; box: ViewerBox }>();
  private view: View | null = null;
  private state: BoxLayerState = { boxes: [], isOriginalBox: () => false, selected: null, locked: true };
  private draggedId: number | null = null;

  constructor(container: HTMLDivElement, private readonly events: BoxLayerEvents) {
    this.stage = new Konva.Stage({ container, width: 1, height: 1 });
    this.handles = new Transformer({
      rotateEnabled: false, flipEnabled: false, keepRatio: false, ignoreStroke: true, borderEnabled: false,
      anchorSize: 9, anchorStroke: "#0b0c0e", anchorFill: "#ffffff", anchorCornerRadius: 1, shouldOverdrawWholeArea: false,
    }); // prettier-ignore
    this.layer.add(this.preview, this.handles);
    this.stage.add(this.layer);
    Konva.dragButtons = [0];
  }

  /** Show other boxes or another selection. */
  showBoxes(state: BoxLayerState): void {
    this.state = state;
    const ids = new Set(state.boxes.map((box) => box.id));
    for (const [id, { rect, label }] of this.nodes) {
      if (ids.has(id)) continue;
      rect.destroy();
      label.destroy();
      this.nodes.delete(id);
    }
    for (const box of state.boxes) {
      const existing = this.nodes.get(box.id);
      if (existing) existing.box = box;
      else this.nodes.set(box.id, { ...this.createNodes(box), box });
    }
    const selected = state.selected === null ? undefined : this.nodes.get(state.selected);
    for (const { rect, label, box } of this.nodes.values()) {
      const style = state.isOriginalBox(box) ? STYLES.original : STYLES.own;
      const isSelected = selected?.rect === rect;
      rect.setAttrs({ ...style, strokeWidth: isSelected ? 3 : 2, draggable: !state.locked, fill: isSelected && !state.locked ? "rgba(0,0,0,0.002)" : undefined });
      label.getText().setAttrs({ text: box.label || "no label", fill: style.stroke, fontStyle: box.label ? "normal" : "italic" });
    }
    selected?.rect.moveToTop();
    this.handles.nodes(selected && !state.locked ? [selected.rect] : []);
    this.handles.moveToTop();
    if (this.view) this.applyView(this.view);
  }

  /** Place the boxes for another view. */
  applyView(view: View): void {
    this.view = view;
    if (this.stage.width() !== view.width || this.stage.height() !== view.height) this.stage.size({ width: view.width, height: view.height });
    for (const { rect, box } of this.nodes.values()) {
      if (box.id === this.draggedId) continue;
      const [left, top, right, bottom] = boxToScreen(view, box.box);
      rect.setAttrs({ x: left, y: top, width: right - left, height: bottom - top, scaleX: 1, scaleY: 1 });
    }
    this.placeLabels();
    this.fitHandles();
    this.layer.batchDraw();
  }

  /** Whether the pointer is on a shape that Konva handles: a line, a handle, the selected box. Labels are excluded:
   * a new box may start under a label. */
  isOnShape([x, y]: readonly [number, number]): boolean {
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

  /** The smallest box that contains the point. */
  boxAt(position: readonly [number, number]): number | null {
    const area = ([a, b, c, d]: Corners): number => (c - a) * (d - b);
    const containing = this.state.boxes.filter(({ box: [a, b, c, d] }) => position[0] >= a && position[0] <= c && position[1] >= b && position[1] <= d);
    return containing.sort((first, second) => area(first.box) - area(second.box))[0]?.id ?? null;
  }

  /** Show a preview of the shape that is being drawn. Null removes it. */
  showPreview(corners: Corners | null, dashed = false): void {
    this.preview.visible(corners !== null);
    if (corners) {
      const [left, top, right, bottom] = corners;
      this.preview.setAttrs({ x: left, y: top, width: right - left, height: bottom - top, dash: dashed ? [3, 4] : [] });
      this.preview.stroke(dashed ? "#e8e8e8" : STYLES.own.stroke);
    }
    this.layer.batchDraw();
  }

  /** Boxes do not listen to the pointer while another tool is active. */
  setListening(enabled: boolean): void {
    this.layer.listening(enabled);
    this.handles.visible(enabled);
  }

  setVisible(visible: boolean): void {
    this.layer.visible(visible);
  }

  /** Whether a box is being moved or resized. */
  get isBusy(): boolean {
    return this.draggedId !== null;
  }

  /** The position of a box's label, for the label field. */
  findLabelPosition(id: number): [number, number] | null {
    const node = this.nodes.get(id);
    return node ? [node.label.x(), node.label.y()] : null;
  }

  end(): void {
    this.stage.destroy();
  }

  private createNodes(box: ViewerBox): { rect: Rect; label: Label } {
    const rect = new Rect({ strokeScaleEnabled: false, hitStrokeWidth: 12 });
    const label = new Label({ listening: false });
    label.add(new Tag({ cornerRadius: 2, fill: "rgba(6, 8, 10, 0.78)" }), new Text({ fontSize: FONT, fontFamily: "system-ui, sans-serif", padding: 3 }));
    const id = box.id;
    rect.on("pointerdown", ({ evt }) => {
      if (evt.button === 0) this.events.select(id);
    });
    rect.on("dragstart transformstart", () => (this.draggedId = id));
    rect.on("dragmove transform", () => this.placeLabels());
    rect.on("dragend", () => this.finishDrag(id, rect, false));
    rect.on("transformend", () => this.finishDrag(id, rect, true));
    this.layer.add(rect, label);
    return { rect, label };
  }

  private finishDrag(id: number, rect: Rect, resized: boolean): void {
    this.draggedId = null;
    if (this.view) this.events.boxChanged(id, boxToMatrix(this.view, getCorners(rect)), resized);
  }

  /** Small boxes have small handles at the corners only, so that the handles do not cover the content. */
  private fitHandles(): void {
    const [selected] = this.handles.nodes();
    if (!selected) return;
    const isSmall = Math.min(selected.width(), selected.height()) < SMALL_BOX;
    if (this.handles.anchorSize() !== (isSmall ? 6 : 9)) this.handles.setAttrs({ anchorSize: isSmall ? 6 : 9, enabledAnchors: isSmall ? CORNERS : [...CORNERS, ...SIDES] });
    this.handles.forceUpdate();
  }

  private placeLabels(): void {
    const { view } = this;
    if (!view) return;
    const boxes = [...this.nodes.values()].map(({ rect }) => getCorners(rect));
    const labels: Corners[] = [];
    for (const { rect, label } of this.nodes.values()) {
      const [width, height] = [label.width(), label.height()];
      const bounds = getCorners(rect);
      const isOffScreen = bounds[2] < 0 || bounds[3] < 0 || bounds[0] > view.width || bounds[1] > view.height;
      label.visible(!isOffScreen);
      if (isOffScreen) continue;
      const others = boxes.filter((box) => box.some((value, index) => value !== bounds[index]) && !contains(box, bounds));
      const [x, y] = placeLabel(bounds, width, height, view, [...others, ...labels]);
      label.position({ x, y });
      labels.push([x, y, x + width, y + height]);
    }
  }
}

function getCorners(rect: Rect): Corners {
  const [x, y, width, height] = [rect.x(), rect.y(), rect.width() * rect.scaleX(), rect.height() * rect.scaleY()];
  return [x, y, x + width, y + height];
}

/** Whether the first box contains the second, whose label then cannot avoid the first. */
const contains = ([a, b, c, d]: Corners, [e, f, g, h]: Corners): boolean => a <= e && b <= f && c >= g && d >= h;
