// Mounts a form in Streamlit: one instance per parent element, kept across script runs.

export interface StreamlitComponent<Data> {
  parentElement: HTMLElement;
  data: Data;
  setTriggerValue: Trigger;
}

/** Sends a value to the page's script, which then runs. */
export type Trigger = (name: string, value: unknown) => void;

export interface MountedForm<Data> {
  update: (component: StreamlitComponent<Data>) => void;
  end: () => void;
}

/** A component whose data may not have arrived. */
type PendingComponent<Data> = Omit<StreamlitComponent<Data>, "data"> & { data: Data | null };

/** Creates a form module's export. It is called at every script run and returns a function that removes the form. */
export function mountOnce<Data>(create: (component: StreamlitComponent<Data>) => MountedForm<Data>): (component: PendingComponent<Data>) => () => void {
  const forms = new WeakMap<HTMLElement, MountedForm<Data>>();
  return ({ data, ...componentWithoutData }) => {
    const { parentElement } = componentWithoutData;
    if (data !== null) {
      const component = { ...componentWithoutData, data };
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
