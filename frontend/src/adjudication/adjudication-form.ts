// The adjudication form. It loads each next dispute itself and notifies Streamlit only when none is left.

import type { DisputeData, ValueSource } from "../shared/api";
import { CaseForm } from "../shared/case-form";
import type { Material } from "../shared/displayed-material";
import { button, formatCount, formatTime, growingTextArea, h, keycap } from "../shared/dom";
import type { KeyHelp } from "../shared/keys";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { patientLine } from "../shared/components";
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

/** What must have been displayed before a dispute is decided. */
const MATERIAL: readonly Material[] = [
  { name: "the original question", selector: ".machine" },
  { name: "the reviewers' verdicts", selector: ".sides" },
  { name: "the versions of the disputed fields", selector: ".picks .disputed" },
];

class AdjudicationForm extends CaseForm<DisputeData> {
  private picks: Picks | null = null;
  private reason = h("textarea");
  /** The question that the page's script asked for. */
  private requested: string | null = null;
  private keysDialog: HTMLDialogElement | null = null;

  constructor(component: StreamlitComponent<DisputeData>) {
    super(component, "settling", { completedAction: "adjudicated this dispute", alternative: "You can also go to another dispute (J)." });
  }

  override show(data: DisputeData): void {
    super.show(data);
    this.reason = growingTextArea({ rows: 2, "aria-label": "Reason", placeholder: "Reason for the decision", maxlength: 20000, value: localStorage.getItem(this.reasonKey) }, (text) => this.storeReason(text));
    this.picks = new Picks(data, () => this.showNote(""), (source) => this.showBoxes(source));
    this.buildLayout(this.picks);
    this.showBoxes(null);
    this.imageCheck.reset();
    this.fit();
    const { settled } = data;
    this.showNote(settled ? `Adjudicated at ${formatTime(settled.at)}: ${settled.decision}. Reason: ${settled.reason} Saving replaces this decision; both are kept on record.` : "");
    this.takeFocus();
  }

  override shownKey(): string {
    return this.isEnded ? "" : `${this.data.batch}:${this.data.question}`;
  }

  /** Data of a later script run are older than what this form has fetched itself. */
  protected override shouldShow({ batch, question }: DisputeData): boolean {
    const requested = `${batch}:${question}`;
    if (requested === this.requested) return false;
    this.requested = requested;
    return true;
  }

  protected override handleKey(key: string, event: KeyboardEvent): boolean {
    const { picks, data } = this;
    if (!picks || event.repeat || this.keysDialog?.open) return false;
    if (this.imageCheck.handleKey(event) || this.frame.handleKey(key, event) || this.viewer.handleKey?.(event, true)) return true;
    if (/^[1-9]$/.test(key) && data.reviewers[Number(key) - 1]) picks.pickAll(Number(key) - 1);
    else if (key === "0") picks.pickAll("machine");
    else if (key === "x") picks.reject();
    else if (key === "w") this.reason.focus();
    else if (key === "k") void this.goTo(data.previous);
    else if (key === "j") void this.goTo(data.next);
    else if (key === "?") this.showKeys();
    else if (key === "Enter" && !(event.composedPath()[0] instanceof HTMLButtonElement)) void this.adjudicate();
    else if (key !== "t" || !this.tryAgain()) return this.handleViewerKey(key, event);
    return true;
  }

  private get reasonKey(): string {
    const { person, batch, question, revision } = this.data;
    return `overread-settling-${person}-${batch}-${question}-${revision}`;
  }

  private storeReason(text: string): void {
    if (text) localStorage.setItem(this.reasonKey, text);
    else localStorage.removeItem(this.reasonKey);
  }

