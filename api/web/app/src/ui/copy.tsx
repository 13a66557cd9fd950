/** All digits, and a copy, of what is shown cut short: one box for all of the page, and a button where a page is about one thing. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Where a page has no clipboard (it came without HTTPS) the browser's own command copies; false if that fails too. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* no secure context, or not allowed */ }
  let done = false;
  const give = (event: ClipboardEvent) => { event.clipboardData?.setData('text/plain', text); event.preventDefault(); event.stopImmediatePropagation(); done = true; };
  document.addEventListener('copy', give, true);
  document.execCommand('copy');
  document.removeEventListener('copy', give, true);
  return done;
}

const SAYS = { no: 'Copy', done: 'Copied', failed: 'Select it' };

export function Copy({ text, label, onFail }: { text: string; label: string; onFail?: () => void }) {
  const [copied, set] = useState<keyof typeof SAYS>('no');
  const rest = () => set('no');
  const click = () => void copyText(text).then((done) => { set(done ? 'done' : 'failed'); if (!done) onFail?.(); });
  return <button type="button" class="copy" onClick={click} onBlur={rest} onPointerLeave={rest} aria-label={copied === 'no' ? `Copy ${label}` : undefined}
    title={copied === 'failed' ? 'This browser lets pages copy over HTTPS only' : undefined}>{SAYS[copied]}</button>;
}

/** A whole address or hash, for the head of its page. */
export function Whole({ of, label }: { of: string; label: string }) {
  const text = useRef<HTMLSpanElement>(null);
  return <p class="whole"><span class="mono break" ref={text}>{of}</span> <Copy text={of} label={label} onFail={() => text.current && getSelection()?.selectAllChildren(text.current)} /></p>;
}

const HOVER_MS = 350, GAP = 2;
interface Shown { at: HTMLElement; text: string; copy: string | undefined }
const shownOf = (at: HTMLElement | null | undefined): Shown | null => (at ? { at, text: at.title || at.dataset.copy || '', copy: at.dataset.copy } : null);
const closest = (target: EventTarget | null, what: string) => (target instanceof Element ? target.closest<HTMLElement>(what) : null);

/** In a table the digits of an amount are reached by Enter, then by the arrow keys; Escape goes back. */
function withinTable(event: KeyboardEvent): void {
  const target = event.target as HTMLElement, region = target.closest?.<HTMLElement>('.scroll');
  if (!region) return;
  const row = target.closest('tr'), inRow = (tr: Element | null | undefined) => [...(tr?.querySelectorAll<HTMLElement>('td [data-copy]') ?? [])];
  const at = inRow(row).indexOf(target);
  let to: HTMLElement | undefined;
  if (target === region && event.key === 'Enter') to = region.querySelector<HTMLElement>('td [data-copy]') ?? undefined;
  else if (at >= 0 && event.key === 'ArrowLeft') to = inRow(row)[at - 1];
  else if (at >= 0 && event.key === 'ArrowRight') to = inRow(row)[at + 1];
  else if (at >= 0 && event.key === 'ArrowUp') to = inRow(row?.previousElementSibling)[at];
  else if (at >= 0 && event.key === 'ArrowDown') to = inRow(row?.nextElementSibling)[at];
  else if (at >= 0 && event.key === 'Escape') to = region;
  if (to) { event.preventDefault(); to.focus(); }
}

/** The box: by focus, by a tap or click on a figure, and over an address that is cut short. */
export function Peek() {
  const [shown, set] = useState<Shown | null>(null);
  const box = useRef<HTMLDivElement>(null), text = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (to: HTMLElement | null) => { clearTimeout(timer); set((now) => (now?.at === to ? now : shownOf(to))); };
    const inside = (target: EventTarget | null) => target instanceof Node && box.current?.contains(target);
    const onFocus = (event: FocusEvent) => { if (!inside(event.target)) show((event.target as Element).matches?.(':focus-visible') ? closest(event.target, '[data-copy]') : null); };
    const onClick = (event: MouseEvent) => { if (!inside(event.target)) show(closest(event.target, 'a, button') ? null : closest(event.target, '[data-copy], [data-figure][title]')); };
    const onOver = (event: PointerEvent) => {
      if (event.pointerType !== 'mouse' || inside(event.target)) { clearTimeout(timer); return; }
      const to = closest(event.target, 'a[data-copy]');
      clearTimeout(timer);
      timer = setTimeout(() => set((now) => (to ? (now?.at === to ? now : shownOf(to)) : now?.at.matches('a:not(:focus)') ? null : now)), HOVER_MS);
    };
    const onKey = (event: KeyboardEvent) => {
      withinTable(event);
      if (event.key === 'Escape') show(null);
      const at = closest(event.target, '[data-copy]');
      if (at && event.key === 'c' && (event.ctrlKey || event.metaKey) && getSelection()?.isCollapsed !== false) { event.preventDefault(); void copyText(at.dataset.copy ?? ''); }
    };
    const away = () => show(null);
    const all: [string, (event: never) => void, EventTarget][] = [['focusin', onFocus, document], ['click', onClick, document], ['pointerover', onOver, document], ['keydown', onKey, document], ['scroll', away, window], ['resize', away, window], ['popstate', away, window]];
    for (const [name, run, on] of all) on.addEventListener(name, run as EventListener, name === 'scroll');
    return () => { for (const [name, run, on] of all) on.removeEventListener(name, run as EventListener, name === 'scroll'); };
  }, []);
  useLayoutEffect(() => {
    if (!shown || !box.current) return undefined;
    const of = shown.at.getBoundingClientRect(), mine = box.current.getBoundingClientRect();
    const below = of.bottom + GAP + mine.height < innerHeight;
    box.current.style.left = `${Math.max(8, Math.min(of.left, document.documentElement.clientWidth - mine.width - 8))}px`;
    box.current.style.top = `${below ? of.bottom + GAP : of.top - GAP - mine.height}px`;
    shown.at.setAttribute('aria-describedby', 'peek');
    return () => shown.at.removeAttribute('aria-describedby');
  }, [shown]);
  if (!shown || !shown.at.isConnected) return null;
  return (
    <div class="peek" id="peek" ref={box}>
      <span class="break" ref={text}>{shown.text}</span>
      {shown.copy && <Copy key={shown.copy} text={shown.copy} label="it" onFail={() => text.current && getSelection()?.selectAllChildren(text.current)} />}
      {shown.copy && <span class="hidden">Control and C copy it.</span>}
    </div>
  );
}
