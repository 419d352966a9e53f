// What the server says of a radiograph, and what the viewer holds. Field names are those of the wire.

export type WindowFunction = "LINEAR" | "LINEAR_EXACT" | "SIGMOID";

/** A window in values after the modality transform (PS3.3 C.11.2.1.2). */
export interface Window {
  name: string;
  center: number;
  width: number;
  function: WindowFunction;
}

/** A stored VOI table (PS3.3 C.11.2.1.1): `values[0]` is for `first` and all below it; entries have `bits`. */
export interface VoiTable {
  name: string;
  first: number;
  bits: number;
  values: number[];
}

export type Voi = Window | VoiTable;

export const isTable = (voi: Voi): voi is VoiTable => "values" in voi;

/** From stored values to those that windows are given in (PS3.3 C.11.1). */
export interface Modality {
  kind: "identity" | "linear" | "table";
  slope: number;
  intercept: number;
  table_first: number;
  table: number[];
}

/** Millimetres from pixel to pixel, down and across; `kind` says what was measured, null that nothing valid was. */
export interface Spacing {
  row_mm: number | null;
  column_mm: number | null;
  kind: "detector plane" | "calibrated" | null;
  note: string;
}

/** All that is needed to show the matrix rightly. A value on the wire is the stored one plus `offset`. */
export interface Facts {
  rows: number;
  columns: number;
  bits: number;
  signed: boolean;
  offset?: number;
  inverted: boolean;
  stored_min: number;
  stored_max: number;
  padding: [number, number] | null;
  modality: Modality;
  windows: Window[];
  voi_tables: VoiTable[];
  automatic: { center: number; width: number };
  /** Which of tables and windows to begin with; a stored one may have nothing to do with the pixels. */
  first_look?: { kind: "table" | "window" | "automatic"; index: number };
  spacing: Spacing | null;
  aspect: [number, number];
  /** Where rows and columns run to, to the right and down, such as L and F (PS3.3 C.7.6.1.1.1). */
  orientation: [string, string] | null;
  notes?: string[];
}

/** x_min, y_min, x_max, y_max in pixels of the stored matrix; (0, 0) the outer corner of the first pixel (PS3.3 C.18.6). */
export type Corners = [number, number, number, number];

/** A box as the server sends it. */
export interface PlainBox {
  label: string;
  box: Corners;
}

/** A radiograph of the exam as the judging form hands it on. */
export interface Radiograph {
  id: string;
  view: string;
  rows?: number;
  columns?: number;
  /** Addresses of the matrix, of what is said about it, and of an 8-bit picture for when the matrix can't be had. */
  pixels?: string;
  facts?: string;
  url?: string;
  boxes?: PlainBox[];
  machineBoxes?: PlainBox[];
  touched?: boolean;
}

/** What the form shows: one question of one exam. */
export interface Sheet {
  batch: number;
  question: number;
  blind: boolean;
  open: boolean;
  asks: { boxes: boolean };
  radiographs: Radiograph[];
  upcoming?: { pixels: string; facts: string }[];
}
