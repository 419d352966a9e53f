// Elements. Text only ever goes in as text: nothing of a question is read as markup.

/** An element: `h("button", {class: "x", onclick: f, "aria-pressed": "false"}, "text", child, null)`. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** The key that does it, as it stands on the button. */
export function keycap(key) {
  return h("kbd", { "aria-hidden": "true" }, key);
}

/** A text area that is as high as its text. `rows` is its least height. */
export function growing(attributes) {
  const area = h("textarea", { rows: 1, spellcheck: "true", ...attributes });
  const fit = () => {
    area.style.height = "auto";
    if (area.scrollHeight) area.style.height = `${area.scrollHeight + 2}px`;
  };
  area.addEventListener("input", fit);
  area.fit = fit;
  return area;
}

/** A whole number with its thousands apart, as everywhere in the app. */
export const counted = (number) => number.toLocaleString("en-GB");

/** Seconds as 4:07 or 1:02:09. */
export function minutes(seconds) {
  const whole = Math.floor(seconds);
  const pad = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${hours ? pad(Math.floor((whole % 3600) / 60)) : Math.floor(whole / 60)}:${pad(whole % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

/** A moment as the clock on the wall: 14:03:12. */
export function clockTime(iso) {
  return new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export const letter = (index) => String.fromCharCode(65 + index);
