// The report, if the batch allows it. It can be opened after image alignment is rated; opening it locks that rating.

import { button, h } from "../shared/dom";
import { shortcutLabel } from "../shared/shortcuts";

export class Report {
  readonly root = h("section", { class: "report", "aria-label": "Report" });
  private readonly button: HTMLButtonElement;
  private readonly hint = h("span", { class: "hint" });

  /** `text` is null until the report is opened. `getRating()` returns the rating of image alignment; `onOpen` opens the report. */
  constructor(
    private readonly text: string | null,
    private readonly isOpen: boolean,
    private readonly getRating: () => number | null,
    private readonly onOpen: (rating: number) => unknown,
  ) {
    this.button = button("Open the report ", shortcutLabel("open-report"), () => this.open(), { class: "quiet" });
    if (text === null) this.root.append(this.button, this.hint);
    else this.root.append(h("span", { class: "label" }, "Report"), h("p", {}, text));
    this.paint();
  }

  paint(): void {
    const rating = this.getRating();
    this.button.disabled = rating === null || !this.isOpen;
    this.hint.textContent = rating === null ? "available after image alignment is rated" : `opening the report locks image alignment at ${rating}`;
  }

  open(): void {
    const rating = this.getRating();
    if (this.text === null && rating !== null && this.isOpen) this.onOpen(rating);
  }
}
