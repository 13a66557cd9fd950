// Says when a price leaves a range: node alert.mjs XLM 0.30 0.45
import { createClient, formatAmount, parseAmount, price, stream } from '@tidemark/client';

const [asset, low, high] = process.argv.slice(2);
const { TIDEMARK_API_URL = 'http://127.0.0.1:8080' } = process.env;
const api = createClient({ baseUrl: TIDEMARK_API_URL });
const decimals = 7; // of all prices
const now = await price(api, { asset });
const [least, most] = [parseAmount(low, decimals), parseAmount(high, decimals)];
console.log(`${asset} ${now.data.latestPriceScaled ?? 'unknown'} at ledger ${now.ledger}${now.data.stale ? ', stale' : ''}`);
let outside = false;
for await (const message of stream(api, { topics: ['price'], assets: [asset] })) {
  if (message.type === 'stale') console.log('prices are not known to be fresh');
  if (message.type !== 'price' || message.data.latestPrice === null) continue;
  const latest = message.data.latestPrice;
  const isOutside = latest < least || latest > most;
  if (isOutside !== outside) console.log(`ALERT ${asset} ${formatAmount(latest, decimals)} is ${isOutside ? 'outside' : 'back inside'} ${low} to ${high}, ledger ${message.data.ledger}`);
  outside = isOutside;
}
