// Lists: `next` of one page is the cursor of the page after.
import { TidemarkError, type Answer, type CallOptions, type Client } from './client.js';

type Page<I> = { items: I[]; next: string | null };
type List<P, I> = (client: Client, params: P, options?: CallOptions) => Promise<Answer<Page<I>>>;

/** The pages of a list, one after the other. */
export async function* pages<P extends { cursor?: string }, I>(list: List<P, I>, client: Client, params: P, options?: CallOptions): AsyncGenerator<Answer<Page<I>>> {
  for (let cursor = params.cursor; ; ) {
    const page = await list(client, { ...params, ...(cursor === undefined ? {} : { cursor }) }, options);
    const { items, next } = page.data;
    // A list without its cursor, or with the same again, would go round for ever.
    if (!Array.isArray(items) || (next !== null && (typeof next !== 'string' || next === cursor))) throw new TidemarkError('not_json', 'the answer is no page of a list');
    yield page;
    if (next === null) return;
    cursor = next;
  }
}

/** The items of a list, page by page as they are asked for: `for await (const swap of items(poolSwaps, client, { pool }))`. */
export async function* items<P extends { cursor?: string }, I>(list: List<P, I>, client: Client, params: P, options?: CallOptions): AsyncGenerator<I> {
  for await (const page of pages(list, client, params, options)) yield* page.data.items;
}
