import { useApi, useList } from '../lib/api';
import { oldestFirst } from '../lib/fields';
import { Address, Amount, Card, Count, Facts, Kpi, Kpis, Pill, Time, Tx, Waiting } from '../ui/bits';
import { TimePlot } from '../ui/series';
import { Table } from '../ui/table';

const NAMES: Record<string, string> = { deposit: 'deposit', withdraw: 'withdrawal', claim: 'claim', absorb: 'debt absorbed' };

export default function Stability() {
  const live = ['stability_pool_', 'synthetic_engine_liquidate'];
  const answer = useApi('/api/stability-pool', {}, live);
  const deposits = useList('/api/stability-pool/deposits', { limit: 50 }, live);
  const events = useList('/api/stability-pool/events', { limit: 20 }, live);
  const days = useList('/api/stats/daily', { limit: 200 }, live);
  const p = answer.data;
  return (
    <>
      <Waiting answer={answer}>
        <Kpis>
          <Kpi label="Deposits" note={p?.paused ? <Pill tone="bad">paused</Pill> : undefined}><Amount of={p} name="totalDeposits" unit="USDC" /></Kpi>
          <Kpi label="Collateral gained ever"><Amount of={p} name="totalCollateralGained" /></Kpi>
          <Kpi label="Debts absorbed" note="what the engine handed over"><Count of={p} name="liquidationCount" /></Kpi>
          <Kpi label="Epoch · scale" note="the pool's books"><Count of={p} name="epoch" /> · <Count of={p} name="scale" /></Kpi>
        </Kpis>
      </Waiting>
      <div class="grid">
        <Card><Waiting answer={days}><TimePlot title="Deposits" units="USDC, end of day" rows={oldestFirst(days.items)} file="stability-pool" series={[{ name: 'Deposits', field: 'tvlStability', colour: 'third', area: true }]} /></Waiting></Card>
        <Card title="About">{p && <Facts rows={[['Contract', <Address of={p.contract} />], ['Takes', <><Address of={p.token} /> {p.tokenSymbol}</>], ['Engine', <Address of={p.engine} />], ['DAO', <Address of={p.dao} />],
          ['Compliance registry', <Address of={p.complianceRegistry} />], ['Changed', <Time of={p} name="changedAt" />]]} />}</Card>
        <Card title="Depositors" wide><Waiting answer={deposits}>
          <Table caption="Depositors" file="stability-deposits" items={deposits.items} list={deposits} keyOf={(d) => d.depositor} columns={[
            { label: 'Depositor', cell: (d) => <Address of={d.depositor} />, text: (d) => d.depositor },
            { label: 'Deposit now', right: true, cell: (d) => <Amount of={d} name="compoundedDeposit" unit="USDC" />, text: (d) => d.compoundedDepositScaled, order: (d) => (d.compoundedDeposit == null ? null : BigInt(d.compoundedDeposit)) },
            { label: 'When last touched', right: true, cell: (d) => <Amount of={d} name="initialValue" unit="USDC" />, text: (d) => d.initialValueScaled },
            { label: 'Unclaimed collateral', right: true, cell: (d) => <Amount of={d} name="collateralGain" />, text: (d) => d.collateralGainScaled, order: (d) => (d.collateralGain == null ? null : BigInt(d.collateralGain)) },
            { label: 'Since', cell: (d) => <Time of={d} name="depositedAt" />, text: (d) => d.depositedAt }]} />
        </Waiting></Card>
        <Card title="What happened" wide><Waiting answer={events}>
          <Table caption="Events of the stability pool" file="stability-events" items={events.items} list={events} columns={[
            { label: 'Time (UTC)', cell: (e) => <Time of={e} name="closedAt" />, text: (e) => e.closedAt },
            { label: 'What', cell: (e) => NAMES[e.type] ?? e.type, text: (e) => e.type },
            { label: 'Depositor', cell: (e) => <Address of={e.depositor} />, text: (e) => e.depositor },
            { label: 'Amount', right: true, cell: (e) => <Amount of={e} name="amount" />, text: (e) => e.amountScaled },
            { label: 'Debt absorbed', right: true, cell: (e) => <Amount of={e} name="debtAbsorbed" />, text: (e) => e.debtAbsorbedScaled },
            { label: 'Collateral', right: true, cell: (e) => <Amount of={e} name="collateralReward" />, text: (e) => e.collateralRewardScaled },
            { label: 'Transaction', cell: (e) => <Tx of={e.txHash} />, text: (e) => e.txHash }]} />
        </Waiting></Card>
      </div>
    </>
  );
}