  private buildLayout(picks: Picks): void {
    const { data } = this;
    const navigationButton = (text: string, key: string, to: number | null): HTMLElement => button(text, key, () => this.goTo(to), { class: "quiet", disabled: to === null });
    const reason = h("label", { class: "reason" }, h("span", { class: "label" }, "Reason", keycap("W")), this.reason);
    const lowerBar = h("div", { class: "lower" }, navigationButton("Previous", "K", data.previous), navigationButton("Next", "J", data.next), h("span", { class: "spring" }), button("Adjudicate", "Enter", () => this.adjudicate(), { class: "primary" }));
    this.frame.show({
      top: h(
        "header",
        { class: "top" },
        h("b", { class: "batch" }, `Disputes in ${data.batchName}`),
        h("span", { class: "progress-text" }, `${formatCount(data.place.settled)} of ${formatCount(data.place.total)} adjudicated`),
        h("span", { class: "about" }, `disagreement on: ${data.about.join(", ") || "no longer disputed"}`),
        h("span", { class: "spring" }),
        this.savedLine,
        button("Keys", "?", () => this.showKeys(), { class: "quiet" }),
      ),
      patient: h("div", { class: "above" }, patientLine(data)),
      picture: [this.viewer.root],
      column: h("div", { class: "scroll" }, this.buildQuestion(), this.buildVerdicts(picks), picks.root),
      footer: [reason, this.message, this.imageCheck.root, lowerBar],
    });
    this.displayed.show(MATERIAL);
  }

  private buildQuestion(): HTMLElement {
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

  private buildVerdicts(picks: Picks): HTMLElement {
    const buildReviewer = ({ called, decision, errors, texts, ratings }: DisputeData["reviewers"][number], index: number): HTMLElement =>
      h(
        "div",
        { class: `side ${decision}` },
        h("h4", {}, called, h("span", { class: "decision" }, decision)),
        errors.length > 0 && h("p", {}, errors.join(", ")),
        texts.map((text) => h("p", { class: "reviewer-text" }, text)),
        h("p", { class: "ratings" }, Object.entries(ratings).map(([name, value]) => `${name} ${value}`).join(" · ")),
        button(decision === "reject" ? "Reject" : "Use this version", String(index + 1), () => picks.pickAll(index)),
      );
    return h("div", { class: "sides" }, this.data.reviewers.map(buildReviewer));
  }

  /** The boxes on the radiographs: everybody's, or the adjudicator's own, to be drawn. */
  private showBoxes(source: ValueSource | null): void {
    const isOwn = source !== null;
    const radiographs = this.data.radiographs.map((radiograph) => (radiograph.rows ? { ...radiograph, boxes: isOwn ? radiograph.sides?.[String(source)] : radiograph.overlay, touched: isOwn } : radiograph));
    this.viewer.show({ ...this.data, radiographs, asks: { boxes: isOwn } });
    this.fit();
  }

  private async adjudicate(): Promise<void> {
    const { data, picks, reasonKey } = this;
    if (this.saveFlow.isBusy || !picks) return;
    const missing = picks.describeMissing() ?? (this.reason.value.trim() ? null : "Give a reason for the decision (W).");
    if (missing !== null) {
      this.showNote(missing);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.adjudicate()) || this.blocksUndisplayed()) return;
    await this.saveFlow.submit({
      route: "/settling/adjudication",
      body: async () => {
        await this.viewer.waitForDrawing();
        const drawings = picks.hasOwnBoxes ? this.viewer.getDrawings() : null;
        return { batch: data.batch, question: data.question, revision: data.revision, ...picks.buildRequest(), drawings, reason: this.reason.value, image: this.imageCheck.imageDisplay };
      },
      onSaved: ({ at }) => {
        localStorage.removeItem(reasonKey);
        return `Saved ${formatTime(at)}`;
      },
      onNext: ({ sheet }) => this.showNext(sheet),
      retry: () => void this.adjudicate(),
    });
  }

  private async goTo(to: number | null): Promise<void> {
    if (to === null) return;
    await this.saveFlow.submit({
      route: "/settling/turn",
      body: () => Promise.resolve({ batch: this.data.batch, to }),
      onNext: ({ sheet }) => this.showNext(sheet),
      retry: () => void this.goTo(to),
    });
  }

  private showNext(nextDispute: DisputeData | null): void {
    if (nextDispute) this.show(nextDispute);
    else this.notifyScript("over", Date.now()); // the page shows the reason and the next step
  }

  private showKeys(): void {
    this.keysDialog?.remove();
    const rows = [...KEYS, ...(this.viewer.keyHelp ?? [])].map(([key, help]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, help)));
    const dialog: HTMLDialogElement = h("dialog", { class: "sheet", "aria-label": "Keys" }, h("table", {}, rows), button("Close", "Esc", () => dialog.close()));
    this.keysDialog = dialog;
    this.root.append(dialog);
    dialog.showModal();
  }
}

export default mountOnce<DisputeData>((component) => new AdjudicationForm(component));
