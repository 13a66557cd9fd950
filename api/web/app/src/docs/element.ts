// Nodes of the pages of /docs. A text becomes a text node: no HTML is made of it.

export const byId = (id: string) => document.getElementById(id)!;

export function element(name: string, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElement {
  const node = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  node.append(...children);
  return node;
}

/** `code` of our texts as an element. */
export function withCode(text: string): (Node | string)[] {
  return text.split(/(`[^`]+`)/).filter(Boolean).map((part) => (/^`.+`$/.test(part) ? element('code', {}, part.slice(1, -1)) : part));
}

/** A table with its heads. Rows are lists of cells. */
export function fillTable(table: HTMLElement, heads: string[], rows: (Node | string)[][][]) {
  table.replaceChildren(
    element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell, i) => (i ? element('td', {}, ...cell) : element('th', { scope: 'row' }, ...cell)))))),
  );
}
