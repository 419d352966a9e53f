// The adjudication form. It loads the next dispute itself and notifies Streamlit only when no dispute is left.

import type { DisputeData, DisputeRadiograph, PlainBox, ValueSource } from "../shared/api";
import { CaseForm } from "../shared/case-form";
import type { Material } from "../shared/displayed-material";
import { button, formatCount, formatTime, growingTextArea, h, keycap } from "../shared/dom";
import { mountOnce, type StreamlitComponent } from "../shared/mount";
import { DECISION_TEXTS, shortcutsDialog, patientLine } from "../shared/components";
import { shortcutLabel, findAction, isRepeatable, keyHint, matchAction, type ActionId } from "../shared/shortcuts";
import { FieldSourceTable } from "./field-source-table";

/** What must have been displayed before a dispute is decided. */
const MATERIAL: readonly Material[] = [
  { name: "the reported problems", selector: ".reports" },
  { name: "the original question", selector: ".original" },
  { name: "the reviewers' verdicts", selector: ".reviewers" },
  { name: "the versions of the disputed fields", selector: ".value-sources .disputed" },
];

/** The prefix of the localStorage keys of reasons. It must stay as it is, so that reasons stored by earlier versions are found. */
const REASON_KEY_PREFIX = "overread-settling";

class AdjudicationForm extends CaseForm<DisputeData> {
  private sourceTable: FieldSourceTable | null = null;
  private reason = h("textarea");
  /** The dispute that the page's script sent last, as `batch:question`. */
  private scriptCaseId: string | null = null;

  constructor(component: StreamlitComponent<DisputeData>) {
    super(component, "adjudication", { completedAction: "adjudicated this dispute", alternative: `You can also go to another dispute${keyHint("next")}.` });
  }

  override show(data: DisputeData): void {
    super.show(data);
    this.reason = growingTextArea({ rows: 2, "aria-label": "Reason", placeholder: "Reason for the decision", maxlength: 20000, value: localStorage.getItem(this.reasonKey) }, (text) => this.storeReason(text));
    this.sourceTable = new FieldSourceTable(data, () => this.showNote(""), (source) => this.startOwnBoxes(source), () => this.showAllBoxes());
    this.buildLayout(this.sourceTable);
    this.showAllBoxes();
    this.imageCheck.reset();
    this.fit();
    const { adjudication } = data;
    this.showNote(adjudication ? `Adjudicated at ${formatTime(adjudication.at)}: ${DECISION_TEXTS[adjudication.decision]}. Reason: ${adjudication.reason} Saving replaces this decision; both are kept on record.` : "");
    this.takeFocus();
  }

  override displayedCaseId(): string {
    return this.isEnded ? "" : `${this.data.batch}:${this.data.question}`;
  }

  /** Ignores repeated data of a dispute: the form has already loaded newer data itself. */
  protected override shouldShow({ batch, question }: DisputeData): boolean {
    const caseId = `${batch}:${question}`;
    if (caseId === this.scriptCaseId) return false;
    this.scriptCaseId = caseId;
    return true;
  }

  protected override handleKey(event: KeyboardEvent): boolean {
    const { sourceTable, data } = this;
    if (!sourceTable) return false;
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
    const versionIndex = Number(matchAction(action, "version-") ?? 0) - 1;
    const commands: Partial<Record<ActionId, () => unknown>> = {
      original: () => sourceTable.selectForAll("original"),
      reject: () => sourceTable.reject(),
      comment: () => this.reason.focus(),
      previous: () => this.goTo(data.previous),
      next: () => this.goTo(data.next),
      help: () => this.showShortcuts(),
      save: () => this.adjudicate(),
      retry: () => this.tryAgain(),
    };
    if (data.reviewers[versionIndex]) sourceTable.selectForAll(versionIndex);
    else commands[action]?.();
    return versionIndex >= 0 || action in commands;
  }

  private get reasonKey(): string {
    const { person, batch, question, revision } = this.data;
    return `${REASON_KEY_PREFIX}-${person}-${batch}-${question}-${revision}`;
  }

  private storeReason(text: string): void {
    if (text) localStorage.setItem(this.reasonKey, text);
    else localStorage.removeItem(this.reasonKey);
  }

