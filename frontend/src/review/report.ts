// The report, where the batch allows it: offered once image alignment has been rated, which opening it fixes.

import { button, h } from "../shared/dom";

export class Report {
  readonly root = h("section", { class: "report", "aria-label": "Report" });
  private readonly button: HTMLButtonElement;
  private readonly hint = h("span", { class: "hint" });

  /** `text` is null until the report has been opened; `rated()` is the rating of image alignment; `fetch` opens it. */
  constructor(
    private readonly text: string | null,
    private readonly isOpen: boolean,
    private readonly rated: () => number | null,
    private readonly fetch: (rating: number) => unknown,
  ) {
    this.button = button("Open the report ", "P", () => this.open(), { class: "quiet" });
    if (text === null) this.root.append(this.button, this.hint);
    else this.root.append(h("span", { class: "label" }, "Report"), h("p", {}, text));
    this.paint();
  }

  paint(): void {
    const rating = this.rated();
    this.button.disabled = rating === null || !this.isOpen;
    this.hint.textContent = rating === null ? "available after image alignment is rated" : `opening the report locks image alignment at ${rating}`;
  }

  open(): void {
    const rating = this.rated();
    if (this.text === null && rating !== null && this.isOpen) this.fetch(rating);
  }
}
