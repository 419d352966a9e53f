// The report, where the batch allows it: offered once image alignment has been rated, which opening it fixes.

import { h, keycap } from "./dom.js";

export class Report {
  constructor(form) {
    this.form = form;
    this.text = form.data.report.text;
    this.root = h("section", { class: "report", "aria-label": "Report" });
    if (this.text !== null) {
      this.root.append(h("span", { class: "label" }, "Report"), h("p", {}, this.text));
      return;
    }
    this.button = h("button", { type: "button", class: "quiet", onclick: () => this.open() }, "Open the report ", keycap("P"));
    this.hint = h("span", { class: "hint" });
    this.root.append(this.button, this.hint);
    this.paint();
  }

  get rated() {
    return this.form.state.ratings.image_alignment ?? null;
  }

  paint() {
    if (this.text !== null) return;
    this.button.disabled = this.rated === null || !this.form.data.open;
    this.hint.textContent = this.rated === null ? "after image alignment is rated" : `fixes image alignment at ${this.rated}`;
  }

  async open() {
    const { form, rated } = this;
    if (this.text !== null || rated === null || !form.data.open) return;
    await form.drafts.flush();
    const { batch, question } = form.data;
    await form.errand.save("report", { batch, question, image_alignment: rated }, { then: { to: question } });
  }
}
