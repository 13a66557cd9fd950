// What the types of the TypeScript package accept and refuse with --strict. Compiled, never run.
import { createClient, events, items, pages, poolSwaps, stream, vault, vaults, verifyWebhook, type Event, type EventKind, type StreamMessage, type Vault } from '@tidemark/client';

const api = createClient({ baseUrl: 'http://127.0.0.1:1' });

export async function lists(): Promise<void> {
  for await (const one of items(vaults, api, { state: 'at_risk' })) {
    const debt: bigint = one.debt;
    void debt;
  }
  for await (const page of pages(vaults, api)) void page.data.items[0]?.owner;
  for await (const one of items(poolSwaps, api, { pool: 'XLMUSDC' }, { timeoutMs: 1000 })) void one.amountIn;
  const one: Vault = (await vault(api, { market: 'sGOLD', owner: 'G' })).data;
  const all: Vault[] = [one, ...(await vaults(api)).data.items];
  void all;
  for await (const swap of items(poolSwaps, api, { pool: 'P', from: new Date(), to: '2026-12-01' })) void swap;
  // @ts-expect-error: a month is no time
  items(poolSwaps, api, { pool: 'P', from: { month: 11 } });
  // @ts-expect-error: there is no such state
  items(vaults, api, { state: 'risky' });
  // @ts-expect-error: there is no such parameter
  items(vaults, api, { markt: 'sGOLD' });
  // @ts-expect-error: the pool is required
  items(poolSwaps, api);
  // @ts-expect-error: one vault is no list
  items(vault, api, { market: 'sGOLD', owner: 'G' });
}

/** An event's kind tells its fields. */
export function amountOf(event: Event): bigint | null {
  if (event.kind === 'liquidity_pool_swap') return event.fields && event.fields.amountIn;
  if (event.kind === 'synthetic_engine_mint') {
    const market: string | undefined = event.fields?.market;
    void market;
    // @ts-expect-error: a mint has no partner
    void event.fields?.partnerId;
    return event.fields?.amount ?? null;
  }
  return null;
}

export async function live(): Promise<void> {
  for await (const message of stream(api, { topics: ['event', 'price', 'compliance'], kinds: ['liquidity_pool_swap'] })) {
    if (message.type === 'price') {
      const latest: bigint | null = message.data.latestPrice;
      const ledger: number = message.data.ledger;
      void [latest, ledger];
    } else if (message.type === 'event') {
      void amountOf(message.data);
    } else if (message.type === 'compliance') {
      const may: boolean = message.data.compliant;
      void may;
    } else if (message.type === 'stale') {
      const reason: 'database' | 'indexer' | 'forked' | 'behind' = message.data.reason;
      void reason;
    }
  }
  const kinds: EventKind[] = ['oracle_twap'];
  for await (const one of items(events, api, { kind: kinds[0] })) void amountOf(one);
  // @ts-expect-error: there is no such kind
  stream(api, { topics: ['event'], kinds: ['liquidity_pool_swop'] });
  // @ts-expect-error: there is no such topic
  stream(api, { topics: ['events'] });
}

/** Whether every message is one of these. */
export function topicOf(message: StreamMessage): 'ledger' | 'event' | 'price' | 'compliance' | 'open' | 'stale' | 'fresh' {
  return message.type;
}

export async function notified(body: string, headers: Headers): Promise<void> {
  const one = await verifyWebhook(body, headers, 'whsec_x');
  if (one.type === 'compliance.updated') {
    const ledger: number = one.data.ledger;
    const before: boolean | null = one.data.previouslyCompliant;
    void [ledger, before];
  } else if (one.type === 'proposal.queued') {
    const proposal: bigint = one.data.proposalId;
    void proposal;
  }
}
