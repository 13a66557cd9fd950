import { useEffect, useState } from 'preact/hooks';
import { useApi, useList, type Item } from '../lib/api';
import { count, percent } from '../lib/amount';
import { marketOf } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { Address, Amount, Bps, Card, Kpi, Kpis, Market, State, Time, Tx, Waiting } from '../ui/bits';
import { XyPlot } from '../ui/series';
import { Table } from '../ui/table';

const SORTS = [['risk', 'Distance to liquidation'], ['debt', 'Debt'], ['collateral', 'Collateral']];
const STATES = ['', 'active', 'at_risk', 'liquidatable', 'open', 'unpriced'];

/** What a liquidator got for the debt, against its price: seized collateral without the stability pool's part. */
const toLiquidator = (l: Item) => (BigInt(l.collateralSeized) - BigInt(l.collateralToStabilityPool ?? 0)).toString();

export function Fall({ market }: { market: string }) {
  const asked = useQuery('fall', '20');
  const [fall, setFall] = useState(asked);
  useEffect(() => setFall(asked), [asked]);
  const risk = useApi(`/api/markets/${encodeURIComponent(market)}/risk`, {}, ['synthetic_engine_', 'oracle_']);
  const items: Item[] = risk.data?.items ?? [];
  const at = items.find((i) => Number(i.fallBps) === Math.round(Number(fall) * 100)) ?? null;
  return (
    <Card title={`If the price of ${market}'s collateral falls`} wide>
      <div class="row">
        <label for="fall">Price falls by</label>
        <input id="fall" type="range" min="0" max="100" step="1" value={fall} aria-valuetext={`${fall} percent`}
          onInput={(event) => setFall(event.currentTarget.value)} onChange={(event) => setQuery({ fall: event.currentTarget.value }, true)} />
        <output for="fall" class="num">{fall} %</output>
      </div>
      <Waiting answer={risk}>
        <Kpis>
          <Kpi label="Vaults that may be liquidated"><span class="num" data-raw={String(at?.vaults)}>{count(at?.vaults)}</span></Kpi>
          <Kpi label="Their debt"><Amount of={at} name="debt" unit={market} /></Kpi>
          <Kpi label="Their collateral"><Amount of={at} name="collateral" /></Kpi>
        </Kpis>
        <XyPlot title="Debt that may be liquidated" units={`${market}, by fall of the collateral's price`} rows={items} file={`${market}-fall`} empty="No vault has debt and a price."
          plot={{ x: items.map((i) => Number(i.fallBps) / 100), time: false, xLabel: ' %', series: [{ name: 'Debt', colour: 'down', area: true, step: true, values: items.map((i) => Number(i.debtScaled)) }] }}
          columns={[
            { label: 'Fall', right: true, cell: (i) => percent(i.fallBps), text: (i) => i.fallBps },
            { label: 'Vaults', right: true, cell: (i) => count(i.vaults), text: (i) => i.vaults },
            { label: 'Debt', right: true, cell: (i) => <Amount of={i} name="debt" />, text: (i) => i.debtScaled },
            { label: 'Collateral', right: true, cell: (i) => <Amount of={i} name="collateral" />, text: (i) => i.collateralScaled }]}
          describe={(i) => `fall of ${percent(i.fallBps)}: ${i.vaults} vaults, debt ${i.debtScaled}`} />
      </Waiting>
    </Card>
  );
}

export function Liquidations({ params, file }: { params: Record<string, string | null>; file: string }) {
  const list = useList('/api/liquidations', { ...params, limit: 20 }, ['synthetic_engine_']);
  return (
    <Waiting answer={list}>
      <Table caption="Liquidations" file={file} items={list.items} list={list} columns={[
        { label: 'Time (UTC)', cell: (l) => <Time of={l.closedAt} />, text: (l) => l.closedAt },
        { label: 'Market', cell: (l) => <Market of={l.market} />, text: (l) => l.market },
        { label: 'Owner', cell: (l) => <Address of={l.owner} />, text: (l) => l.owner },
        { label: 'Liquidator', cell: (l) => <Address of={l.liquidator} />, text: (l) => l.liquidator },
        { label: 'Debt repaid', right: true, cell: (l) => <Amount of={l} name="debtRepaid" />, text: (l) => l.debtRepaidScaled },
        { label: 'Collateral seized', right: true, cell: (l) => <Amount of={l} name="collateralSeized" unit={l.collateralTokenSymbol} />, text: (l) => l.collateralSeizedScaled },
        { label: 'To the stability pool', right: true, cell: (l) => <Amount of={l} name="collateralToStabilityPool" />, text: (l) => l.collateralToStabilityPoolScaled },
        { label: 'Liquidator’s part', right: true, cell: (l) => <Bps of={BigInt(l.collateralSeized) ? (BigInt(toLiquidator(l)) * 10000n) / BigInt(l.collateralSeized) : null} />, text: toLiquidator },
        { label: 'Discount', right: true, cell: (l) => <Bps of={l.discountBps} />, text: (l) => l.discountBps },
        { label: 'Transaction', cell: (l) => <Tx of={l.txHash} />, text: (l) => l.txHash }]} />
    </Waiting>
  );
}

