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

/** Asks, and asks again after a time that the answer chooses. */
function useAsked<T>(ask: (signal: AbortSignal) => Promise<Answer<T>>, pauseOf: (answer: Answer<T> | null) => number, keys: readonly unknown[]): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ answer: null, error: null, loading: true });
  useEffect(() => {
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
    setAsked({ answer: null, error: null, loading: true });
    void round();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, keys);
  return asked;
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

/** Live messages. `onMessage` may change from one rendering to the next without a new connection; `params` may not, unless its content does. */
export function useStream(client: Client, params: StreamParams, onMessage: (message: StreamMessage) => void): { error: TidemarkError | null; connected: boolean } {
  const [state, setState] = useState<{ error: TidemarkError | null; connected: boolean }>({ error: null, connected: false });
  const latest = useRef(onMessage);
  latest.current = onMessage;
  const key = JSON.stringify(params);
  useEffect(() => {
    const controller = new AbortController();
    const onRetry = (error: TidemarkError) => setState({ error, connected: false });
    void (async () => {
      try {
        for await (const message of stream(client, JSON.parse(key) as StreamParams, { signal: controller.signal, onRetry })) {
          setState((before) => (before.connected ? before : { error: null, connected: true }));
          latest.current(message);
        }
      } catch (error) {
        setState({ error: error instanceof TidemarkError ? error : new TidemarkError('network', String(error)), connected: false });
      }
    })();
    return () => controller.abort();
  }, [client, key]);
  return state;
}
