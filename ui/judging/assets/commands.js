// What a key does: the form's own parts first, then the commands below.

/** Whether the form takes the key. */
export function pressed(form, key, event) {
  if (!form.data || !form.root.isConnected) return false;
  if (form.keysShown) {
    if (key === "Escape" || key === "?") form.toggleKeys();
    return true;
  }
  // Between two questions a letter is nobody's: neither the old question's nor the next one's.
  if (form.errand.busy) return key.length === 1;
  if (form.radiographs.key?.(event, true)) return touched(form);
  if (event.repeat && !["Backspace", "+", "-"].includes(key)) return true;
  if (key === "Escape" && form.skipping) {
    form.stopSkipping();
    return true;
  }
  if (belongsToButton(form, key, event.composedPath()[0])) return false;
  const mine = form.own ?? form.judgement;
  if (form.data.open && mine?.key(key)) return true;
  if (form.radiographs.key?.(event, false)) return touched(form);
  const command = commands(form, event)[key];
  command?.();
  return Boolean(command);
}

/** Who works on the picture has seen the question: what they decide then is not a double press of before. */
function touched(form) {
  form.untouchedSince = -Infinity;
  return true;
}

/** Enter and blank on a focused button press it; where an answer is chosen, Enter commits all the same. */
function belongsToButton(form, key, target) {
  if (!(target instanceof HTMLButtonElement)) return false;
  return key === " " || (key === "Enter" && !form.own?.root.contains(target));
}

function commands(form, event) {
  const act = form.actions();
  const pictures = form.radiographs;
  return {
    a: () => form.decide("accept"),
    v: () => form.decide("revise"),
    x: () => form.decide("reject"),
    s: act.skip,
    z: () => (form.data.anyJudged ? act.last() : form.note("There is no verdict of yours in this batch yet.")),
    t: () => form.errand.tryAgain(),
    k: act.previous,
    ArrowLeft: act.previous,
    j: act.next,
    ArrowRight: act.next,
    g: act.guideline,
    "?": act.keys,
    l: () => pictures.next(),
    b: () => form.setEditing(!pictures.editing),
    u: () => (event.shiftKey ? pictures.redo() : pictures.undo()),
    Delete: () => pictures.deleteSelected(),
    i: act.invert,
    "+": () => act.zoom(1),
    "-": () => act.zoom(-1),
    0: () => act.zoom(0),
    p: () => form.report?.open(),
    q: () => form.question?.stemArea?.focus(),
    w: () => form.judgement?.commentArea.focus(),
  };
}
