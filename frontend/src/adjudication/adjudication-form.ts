// The adjudication form. It goes from dispute to dispute by its own requests; Streamlit is told only when there is none left.

import type { DisputeData, Side } from "../shared/api";
import { CaseForm } from "../shared/case-form";
import { button, formatCount, formatTime, growingArea, h, keycap } from "../shared/dom";
import type { KeyHelp } from "../shared/keys";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { patientLine } from "../shared/parts";
import { Picks } from "./picks";

const KEYS: readonly KeyHelp[] = [
  ["1, 2, …", "use that reviewer's version"],
  ["0", "keep the original question"],
  ["X", "reject the question"],
  ["W", "write the reason (Esc leaves the text field)"],
  ["Enter", "adjudicate and continue"],
  ["Shift Enter", "adjudicate without seeing the radiograph"],
  ["K / J", "previous, next dispute"],
  ["T", "try again after a failed save"],
  ["?", "show or hide this list"],
];

class AdjudicationForm extends CaseForm<DisputeData> {
  private picks: Picks | null = null;
  private reason = h("textarea");
  /** The question that the page's script asked for. */
  private requested: string | null = null;
  private keysDialog: HTMLDialogElement | null = null;

  constructor(component: StreamlitComponent<DisputeData>) {
    super(component, "settling", { judged: "adjudicated this dispute", otherwise: "You can also go to another dispute (J)." });
  }

  override show(data: DisputeData): void {
    super.show(data);
    this.reason = growingArea({ rows: 2, "aria-label": "Reason", placeholder: "Reason for the decision", maxlength: 20000, value: localStorage.getItem(this.reasonKey) }, (text) => this.keepReason(text));
    this.picks = new Picks(data, () => this.note(""), (start) => this.showBoxes(start));
    this.build(this.picks);
    this.showBoxes(null);
    this.imageCheck.reset();
    this.fit();
    const { settled } = data;
    this.note(settled ? `Adjudicated at ${formatTime(settled.at)}: ${settled.decision}. Reason: ${settled.reason} Saving replaces this decision; both are kept on record.` : "");
    this.takeFocus();
  }

  override shownKey(): string {
    return this.isEnded ? "" : `${this.data.batch}:${this.data.question}`;
  }

  /** What a later run of the script brings is older than what this form has fetched itself. */
  protected override isNew({ batch, question }: DisputeData): boolean {
    const requested = `${batch}:${question}`;
    if (requested === this.requested) return false;
    this.requested = requested;
    return true;
  }

  protected override pressed(key: string, event: KeyboardEvent): boolean {
    const { picks, data } = this;
    if (!picks || event.repeat || this.keysDialog?.open) return false;
    if (this.imageCheck.key(event) || this.viewer.key?.(event, true)) return true;
    if (/^[1-9]$/.test(key) && data.reviewers[Number(key) - 1]) picks.take(Number(key) - 1);
    else if (key === "0") picks.take("machine");
    else if (key === "x") picks.reject();
    else if (key === "w") this.reason.focus();
    else if (key === "k") void this.go(data.previous);
    else if (key === "j") void this.go(data.next);
    else if (key === "?") this.showKeys();
    else if (key === "Enter" && !(event.composedPath()[0] instanceof HTMLButtonElement)) void this.settle();
    else if (key !== "t" || !this.tryAgain()) return this.viewerKey(key, event);
    return true;
  }

  private get reasonKey(): string {
    const { person, batch, question, revision } = this.data;
    return `overread-settling-${person}-${batch}-${question}-${revision}`;
  }

  private keepReason(text: string): void {
    if (text) localStorage.setItem(this.reasonKey, text);
    else localStorage.removeItem(this.reasonKey);
  }

  private build(picks: Picks): void {
    const { data } = this;
    const turn = (text: string, key: string, to: number | null): HTMLElement => button(text, key, () => this.go(to), { class: "quiet", disabled: to === null });
    const reason = h("label", { class: "reason" }, h("span", { class: "label" }, "Reason", keycap("W")), this.reason);
    const lower = h("div", { class: "lower" }, turn("Previous", "K", data.previous), turn("Next", "J", data.next), h("span", { class: "spring" }), button("Adjudicate", "Enter", () => this.settle(), { class: "primary" }));
    this.root.replaceChildren(
      h(
        "header",
        { class: "top" },
        h("b", { class: "batch" }, `Disputes in ${data.batchName}`),
        h("span", { class: "progress-text" }, `${formatCount(data.place.settled)} of ${formatCount(data.place.total)} adjudicated`),
        h("span", { class: "about" }, `disagreement on: ${data.about.join(", ") || "no longer disputed"}`),
        h("span", { class: "spring" }),
        this.savedLine,
        button("Keys", "?", () => this.showKeys(), { class: "quiet" }),
      ),
      h(
        "div",
        { class: "columns" },
        h("section", { class: "left", "aria-label": "Radiographs" }, patientLine(data), this.viewer.root),
        h("section", { class: "right" }, h("div", { class: "scroll" }, this.question(), this.verdicts(picks), picks.root, reason), this.message, this.imageCheck.root, lower),
      ),
    );
  }

