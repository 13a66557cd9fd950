// Lists: `next` of one page is the cursor of the page after.
import { TidemarkError, type Answer, type CallOptions, type Client } from './client.js';

type Page<I> = { items: I[]; next: string | null };
/** A function of a route that answers a list. `any`: a function that takes its own parameters takes no others. */
type List = (client: Client, params: any, options?: CallOptions) => Promise<Answer<Page<unknown>>>;
type ParamsOf<L extends List> = NonNullable<Parameters<L>[1]>;
type ItemOf<L extends List> = Awaited<ReturnType<L>>['data']['items'][number];
/** What follows the client. The parameters may be left out where the route requires none. */
type Given<L extends List> = {} extends ParamsOf<L> ? [params?: ParamsOf<L>, options?: CallOptions] : [params: ParamsOf<L>, options?: CallOptions];

/** The pages of a list, one after the other. */
export async function* pages<L extends List>(list: L, client: Client, ...[params, options]: Given<L>): AsyncGenerator<Answer<Page<ItemOf<L>>>> {
  if (typeof list !== 'function') throw new TypeError('the first argument must be the function of a route: items(poolSwaps, client, { pool })');
  for (let cursor = (params as { cursor?: string } | undefined)?.cursor; ; ) {
    const page = (await list(client, { ...params, ...(cursor === undefined ? {} : { cursor }) }, options)) as Answer<Page<ItemOf<L>>>;
    const { items, next } = page.data;
    // A list without its cursor, or with the same again, would go round for ever.
    if (!Array.isArray(items) || (next !== null && (typeof next !== 'string' || next === cursor))) throw new TidemarkError('not_json', 'the answer is no page of a list');
    yield page;
    if (next === null) return;
    cursor = next;
  }
}

/** The items of a list, page by page as they are asked for: `for await (const swap of items(poolSwaps, client, { pool }))`. */
export async function* items<L extends List>(list: L, client: Client, ...given: Given<L>): AsyncGenerator<ItemOf<L>> {
  for await (const page of pages(list, client, ...given)) yield* page.data.items;
}
