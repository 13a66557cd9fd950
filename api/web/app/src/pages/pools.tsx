import { useList } from '../lib/api';
import { Amount, Bps, Card, Count, Pill, Pool, Waiting, symbolOf } from '../ui/bits';
import { Table } from '../ui/table';

const big = (text: string | null | undefined) => (text == null ? null : BigInt(text));

export default function Pools() {
  const list = useList('/api/pools', { limit: 100 }, ['liquidity_pool_']);
  return (
    <Card>
      <Waiting answer={list}>
        <Table caption="Pools" file="pools" items={list.items} list={list} keyOf={(p) => p.pool} columns={[
          { label: 'Pool', cell: (p) => <><Pool of={p.pool} /> {p.paused && <Pill tone="bad">paused</Pill>}</>, text: (p) => p.pool, order: (p) => p.pool },
          { label: 'Pair', cell: (p) => `${symbolOf(p, 'tokenA')} / ${symbolOf(p, 'tokenB')}`, text: (p) => `${symbolOf(p, 'tokenA')} / ${symbolOf(p, 'tokenB')}` },
          { label: 'Price', right: true, cell: (p) => <Amount of={p} name="spotPrice" digits={4} unit={symbolOf(p, 'tokenB')} />, text: (p) => p.spotPriceScaled },
          { label: 'Change 24 h', right: true, percent: true, cell: (p) => <Bps of={p} name="change24hBps" signed tone />, text: (p) => p.change24hBps, order: (p) => big(p.change24hBps) },
          { label: 'TVL', right: true, cell: (p) => <Amount of={p} name="tvlQuote" unit="USDC" />, text: (p) => p.tvlQuoteScaled, order: (p) => big(p.tvlQuote) },
          { label: 'Volume 24 h', right: true, cell: (p) => <Amount of={p} name="volumeQuote24h" unit="USDC" />, text: (p) => p.volumeQuote24hScaled, order: (p) => big(p.volumeQuote24h) },
          { label: 'Fees 24 h', right: true, cell: (p) => <Amount of={p} name="feesQuote24h" unit="USDC" />, text: (p) => p.feesQuote24hScaled, order: (p) => big(p.feesQuote24h) },
          { label: 'Swaps 24 h', right: true, cell: (p) => <Count of={p} name="swaps24h" />, text: (p) => p.swaps24h, order: (p) => (p.swaps24h == null ? null : Number(p.swaps24h)) },
          { label: 'APR, 7 days', right: true, percent: true, cell: (p) => <Bps of={p} name="providerReturnBps" />, text: (p) => p.providerReturnBps, order: (p) => big(p.providerReturnBps) },
          { label: 'Fee', right: true, percent: true, cell: (p) => <Bps of={p} name="feeTierBps" />, text: (p) => p.feeTierBps },
          { label: 'Reserve A', right: true, cell: (p) => <Amount of={p} name="reserveA" unit={symbolOf(p, 'tokenA')} />, text: (p) => p.reserveAScaled },
          { label: 'Reserve B', right: true, cell: (p) => <Amount of={p} name="reserveB" unit={symbolOf(p, 'tokenB')} />, text: (p) => p.reserveBScaled },
        ]} />
        <p class="dim">APR, 7 days: what one share earned in fees in the last 7 days against what it is worth, for a year. It promises nothing.</p>
      </Waiting>
    </Card>
  );
}