  private buildLayout(sourceTable: FieldSourceTable): void {
    const { data } = this;
    const navigationButton = (text: string, key: string, to: number | null): HTMLElement => button(text, key, () => this.goTo(to), { class: "quiet", disabled: to === null });
    const reason = h("label", { class: "reason" }, h("span", { class: "label" }, "Reason", keycap(shortcutLabel("comment"))), this.reason);
    const lowerBar = h("div", { class: "lower" }, navigationButton("Previous", shortcutLabel("previous"), data.previous), navigationButton("Next", shortcutLabel("next"), data.next), h("span", { class: "spring" }), button("Save decision", shortcutLabel("save"), () => this.adjudicate(), { class: "primary" }));
    this.frame.show({
      top: h(
        "header",
        { class: "top" },
        h("b", { class: "batch" }, `Disputes in batch ${data.batchName}`),
        h("span", { class: "progress-text" }, `${formatCount(data.progress.adjudicated)} of ${formatCount(data.progress.total)} adjudicated`),
        h("span", { class: "about" }, data.disputedAspects.length > 0 ? `Disputed: ${data.disputedAspects.join(", ")}` : "No longer disputed"),
        h("span", { class: "spring" }),
        this.savedLine,
        button("Shortcuts", shortcutLabel("help"), () => this.showShortcuts(), { class: "quiet" }),
      ),
      patient: h("div", { class: "above" }, patientLine(data)),
      picture: [this.imageView.root],
      column: h("div", { class: "scroll" }, this.buildReports(), this.buildQuestion(), this.buildVerdicts(sourceTable), sourceTable.root),
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
      { class: "original" },
      h("h3", {}, "Original question"),
      h("p", { class: "stem" }, stem),
      options.length > 0 && h("ol", { type: "A", class: "plain-options" }, options.map((text) => h("li", {}, text))),
      h("p", {}, h("span", { class: "label" }, "Answer key "), key),
      explanation !== "" && h("p", { class: "explanation-text" }, h("span", { class: "label" }, "Explanation "), explanation),
    );
  }

  private buildVerdicts(sourceTable: FieldSourceTable): HTMLElement {
    const buildReviewer = ({ name, decision, errors, texts, ratings }: DisputeData["reviewers"][number], index: number): HTMLElement =>
      h(
        "div",
        { class: `reviewer ${decision}` },
        h("h4", {}, name, h("span", { class: "decision" }, DECISION_TEXTS[decision])),
        errors.length > 0 && h("p", {}, errors.join(", ")),
        texts.map((text) => h("p", { class: "reviewer-text" }, text)),
        h("p", { class: "ratings" }, Object.entries(ratings).map(([name, value]) => `${name} ${value}`).join(" · ")),
        button(decision === "reject" ? "Reject" : "Use this version", index < 9 ? shortcutLabel(`version-${index + 1}` as ActionId) : null, () => sourceTable.selectForAll(index)),
      );
    return h("div", { class: "reviewers" }, this.data.reviewers.map(buildReviewer));
  }

  /** Shows the boxes of the original question and of all reviewers. */
  private showAllBoxes(): void {
    this.showBoxes(({ overlay }) => overlay, false);
  }

  /** Lets the adjudicator draw boxes, starting from the boxes of a source. */
  private startOwnBoxes(source: ValueSource): void {
    this.showBoxes(({ boxesBySource }) => boxesBySource?.[String(source)], true);
  }

  private showBoxes(getBoxes: (radiograph: DisputeRadiograph) => PlainBox[] | undefined, isDrawing: boolean): void {
    const radiographs = this.data.radiographs.map((radiograph) => (radiograph.rows ? { ...radiograph, boxes: getBoxes(radiograph), boxesMayDiffer: isDrawing } : radiograph));
    this.imageView.show({ ...this.data, radiographs, requested: { boxes: isDrawing }, labels: this.data.choices.labels });
    this.fit();
  }

  private async adjudicate(): Promise<void> {
    const { data, sourceTable, reasonKey } = this;
    if (this.saveFlow.isBusy || !sourceTable) return;
    const missing = sourceTable.describeMissing() ?? (this.reason.value.trim() ? null : `Give a reason for the decision${keyHint("comment")}.`);
    if (missing !== null) {
      this.showNote(missing);
      return;
    }
    if (this.imageCheck.blocksSave(() => this.adjudicate()) || this.revealUnreadMaterial()) return;
    await this.saveFlow.submit({
      route: "/adjudication/decision",
      body: async () => {
        await this.imageView.waitForDrawing();
        const drawings = sourceTable.hasOwnBoxes ? this.imageView.getDrawings() : null;
        return { batch: data.batch, question: data.question, revision: data.revision, ...sourceTable.buildRequest(), drawings, reason: this.reason.value, reports: data.reports.map(({ id }) => id), image_display: this.imageCheck.imageDisplay };
      },
      onSaved: ({ at }) => {
        localStorage.removeItem(reasonKey);
        return `Saved ${formatTime(at)}`;
      },
      onNext: ({ next }) => this.showNext(next),
      retry: () => void this.adjudicate(),
    });
  }

  private async goTo(question: number | null): Promise<void> {
    if (question === null) return;
    await this.saveFlow.submit({
      route: "/adjudication/dispute",
      body: () => Promise.resolve({ batch: this.data.batch, question }),
      onNext: ({ next }) => this.showNext(next),
      retry: () => void this.goTo(question),
    });
  }

  private showNext(nextDispute: DisputeData | null): void {
    if (nextDispute) this.show(nextDispute);
    else this.notifyScript("over", Date.now()); // the page shows the reason and the next step
  }

  private showShortcuts(): void {
    this.openOverlay(shortcutsDialog("adjudicate", this.imageView, () => this.closeOverlay()));
  }
}

export default mountOnce<DisputeData>((component) => new AdjudicationForm(component));