export default function Vaults() {
  const market = useQuery('market'), state = useQuery('state'), sort = useQuery('sort', 'risk');
  const markets = useApi('/api/markets', {}, null);
  const names: string[] = (markets.data?.items ?? []).map(marketOf);
  const list = useList('/api/vaults', { sort: state ? null : sort, market, state, limit: 50 }, ['synthetic_engine_', 'oracle_']);
  const chosen = market || names.find((name) => (markets.data?.items ?? []).some((m: Item) => marketOf(m) === name && m.debt !== '0')) || names[0];
  return (
    <>
      <div class="row" role="group" aria-label="Which vaults">
        <label>Market <select value={market} onChange={(event) => setQuery({ market: event.currentTarget.value })}><option value="">all</option>{names.map((name) => <option key={name} value={name}>{name}</option>)}</select></label>
        <label>State <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>{STATES.map((one) => <option key={one} value={one}>{one ? one.replace('_', ' ') : 'all'}</option>)}</select></label>
        <label>Order <select value={state ? 'risk' : sort} disabled={state !== ''} onChange={(event) => setQuery({ sort: event.currentTarget.value === 'risk' ? null : event.currentTarget.value })}>{SORTS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
      </div>
      {chosen && <Fall market={chosen} />}
      <Card title="Vaults">
        <Waiting answer={list}>
          <Table caption="Vaults" file="vaults" items={list.items} list={list} keyOf={(v) => `${v.market}.${v.owner}`} columns={[
            { label: 'Owner', cell: (v) => <Address of={v.owner} />, text: (v) => v.owner },
            { label: 'Market', cell: (v) => <Market of={v.market} />, text: (v) => v.market },
            { label: 'State', cell: (v) => <span title={v.unpricedBecause ?? undefined}><State of={v.state} /></span>, text: (v) => v.state },
            { label: 'Ratio', right: true, cell: (v) => <Bps of={v.ratioBps} />, text: (v) => v.ratioBps },
            { label: 'Liquidated below', right: true, cell: (v) => <Bps of={v.liqRatioBps} />, text: (v) => v.liqRatioBps },
            { label: 'Distance', right: true, cell: (v) => <Bps of={v.distanceBps} />, text: (v) => v.distanceBps },
            { label: 'Liquidation price', right: true, cell: (v) => <Amount of={v} name="liquidationPrice" digits={4} unit="USD" />, text: (v) => v.liquidationPriceScaled },
            { label: 'Debt', right: true, cell: (v) => <Amount of={v} name="debt" unit={v.synthTokenSymbol ?? v.market} />, text: (v) => v.debtScaled },
            { label: 'Debt value', right: true, cell: (v) => <Amount of={v} name="debtValue" unit="USD" />, text: (v) => v.debtValueScaled },
            { label: 'Collateral', right: true, cell: (v) => <Amount of={v} name="collateral" unit={v.collateralTokenSymbol} />, text: (v) => v.collateralScaled },
            { label: 'Collateral value', right: true, cell: (v) => <Amount of={v} name="collateralValue" unit="USD" />, text: (v) => v.collateralValueScaled },
            { label: 'Changed', cell: (v) => <Time of={v.changedAt} />, text: (v) => v.changedAt }]} />
          <p class="dim">Distance: how far the collateral's price must fall until the vault may be liquidated.</p>
        </Waiting>
      </Card>
      <Card title="Liquidations"><Liquidations params={{ market }} file="liquidations" /></Card>
    </>
  );
}
