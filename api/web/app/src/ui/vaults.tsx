/** What pages of vaults and of a market share: the fall of a price, and liquidations. */
import { useEffect, useState } from 'preact/hooks';
import { useApi, useList, type Item } from '../lib/api';
import { count, percent } from '../lib/amount';
import { setQuery, useQuery } from '../lib/router';
import { Address, Amount, Bps, Card, Count, Kpi, Kpis, Market, Time, Tx, Waiting } from './bits';
import { XyPlot } from './series';
import { Table } from './table';

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
        {risk.data?.unpricedBecause && <p class="notice warn">Without a fresh price nothing can be said: {risk.data.unpricedBecause.replace(/_/g, ' ')}.</p>}
        {risk.data && risk.data.unpriced > 0 && <p class="notice warn">{count(risk.data.unpriced)} of {count(risk.data.vaults)} vaults have no ratio and are in none of these figures.</p>}
        {risk.data?.complete === false && <p class="notice warn">This market has so many vaults that only the riskiest are counted.</p>}
        <Kpis>
          <Kpi label="Vaults that may be liquidated"><Count of={at} name="vaults" as="vaultsAtFall" /></Kpi>
          <Kpi label="Their debt"><Amount of={at} name="debt" as="debtAtFall" unit={market} /></Kpi>
          <Kpi label="Their collateral"><Amount of={at} name="collateral" as="collateralAtFall" /></Kpi>
        </Kpis>
        <XyPlot title="Debt that may be liquidated" units={`${market}, by fall of the collateral's price`} rows={items} file={`${market}-fall`} empty="No vault has debt and a price."
          plot={{ x: items.map((i) => Number(i.fallBps) / 100), time: false, xLabel: ' %', series: [{ name: 'Debt', colour: 'down', area: true, step: true, values: items.map((i) => Number(i.debtScaled)) }] }}
          columns={[
            { label: 'Fall', right: true, percent: true, cell: (i) => <Bps of={i} name="fallBps" />, text: (i) => i.fallBps },
            { label: 'Vaults', right: true, cell: (i) => <Count of={i} name="vaults" />, text: (i) => i.vaults },
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
        { label: 'Time (UTC)', cell: (l) => <Time of={l} name="closedAt" />, text: (l) => l.closedAt },
        { label: 'Market', cell: (l) => <Market of={l.market} />, text: (l) => l.market },
        { label: 'Owner', cell: (l) => <Address of={l.owner} />, text: (l) => l.owner },
        { label: 'Liquidator', cell: (l) => <Address of={l.liquidator} />, text: (l) => l.liquidator },
        { label: 'Debt repaid', right: true, cell: (l) => <Amount of={l} name="debtRepaid" />, text: (l) => l.debtRepaidScaled },
        { label: 'Collateral seized', right: true, cell: (l) => <Amount of={l} name="collateralSeized" unit={l.collateralTokenSymbol} />, text: (l) => l.collateralSeizedScaled },
        { label: 'To the pool', right: true, cell: (l) => <Amount of={l} name="collateralToStabilityPool" />, text: (l) => l.collateralToStabilityPoolScaled },
        { label: 'Debt, USD', right: true, cell: (l) => <Amount of={l} name="debtValue" why="the prices of that ledger are not indexed" />, text: (l) => l.debtValueScaled },
        { label: 'Collateral, USD', right: true, cell: (l) => <Amount of={l} name="collateralValue" why="the prices of that ledger are not indexed" />, text: (l) => l.collateralValueScaled },
        { label: 'Discount', right: true, percent: true, cell: (l) => <Bps of={l} name="discountBps" why="the prices of that ledger are not indexed" />, text: (l) => l.discountBps },
        { label: 'Transaction', cell: (l) => <Tx of={l.txHash} />, text: (l) => l.txHash }]} />
      <p class="dim">Discount: what the liquidator paid less than the collateral was worth, at the oracle's prices in that transaction. Below zero: the vault held less than its debt.</p>
    </Waiting>
  );
}
