import { useList } from '../lib/api';
import { ratioBps } from '../lib/amount';
import { collateralBps, collateralWhy, debtValue, debtWhy, deviationWhy, marketDeviation, marketOf } from '../lib/fields';
import { Amount, Bps, Card, Count, Market, Meter, Pill, Price, Waiting } from '../ui/bits';
import { Table } from '../ui/table';

const big = (text: string | null | undefined) => (text == null ? null : BigInt(text));

export default function Markets() {
  const list = useList('/api/markets', { limit: 100 }, ['synthetic_engine_', 'oracle_', 'liquidity_pool_']);
  return (
    <Card>
      <Waiting answer={list}>
        <Table caption="Markets" file="markets" items={list.items} list={list} keyOf={marketOf} columns={[
          { label: 'Market', cell: (m) => <><Market of={marketOf(m)} /> {!m.complete && <Pill tone="warn" title="The past of its token is not indexed yet">incomplete</Pill>}{m.paused && <Pill tone="bad">paused</Pill>}{!m.enabled && <Pill tone="warn">closed to new debt</Pill>}</>, text: marketOf, order: marketOf },
          { label: 'Oracle', right: true, cell: (m) => <Price of={m.oracle} name="latestPrice" />, text: (m) => m.oracle?.latestPriceScaled, order: (m) => big(m.oracle?.latestPrice) },
          { label: 'TWAP', right: true, cell: (m) => <Price of={m.oracle} name="twapPrice" />, text: (m) => m.oracle?.twapPriceScaled },
          { label: 'Pool', right: true, cell: (m) => <Amount of={m} name="spotPrice" digits={4} />, text: (m) => m.spotPriceScaled },
          { label: 'Pool against oracle', right: true, percent: true, cell: (m) => <Bps raw={marketDeviation(m)} name="deviationBps" why={deviationWhy(m)} signed tone />, text: marketDeviation, order: marketDeviation },
          { label: 'Change 24 h', right: true, percent: true, cell: (m) => <Bps of={m} name="change24hBps" signed tone />, text: (m) => m.change24hBps, order: (m) => big(m.change24hBps) },
          { label: 'Volume 24 h', right: true, cell: (m) => <Amount of={m} name="volume24h" unit="USDC" />, text: (m) => m.volume24hScaled, order: (m) => big(m.volume24h) },
          { label: 'Debt', right: true, cell: (m) => <Amount of={m} name="debt" unit={m.synthTokenSymbol ?? m.market} />, text: (m) => m.debtScaled },
          { label: 'Debt, USD', right: true, cell: (m) => <Amount of={debtValue(m)} name="debtValue" why={debtWhy(m)} />, text: (m) => debtValue(m)?.debtValueScaled, order: (m) => big(debtValue(m)?.debtValue) },
          { label: 'Of ceiling', percent: true, cell: (m) => <Meter name="ceilingBps" bps={ratioBps(m.debt, m.debtCeiling)} label="Debt against ceiling" some={m.debt !== '0'} />, text: (m) => ratioBps(m.debt, m.debtCeiling), order: (m) => ratioBps(m.debt, m.debtCeiling) },
          { label: 'Collateral ratio', right: true, percent: true, cell: (m) => <Bps raw={collateralBps(m)} name="collateralBps" why={collateralWhy(m)} />, text: collateralBps, order: collateralBps },
          { label: 'Vaults', right: true, cell: (m) => <span title="with debt, of all"><Count of={m} name="indebtedVaultCount" /> of <Count of={m} name="vaultCount" /></span>, text: (m) => m.vaultCount, order: (m) => Number(m.vaultCount) },
        ]} />
      </Waiting>
    </Card>
  );
}
