// The types of the TypeScript package in a CommonJS module. Compiled, never run.
import tidemark = require('@tidemark/client');
import react = require('@tidemark/client/react');

const api = tidemark.createClient({ baseUrl: 'http://127.0.0.1:1' });
export const debt: Promise<bigint> = tidemark.market(api, { symbol: 'sGOLD' }).then((answer) => answer.data.debt);
export const use: (symbol: string) => unknown = (symbol) => react.useMarket(api, symbol).answer?.data;
