/** Light or dark: what the system prefers, or ?theme= in the URL. Nothing is stored. */
import { place, setQuery } from './router';
import { Store } from './store';

const dark = matchMedia('(prefers-color-scheme: dark)');

function current(): 'light' | 'dark' {
  const asked = place.get().query.get('theme');
  if (asked === 'light' || asked === 'dark') return asked;
  return dark.matches ? 'dark' : 'light';
}

export const theme = new Store<'light' | 'dark'>(current());

function apply(): void {
  document.documentElement.dataset.theme = current();
  theme.set(current());
}
dark.addEventListener('change', apply);
place.subscribe(apply);
apply();

export function toggleTheme(): void {
  const next = current() === 'dark' ? 'light' : 'dark';
  setQuery({ theme: (next === 'dark') === dark.matches ? null : next }, true);
}

/** A colour of the style sheet, for canvases. */
export const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
