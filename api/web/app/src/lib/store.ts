import { useEffect, useState } from 'preact/hooks';

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

export function useStore<T>(store: Store<T>): T {
  const [, again] = useState(0);
  const value = store.get();
  useEffect(() => {
    if (store.get() !== value) again((n) => n + 1);
    return store.subscribe(() => again((n) => n + 1));
  }, [store]);
  return value;
}
