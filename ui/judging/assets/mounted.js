// A form as Streamlit mounts it: one instance for each place on the page, kept over all runs of the script.

const forms = new WeakMap();

/** What a form's module exports: called at every run of the script, it gives back what ends the form. */
export const mounted = (Form) => (component) => {
  const { parentElement } = component;
  let form = forms.get(parentElement);
  if (!form) {
    form = new Form(parentElement);
    forms.set(parentElement, form);
  }
  form.update(component);
  return () => {
    forms.delete(parentElement);
    form.end();
  };
};

/** Listens until what it gives back is called. */
export function on(target, name, act, options) {
  target.addEventListener(name, act, options);
  return () => target.removeEventListener(name, act, options);
}
