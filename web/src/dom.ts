// Making elements. Whatever comes from outside becomes text, never markup.

type Child = Node | string;
type Attributes = Record<string, string | boolean | ((event: never) => void)>;

/** An element with attributes, listeners (`onclick` and the like) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== false) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children);
  return element;
}

/** Sets an element's text, if it is another. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Makes a list of these texts, if it is not that already: what has not changed is not told again. */
export function list(element: HTMLElement, texts: string[]): void {
  const same = element.children.length === texts.length && texts.every((text, place) => element.children[place].textContent === text);
  if (!same) element.replaceChildren(...texts.map((text) => h('li', {}, text)));
}

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no #${id}`);
  return element as T;
}
