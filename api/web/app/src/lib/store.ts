import { useEffect, useRef, useState } from 'preact/hooks';

/** One value that components read and that anything may set. */
export class Store<T> {
  private readers = new Set<() => void>();
  constructor(private value: T) {}
  get(): T { return this.value; }
  set(value: T): void {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const read of [...this.readers]) read();
  }
  subscribe(read: () => void): () => void {
    this.readers.add(read);
    return () => { this.readers.delete(read); };
  }
}

const TOGETHER_MS = 200;
let waiting: (() => void)[] = [];

/** What one ledger changes is applied together, so that the page is laid out and painted once. */
export function together(apply: () => void): void {
  if (waiting.push(apply) > 1) return;
  setTimeout(() => {
    const all = waiting;
    waiting = [];
    for (const one of all) one();
  }, TOGETHER_MS);
}

/** The store's value, or what `part` takes of it; draws again only if that changes. */
export function useStore<T>(store: Store<T>): T;
export function useStore<T, P>(store: Store<T>, part: (value: T) => P): P;
export function useStore<T, P>(store: Store<T>, part: (value: T) => P = (value) => value as unknown as P): P {
  const [, again] = useState(0);
  const value = part(store.get());
  const seen = useRef(value);
  seen.current = value;
  useEffect(() => {
    const look = () => { if (!Object.is(part(store.get()), seen.current)) again((n) => n + 1); };
    look();
    return store.subscribe(look);
  }, [store]);
  return value;
}
