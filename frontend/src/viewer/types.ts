// The data of a radiograph from the server. Field names match the JSON.

export type WindowFunction = "LINEAR" | "LINEAR_EXACT" | "SIGMOID";

/** A window in values after the modality transform (PS3.3 C.11.2.1.2). */
export interface Window {
  name: string;
  center: number;
  width: number;
  function: WindowFunction;
}

/** A stored VOI table (PS3.3 C.11.2.1.1): `values[0]` is for the value `first` and all below it; entries have `bits` bits. */
export interface VoiTable {
  name: string;
  first: number;
  bits: number;
  values: number[];
}

export type Voi = Window | VoiTable;

export const isTable = (voi: Voi): voi is VoiTable => "values" in voi;

/** Converts stored values to the values in which windows are given (PS3.3 C.11.1). */
export interface Modality {
  kind: "identity" | "linear" | "table";
  slope: number;
  intercept: number;
  table_first: number;
  table: number[];
}

/** Millimetres from pixel to pixel, down and across; `kind` states what was measured; null if there is no valid value. */
export interface Spacing {
  row_mm: number | null;
  column_mm: number | null;
  kind: "detector plane" | "calibrated" | null;
  note: string;
}

/** The data needed to display the matrix. A transferred value is the stored value plus `offset`. */
export interface ImageMetadata {
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
  /** The table or window to show first; a stored one may not fit the pixels. */
  first_look?: { kind: "table" | "window" | "automatic"; index: number };
  spacing: Spacing | null;
  aspect: [number, number];
  /** The directions in the patient to the right along a row and down along a column, such as L and F (PS3.3 C.7.6.1.1.1). */
  orientation: [string, string] | null;
  notes?: string[];
}

export type { ImageState } from "../shared/viewer";
export type { Corners, ExamData, PlainBox, Radiograph } from "../shared/api";