  private question(): HTMLElement {
    const { stem, options, key, explanation } = this.data;
    return h(
      "div",
      { class: "machine" },
      h("h3", {}, "Original question"),
      h("p", { class: "stem" }, stem),
      options.length > 0 && h("ol", { type: "A", class: "plain-options" }, options.map((text) => h("li", {}, text))),
      h("p", {}, h("span", { class: "label" }, "Answer key "), key),
      explanation !== "" && h("p", { class: "explanation-text" }, explanation),
    );
  }

  private verdicts(picks: Picks): HTMLElement {
    const side = ({ called, decision, errors, texts, ratings }: DisputeData["reviewers"][number], at: number): HTMLElement =>
      h(
        "div",
        { class: `side ${decision}` },
        h("h4", {}, called, h("span", { class: "decision" }, decision)),
        errors.length > 0 && h("p", {}, errors.join(", ")),
        texts.map((text) => h("p", { class: "said" }, text)),
        h("p", { class: "ratings" }, Object.entries(ratings).map(([name, value]) => `${name} ${value}`).join(" · ")),
        button(decision === "reject" ? "Reject" : "Use this version", String(at + 1), () => picks.take(at)),
      );
    return h("div", { class: "sides" }, this.data.reviewers.map(side));
  }

  /** The boxes on the radiographs: everybody's, or the adjudicator's own, to be drawn. */
  private showBoxes(start: Side | null): void {
    const isOwn = start !== null;
    const radiographs = this.data.radiographs.map((each) => (each.rows ? { ...each, boxes: isOwn ? each.sides?.[String(start)] : each.overlay, touched: isOwn } : each));
    this.viewer.show({ ...this.data, radiographs, asks: { boxes: isOwn } });
    this.fit();
  }

  private async settle(): Promise<void> {
    const { data, picks, reasonKey } = this;
    if (this.saveFlow.isBusy || !picks) return;
    const missing = picks.missing() ?? (this.reason.value.trim() ? null : "Give a reason for the decision (W).");
    if (missing !== null) {
      this.note(missing);
      return;
    }
    if (this.imageCheck.holds(() => this.settle())) return;
    await this.saveFlow.submit({
      route: "/settling/adjudication",
      body: async () => {
        await this.viewer.settled();
        const drawings = picks.drawsBoxes ? this.viewer.drawings() : null;
        return { batch: data.batch, question: data.question, revision: data.revision, ...picks.request(), drawings, reason: this.reason.value, image: this.imageCheck.display };
      },
      saved: ({ at }) => {
        localStorage.removeItem(reasonKey);
        return `Saved ${formatTime(at)}`;
      },
      next: ({ sheet }) => this.showNext(sheet),
      retry: () => void this.settle(),
    });
  }

  private async go(to: number | null): Promise<void> {
    if (to === null) return;
    await this.saveFlow.submit({
      route: "/settling/turn",
      body: () => Promise.resolve({ batch: this.data.batch, to }),
      next: ({ sheet }) => this.showNext(sheet),
      retry: () => void this.go(to),
    });
  }

  private showNext(sheet: DisputeData | null): void {
    if (sheet) this.show(sheet);
    else this.trigger("over", Date.now()); // the page says why, and what comes next
  }

  private showKeys(): void {
    this.keysDialog?.remove();
    const rows = [...KEYS, ...(this.viewer.sheet ?? [])].map(([key, help]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, help)));
    const dialog: HTMLDialogElement = h("dialog", { class: "sheet", "aria-label": "Keys" }, h("table", {}, rows), button("Close", "Esc", () => dialog.close()));
    this.keysDialog = dialog;
    this.root.append(dialog);
    dialog.showModal();
  }
}

export default mountOnce<DisputeData>((component) => new AdjudicationForm(component));
