import { useEffect, useState } from 'preact/hooks';
import { useApi, useList, type Item } from '../lib/api';
import { decimalsOf, ratioBps, unscale } from '../lib/amount';
import { oldestFirst } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { Address, Amount, Bps, Card, Count, Facts, Failed, Kpi, Kpis, Pill, Time, Tx, Waiting, symbolOf } from '../ui/bits';
import { Candles, TimePlot, useInterval } from '../ui/series';
import { Table } from '../ui/table';
import type { PageProps } from '.';

const INTERVALS = ['5m', '15m', '1h', '4h', '1d', '1w'];

function Interval() {
  const usual = useInterval(), interval = useQuery('interval', usual);
  return <div class="row" role="group" aria-label="Interval">{INTERVALS.map((one) =>
    <button key={one} type="button" aria-pressed={one === interval} onClick={() => setQuery({ interval: one === usual ? null : one }, true)}>{one}</button>)}</div>;
}

/** What a swap of an amount would give now, by the contract's own arithmetic. */
function Quote({ pool }: { pool: Item }) {
  const way = useQuery('direction', 'a_to_b'), shown = useQuery('amount', '');
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const tokens = way === 'a_to_b' ? ['tokenA', 'tokenB'] : ['tokenB', 'tokenA'];
  const decimals = decimalsOf(pool[way === 'a_to_b' ? 'reserveAScaled' : 'reserveBScaled']);
  const raw = shown && decimals !== null ? unscale(shown, decimals) : null;
  const quote = useApi(raw ? `/api/pools/${encodeURIComponent(pool.pool)}/quote` : null, { amountIn: raw, direction: way }, ['liquidity_pool_']);
  const wrong = text !== '' && (decimals === null || unscale(text, decimals) === null);
  const q = quote.data;
  return (
    <Card title="Slippage">
      <form class="row" onSubmit={(event) => { event.preventDefault(); if (!wrong) setQuery({ amount: text.trim() }, true); }}>
        <label>Swap <input value={text} inputMode="decimal" autocomplete="off" aria-invalid={wrong} onInput={(event) => setText(event.currentTarget.value)} placeholder="1000" /></label>
        <label><span class="hidden">Direction</span><select value={way} onChange={(event) => setQuery({ direction: event.currentTarget.value === 'a_to_b' ? null : event.currentTarget.value }, true)}>
          <option value="a_to_b">{symbolOf(pool, 'tokenA')} for {symbolOf(pool, 'tokenB')}</option><option value="b_to_a">{symbolOf(pool, 'tokenB')} for {symbolOf(pool, 'tokenA')}</option></select></label>
        <button type="submit" disabled={wrong || text.trim() === ''}>Quote</button>
      </form>
      {wrong && <p class="notice warn">{decimals === null ? 'The decimals of this token are not known.' : `An amount has digits and at most ${decimals} decimals.`}</p>}
      {raw && <Waiting answer={quote}>{q && <Facts rows={[
        ['Receives', <Amount of={q} name="amountOut" unit={symbolOf(pool, tokens[1])} full />],
        ['Fee', <Amount of={q} name="fee" unit={symbolOf(pool, tokens[0])} full />],
        ['Price moves by', <Bps of={q} name="impactBps" />],
        ['Price before', <Amount of={q} name="spotPrice" full />],
        ['The pool would swap', q.swappable ? <Pill tone="good">yes</Pill> : <Pill tone="bad">{q.reasonCode}</Pill>],
      ]} />}</Waiting>}
    </Card>
  );
}

