// The adjudication form. It loads each next dispute itself and notifies Streamlit only when none is left.

import type { DisputeData, ValueSource } from "../shared/api";
import { CaseForm } from "../shared/case-form";
import type { Material } from "../shared/displayed-material";
import { button, formatCount, formatTime, growingTextArea, h, keycap } from "../shared/dom";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { keyHelpDialog, patientLine } from "../shared/components";
import { shortcutLabel, findAction, isRepeatable, keyHint, matchAction, type ActionId } from "../shared/shortcuts";
import { Picks } from "./picks";

/** What must have been displayed before a dispute is decided. */
const MATERIAL: readonly Material[] = [
  { name: "the reported problems", selector: ".reports" },
  { name: "the original question", selector: ".machine" },
  { name: "the reviewers' verdicts", selector: ".sides" },
  { name: "the versions of the disputed fields", selector: ".picks .disputed" },
];

class AdjudicationForm extends CaseForm<DisputeData> {
  private picks: Picks | null = null;
  private reason = h("textarea");
  /** The question that the page's script asked for. */
  private requested: string | null = null;

  constructor(component: StreamlitComponent<DisputeData>) {
    super(component, "settling", { completedAction: "adjudicated this dispute", alternative: `You can also go to another dispute${keyHint("next")}.` });
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

  protected override handleKey(event: KeyboardEvent): boolean {
    const { picks, data } = this;
    if (!picks) return false;
    const action = findAction(event, "adjudicate");
    if (this.overlay) {
      if (event.key === "Escape" || action === "help") this.closeOverlay();
      return true;
    }
    if (this.imageCheck.handleKey(event) || this.imageView.handleKey?.(event)) return true;
    if (event.repeat && !(action && isRepeatable(action))) return false;
    if (event.composedPath()[0] instanceof HTMLButtonElement && [" ", "Enter"].includes(event.key)) return false;
    if (!action) return false;
    if (this.frame.runAction(action) || this.runViewerAction(action, event)) return true;
    const version = Number(matchAction(action, "version-") ?? 0) - 1;
    const commands: Partial<Record<ActionId, () => unknown>> = {
      original: () => picks.pickAll("machine"),
      reject: () => picks.reject(),
      comment: () => this.reason.focus(),
      previous: () => this.goTo(data.previous),
      next: () => this.goTo(data.next),
      help: () => this.showKeys(),
      save: () => this.adjudicate(),
      retry: () => this.tryAgain(),
    };
    if (data.reviewers[version]) picks.pickAll(version);
    else commands[action]?.();
    return version >= 0 || action in commands;
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
    const reason = h("label", { class: "reason" }, h("span", { class: "label" }, "Reason", keycap(shortcutLabel("comment"))), this.reason);
    const lowerBar = h("div", { class: "lower" }, navigationButton("Previous", shortcutLabel("previous"), data.previous), navigationButton("Next", shortcutLabel("next"), data.next), h("span", { class: "spring" }), button("Adjudicate", shortcutLabel("save"), () => this.adjudicate(), { class: "primary" }));
    this.frame.show({
      top: h(
        "header",
        { class: "top" },
        h("b", { class: "batch" }, `Disputes in ${data.batchName}`),
        h("span", { class: "progress-text" }, `${formatCount(data.progress.settled)} of ${formatCount(data.progress.total)} adjudicated`),
        h("span", { class: "about" }, `subject: ${data.disputedAspects.join(", ") || "no longer disputed"}`),
        h("span", { class: "spring" }),
        this.savedLine,
        button("Keys", shortcutLabel("help"), () => this.showKeys(), { class: "quiet" }),
      ),
      patient: h("div", { class: "above" }, patientLine(data)),
      picture: [this.imageView.root],
      column: h("div", { class: "scroll" }, this.buildReports(), this.buildQuestion(), this.buildVerdicts(picks), picks.root),
      footer: [reason, this.message, this.imageCheck.root, lowerBar],
    });
    this.displayed.show(MATERIAL);
  }

  /** The problems that were reported since the last decision. */
  private buildReports(): HTMLElement | false {
    const { reports } = this.data;
    const buildReport = ({ kind, text, release }: DisputeData["reports"][number]): HTMLElement => h("li", {}, h("b", {}, kind), ` in release ${release}: ${text}`);
    return reports.length > 0 && h("div", { class: "reports" }, h("h3", {}, "Reported problems"), h("ul", {}, reports.map(buildReport)));
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
    const buildReviewer = ({ name, decision, errors, texts, ratings }: DisputeData["reviewers"][number], index: number): HTMLElement =>
      h(
        "div",
        { class: `side ${decision}` },
        h("h4", {}, name, h("span", { class: "decision" }, decision)),
        errors.length > 0 && h("p", {}, errors.join(", ")),
        texts.map((text) => h("p", { class: "reviewer-text" }, text)),
        h("p", { class: "ratings" }, Object.entries(ratings).map(([name, value]) => `${name} ${value}`).join(" · ")),
        button(decision === "reject" ? "Reject" : "Use this version", index < 9 ? shortcutLabel(`version-${index + 1}` as ActionId) : null, () => picks.pickAll(index)),
      );
    return h("div", { class: "sides" }, this.data.reviewers.map(buildReviewer));
  }

  /** The boxes on the radiographs: everybody's, or the adjudicator's own, to be drawn. */
  private showBoxes(source: ValueSource | null): void {
    const isOwn = source !== null;
    const radiographs = this.data.radiographs.map((radiograph) => (radiograph.rows ? { ...radiograph, boxes: isOwn ? radiograph.sides?.[String(source)] : radiograph.overlay, boxesMayDiffer: isOwn } : radiograph));
    this.imageView.show({ ...this.data, radiographs, requested: { boxes: isOwn }, labels: this.data.choices.labels });
    this.fit();
  }

  private async adjudicate(): Promise<void> {
    const { data, picks, reasonKey } = this;
    if (this.saveFlow.isBusy || !picks) return;
    const missing = picks.describeMissing() ?? (this.reason.value.trim() ? null : `Give a reason for the decision${keyHint("comment")}.`);
    if (missing !== null) {
      this.showNote(missing);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.adjudicate()) || this.revealUnreadMaterial()) return;
    await this.saveFlow.submit({
      route: "/settling/adjudication",
      body: async () => {
        await this.imageView.waitForDrawing();
        const drawings = picks.hasOwnBoxes ? this.imageView.getDrawings() : null;
        return { batch: data.batch, question: data.question, revision: data.revision, ...picks.buildRequest(), drawings, reason: this.reason.value, reports: data.reports.map(({ id }) => id), image: this.imageCheck.imageDisplay };
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
    this.openOverlay(keyHelpDialog("adjudicate", this.imageView, () => this.closeOverlay()));
  }
}

export default mountOnce<DisputeData>((component) => new AdjudicationForm(component));
