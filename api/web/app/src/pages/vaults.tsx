import { useEverything, useList, type Item } from '../lib/api';
import { marketOf } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { Address, Amount, Bps, Card, State, Time, Vault, Waiting } from '../ui/bits';
import { Table } from '../ui/table';
import { Fall, Liquidations } from '../ui/vaults';

const SORTS = [['risk', 'Distance to liquidation'], ['debt', 'Debt'], ['collateral', 'Collateral']];
const STATES = ['', 'active', 'at_risk', 'liquidatable', 'open', 'unpriced'];

export default function Vaults() {
  const market = useQuery('market'), state = useQuery('state'), sort = useQuery('sort', 'risk');
  const markets = useEverything('/api/markets', { limit: 200 });
  const names: string[] = markets.items.map(marketOf);
  const list = useList('/api/vaults', { sort: state ? null : sort, market, state, limit: 50 }, ['synthetic_engine_', 'oracle_']);
  const chosen = market || names.find((name) => markets.items.some((m: Item) => marketOf(m) === name && m.debt !== '0')) || names[0];
  return (
    <>
      <div class="row" role="group" aria-label="Which vaults">
        <label>Market <select value={market} onChange={(event) => setQuery({ market: event.currentTarget.value })}><option value="">all</option>{[...new Set([...names, ...(market ? [market] : [])])].map((name) => <option key={name} value={name}>{name}</option>)}</select></label>
        {markets.more && <span class="dim">The first {names.length} markets by name; search for others.</span>}
        <label>State <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>{STATES.map((one) => <option key={one} value={one}>{one ? one.replace('_', ' ') : 'all'}</option>)}</select></label>
        <label>Order <select value={state ? 'risk' : sort} disabled={state !== ''} onChange={(event) => setQuery({ sort: event.currentTarget.value === 'risk' ? null : event.currentTarget.value })}>{SORTS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
      </div>
      <Waiting answer={markets}>{chosen && <Fall market={chosen} />}</Waiting>
      <Card title="Vaults">
        <Waiting answer={list}>
          <Table caption="Vaults" file="vaults" items={list.items} list={list} keyOf={(v) => `${v.market}.${v.owner}`} columns={[
            { label: 'Vault', cell: (v) => <Vault market={v.market} owner={v.owner} />, text: (v) => v.market },
            { label: 'Owner', cell: (v) => <Address of={v.owner} />, text: (v) => v.owner },
            { label: 'State', cell: (v) => <span title={v.unpricedBecause ?? undefined}><State of={v.state} /></span>, text: (v) => v.state },
            { label: 'Ratio', right: true, percent: true, cell: (v) => <Bps of={v} name="ratioBps" />, text: (v) => v.ratioBps },
            { label: 'Liquidated below', right: true, percent: true, cell: (v) => <Bps of={v} name="liqRatioBps" />, text: (v) => v.liqRatioBps },
            { label: 'Distance', right: true, percent: true, cell: (v) => <Bps of={v} name="distanceBps" />, text: (v) => v.distanceBps },
            { label: 'Liquidated at, USD', right: true, cell: (v) => <Amount of={v} name="liquidationPrice" digits={4} />, text: (v) => v.liquidationPriceScaled },
            { label: 'Debt', right: true, cell: (v) => <Amount of={v} name="debt" unit={v.synthTokenSymbol ?? v.market} />, text: (v) => v.debtScaled },
            { label: 'Debt, USD', right: true, cell: (v) => <Amount of={v} name="debtValue" />, text: (v) => v.debtValueScaled },
            { label: 'Collateral', right: true, cell: (v) => <Amount of={v} name="collateral" unit={v.collateralTokenSymbol} />, text: (v) => v.collateralScaled },
            { label: 'Collateral, USD', right: true, cell: (v) => <Amount of={v} name="collateralValue" />, text: (v) => v.collateralValueScaled },
            { label: 'Changed', cell: (v) => <Time of={v} name="changedAt" />, text: (v) => v.changedAt }]} />
          <p class="dim">Vaults are listed by market, in each by the chosen order. Distance: how far the collateral's price must fall until the vault may be liquidated.</p>
        </Waiting>
      </Card>
      <Card title="Liquidations"><Liquidations params={{ market }} file="liquidations" /></Card>
    </>
  );
}
