// Hooks for React 18 and newer: `import { useCompliance } from '@tidemark/client/react'`.
import { useEffect, useRef, useState } from 'react';
import { kycStatus, market, type KycStatus, type MarketAnswer } from './generated.js';
import { stream, type StreamMessage, type StreamParams } from './stream.js';
import { TidemarkError, type Answer, type Client } from './client.js';

/** `answer` stays while a newer one is awaited or refused; `error` says that the newest question had none, or one of an earlier ledger (`behind`). */
export type Asked<T> = { answer: Answer<T> | null; error: TidemarkError | null; loading: boolean };

/** An answer of an earlier ledger, of a node that is behind, does not take the place of a later one. */
function after<T>(before: Asked<T>, answer: Answer<T>): Asked<T> {
  const isBehind = before.answer !== null && answer.ledger !== null && answer.ledger < (before.answer.ledger ?? 0);
  return isBehind ? { ...before, error: new TidemarkError('behind', 'the answer is of an earlier ledger than the one before'), loading: false } : { answer, error: null, loading: false };
}

const UNASKED: Asked<never> = { answer: null, error: null, loading: true };
type Held<T> = { keys: readonly unknown[]; value: T };
const isSame = (left: readonly unknown[], right: readonly unknown[]): boolean => left.length === right.length && left.every((one, i) => Object.is(one, right[i]));
/** What is held counts only for the keys that it was made for: React renders and commits new keys once before an effect can reset it. */
const heldFor = <T>(held: Held<T>, keys: readonly unknown[], none: T): T => (isSame(held.keys, keys) ? held.value : none);

/** Asks, and asks again after a time that the answer chooses. */
function useAsked<T>(ask: (signal: AbortSignal) => Promise<Answer<T>>, pauseOf: (answer: Answer<T> | null) => number, keys: readonly unknown[]): Asked<T> {
  const [held, setHeld] = useState<Held<Asked<T>>>({ keys, value: UNASKED });
  useEffect(() => {
    const setAsked = (next: (before: Asked<T>) => Asked<T>): void => setHeld((before) => ({ keys, value: next(heldFor(before, keys, UNASKED)) }));
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const round = async (): Promise<void> => {
      let answer: Answer<T> | null = null;
      try {
        const given = (answer = await ask(controller.signal));
        if (!controller.signal.aborted) setAsked((before) => after(before, given));
      } catch (error) {
        const known = error instanceof TidemarkError ? error : new TidemarkError('network', String(error));
        if (!controller.signal.aborted) setAsked((before) => ({ ...before, error: known, loading: false }));
      }
      if (!controller.signal.aborted) timer = setTimeout(() => void round(), pauseOf(answer));
    };
    setAsked(() => UNASKED);
    void round();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, keys);
  return heldFor(held, keys, UNASKED);
}

/** Between a second and a minute, whatever the answer says: a timer of NaN or of a month fires at once. */
const pauseOfPoll = (ms: unknown): number => (typeof ms === 'number' && ms >= 0 ? Math.min(Math.max(ms, 1000), 60_000) : 5000);

/**
 * Whether an address may trade, asked as often as the API says. Treat everything but `compliant === true` without an `error` as no:
 * `may` is that, and a page is no gate. Ask from the server before money moves.
 */
export function useCompliance(client: Client, address: string): Asked<KycStatus> & { may: boolean } {
  const asked = useAsked(
    (signal) => kycStatus(client, { address }, { signal }),
    (answer) => pauseOfPoll(answer?.data.pollAfterMs),
    [client, address],
  );
  return { ...asked, may: asked.error === null && asked.answer?.data.compliant === true };
}

/** A market, asked every `everyMs` (10 s). */
export function useMarket(client: Client, symbol: string, everyMs = 10_000): Asked<MarketAnswer> {
  return useAsked((signal) => market(client, { symbol }, { signal }), () => everyMs, [client, symbol, everyMs]);
}

type Live = { error: TidemarkError | null; connected: boolean };
const UNCONNECTED: Live = { error: null, connected: false };

/** Live messages. `onMessage` may change from one rendering to the next without a new connection; `params` may not, unless its content does. */
export function useStream(client: Client, params: StreamParams, onMessage: (message: StreamMessage) => void): Live {
  const key = JSON.stringify(params);
  const keys = [client, key];
  const [held, setHeld] = useState<Held<Live>>({ keys, value: UNCONNECTED });
  const latest = useRef(onMessage);
  latest.current = onMessage;
  useEffect(() => {
    const controller = new AbortController();
    const setState = (live: Live): void => {
      if (!controller.signal.aborted) setHeld({ keys, value: live });
    };
    let connected = false;
    const onRetry = (error: TidemarkError) => {
      connected = false;
      setState({ error, connected: false });
    };
    void (async () => {
      try {
        for await (const message of stream(client, JSON.parse(key) as StreamParams, { signal: controller.signal, onRetry })) {
          if (!connected) setState({ error: null, connected: true });
          connected = true;
          latest.current(message);
        }
      } catch (error) {
        setState({ error: error instanceof TidemarkError ? error : new TidemarkError('network', String(error)), connected: false });
      }
    })();
    return () => controller.abort();
  }, keys);
  return heldFor(held, keys, UNCONNECTED);
}
