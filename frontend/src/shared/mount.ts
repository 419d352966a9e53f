// A form as Streamlit mounts it: one instance for each place on the page, kept over all runs of the script.

export interface StreamlitComponent<Data> {
  parentElement: HTMLElement;
  data: Data;
  setTriggerValue: Trigger;
}

/** Tells the page's script something; it then runs. */
export type Trigger = (name: string, value: unknown) => void;

export interface MountedForm<Data> {
  update: (component: StreamlitComponent<Data>) => void;
  end: () => void;
}

/** A component whose data have not come yet. */
type Mounting<Data> = Omit<StreamlitComponent<Data>, "data"> & { data: Data | null };

/** What a form's module exports: called at every run of the script, it returns the function that ends the form. */
export function mountOnce<Data>(create: (component: StreamlitComponent<Data>) => MountedForm<Data>): (component: Mounting<Data>) => () => void {
  const forms = new WeakMap<HTMLElement, MountedForm<Data>>();
  return ({ data, ...rest }) => {
    const { parentElement } = rest;
    if (data !== null) {
      const component = { ...rest, data };
      const form = forms.get(parentElement) ?? create(component);
      forms.set(parentElement, form);
      form.update(component);
    }
    return () => {
      forms.get(parentElement)?.end();
      forms.delete(parentElement);
    };
  };
}