export default function PoolPage({ args }: PageProps) {
  const path = `/api/pools/${encodeURIComponent(args.pool)}`;
  const interval = useQuery('interval', useInterval());
  const answer = useApi(path, {}, ['liquidity_pool_']);
  const candles = useList(`${path}/candles`, { interval, limit: 200 }, ['liquidity_pool_']);
  const daily = useList(`${path}/daily`, { limit: 200 }, ['liquidity_pool_']);
  const swaps = useList(`${path}/swaps`, { limit: 20 }, ['liquidity_pool_swap']);
  const positions = useList(`${path}/positions`, { limit: 50 }, ['liquidity_pool_']);
  const pool = answer.data;
  if (!pool) return answer.error ? <Failed problem={answer.error} /> : <Waiting answer={answer}>{null}</Waiting>;
  const a = symbolOf(pool, 'tokenA'), b = symbolOf(pool, 'tokenB');
  const days = oldestFirst(daily.items);
  return (
    <>
      <Waiting answer={answer}>
        <Kpis>
          <Kpi label={`Price of ${a}`} note={<><Bps of={pool} name="change24hBps" signed tone /> in 24 h</>}><Amount of={pool} name="spotPrice" digits={4} unit={b} /></Kpi>
          <Kpi label="Total value locked"><Amount of={pool} name="tvlQuote" unit="USDC" /></Kpi>
          <Kpi label="Volume 24 h" note={<><Count of={pool} name="swaps24h" /> swaps</>}><Amount of={pool} name="volumeQuote24h" unit="USDC" /></Kpi>
          <Kpi label="Fees 24 h" note={<>fee of a swap <Bps of={pool} name="feeTierBps" /></>}><Amount of={pool} name="feesQuote24h" unit="USDC" /></Kpi>
          <Kpi label="Providers' APR, 7 days" note="what a share earned in fees"><Bps of={pool} name="providerReturnBps" /></Kpi>
          <Kpi label={`Reserve of ${a}`}><Amount of={pool} name="reserveA" unit={a} /></Kpi>
          <Kpi label={`Reserve of ${b}`}><Amount of={pool} name="reserveB" unit={b} /></Kpi>
        </Kpis>
      </Waiting>
      {pool.paused && <p class="banner bad">This pool is paused.</p>}
      <div class="grid">
        <Card wide><Waiting answer={candles} lines={14}><div class="tall"><Candles title={`${a} in ${b}`} units={`price in ${b}, volume in USDC, UTC`} rows={oldestFirst(candles.items)} file={`${pool.pool}-candles-${interval}`} aside={<Interval />} empty="No trades." /></div></Waiting></Card>
        <Card><Waiting answer={daily}><TimePlot title="Reserves" units="tokens, end of day" rows={days} file={`${pool.pool}-reserves`} series={[{ name: a, field: 'reserveA', colour: 'accent' }, { name: b, field: 'reserveB', colour: 'second' }]} /></Waiting></Card>
        <Card><Waiting answer={daily}><TimePlot title="Fees" units="USDC a day" rows={days} file={`${pool.pool}-fees`} series={[{ name: 'Fees', field: 'feesQuote', colour: 'accent', bars: true }]} /></Waiting></Card>
        <Quote pool={pool} />
        <Card title="About"><Facts rows={[
          [`Token ${a}`, <Address of={pool.tokenA} />], [`Token ${b}`, <Address of={pool.tokenB} />], ['Contract', <Address of={pool.contract} />],
          ['Shares', <Count of={pool} name="totalShares" />], [`Traded ever, ${a}`, <Amount of={pool} name="cumulativeVolumeA" />], [`Traded ever, ${b}`, <Amount of={pool} name="cumulativeVolumeB" />],
          ['Changed', <Time of={pool} name="changedAt" />]]} /></Card>
        <Card title="Liquidity providers" wide><Waiting answer={positions}>
          <Table caption="Liquidity providers" file={`${pool.pool}-providers`} items={positions.items} list={positions} keyOf={(p) => p.provider} columns={[
            { label: 'Provider', cell: (p) => <Address of={p.provider} />, text: (p) => p.provider },
            { label: 'Share', right: true, percent: true, cell: (p) => <Bps raw={ratioBps(p.shares, pool.totalShares)} name="shareBps" />, text: (p) => ratioBps(p.shares, pool.totalShares), order: (p) => BigInt(p.shares) },
            { label: a, right: true, cell: (p) => <Amount of={p} name="underlyingA" />, text: (p) => p.underlyingAScaled },
            { label: b, right: true, cell: (p) => <Amount of={p} name="underlyingB" />, text: (p) => p.underlyingBScaled },
            { label: 'Value, USDC', right: true, cell: (p) => <Amount of={p} name="valueQuote" why="neither token is USDC" />, text: (p) => p.valueQuoteScaled },
            { label: `Claimable ${a}`, right: true, cell: (p) => <Amount of={p} name="claimableA" />, text: (p) => p.claimableAScaled },
            { label: `Claimable ${b}`, right: true, cell: (p) => <Amount of={p} name="claimableB" />, text: (p) => p.claimableBScaled },
            { label: 'Since', cell: (p) => <Time of={p} name="depositedAt" />, text: (p) => p.depositedAt }]} />
        </Waiting></Card>
        <Card title="Swaps" wide><Waiting answer={swaps}>
          <Table caption="Swaps" file={`${pool.pool}-swaps`} items={swaps.items} list={swaps} columns={[
            { label: 'Time (UTC)', cell: (s) => <Time of={s} name="closedAt" />, text: (s) => s.closedAt },
            { label: 'Trader', cell: (s) => <Address of={s.trader} />, text: (s) => s.trader },
            { label: 'In', right: true, cell: (s) => <Amount of={s} name="amountIn" unit={s.direction === 'a_to_b' ? a : b} />, text: (s) => s.amountInScaled },
            { label: 'Out', right: true, cell: (s) => <Amount of={s} name="amountOut" unit={s.direction === 'a_to_b' ? b : a} />, text: (s) => s.amountOutScaled },
            { label: 'Transaction', cell: (s) => <Tx of={s.txHash} />, text: (s) => s.txHash }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
