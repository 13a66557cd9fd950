import type { ComponentChildren } from 'preact';
import { useApi, useList, type Item } from '../lib/api';
import { decimalsOf, percent, scale } from '../lib/amount';
import { oldestFirst } from '../lib/fields';
import { setQuery, useQuery } from '../lib/router';
import { changed, liquidationPriceOf, mayOwe, ratioOf, type Numbers } from '../lib/vault';
import { A, Address, Amount, Bps, Card, Count, Facts, Failed, Kpi, Kpis, Market, Pill, State, Time, Tx, Waiting, symbolOf } from '../ui/bits';
import { TimePlot } from '../ui/series';
import { Table } from '../ui/table';
import type { PageProps } from '.';

const WHY = 'without a fresh price of both, the engine has no ratio';

/** From nothing to beyond the minimum: where the vault may be liquidated, where it may have no new debt, and where it is. */
function Health({ ratio, limit, minimum }: { ratio: bigint; limit: bigint; minimum: bigint }) {
  const end = [ratio, limit, minimum].reduce((a, b) => (a > b ? a : b)) * 5n / 4n + 1n;
  const at = (bps: bigint) => Number((bps * 1000n) / end) / 10;
  return (
    <svg class="health" viewBox="0 0 100 8" preserveAspectRatio="none" role="img"
      aria-label={`ratio ${percent(ratio)}, liquidated below ${percent(limit)}, new debt from ${percent(minimum)}`}>
      <rect x="0" y="2" width={at(limit)} height="4" class="fill-down" />
      <rect x={at(limit)} y="2" width={Math.max(0, at(minimum) - at(limit))} height="4" class="fill-warn" />
      <rect x={at(minimum)} y="2" width={100 - at(minimum)} height="4" class="fill-up" />
      <rect x={Math.min(99.4, at(ratio))} y="0" width="0.6" height="8" class="fill-text" />
    </svg>
  );
}

function Remedy({ of, v, about, there }: { of: Item | null; v: Item; about: string; there: string }) {
  if (!of) return <span class="dim">–</span>;
  if (of.collateral === '0' && of.debt === '0') return <Pill tone="good">{there}</Pill>;
  return <>add <Amount of={of} name="collateral" as={`${about}.collateral`} unit={symbolOf(v, 'collateralToken')} full /><br />or repay <Amount of={of} name="debt" as={`${about}.debt`} unit={v.synthTokenSymbol ?? v.market} full /></>;
}

function Slider({ id, label, least, children }: { id: string; label: string; least: number; children: ComponentChildren }) {
  const value = useQuery(id, '0');
  const set = (event: { currentTarget: HTMLInputElement }) => setQuery({ [id]: event.currentTarget.value === '0' ? null : event.currentTarget.value }, true);
  return (
    <div class="slider">
      <label for={`if-${id}`}>{label}</label>
      <input id={`if-${id}`} type="range" min={least} max="200" step="1" value={value} aria-valuetext={`${value} percent`} onInput={set} />
      <output for={`if-${id}`}>{children}</output>
    </div>
  );
}

const steps = (text: string, least: number) => (/^-?\d{1,3}$/.test(text) ? Math.min(200, Math.max(least, Number(text))) : 0);

/** What the vault would be at another price, with other amounts: by the rule of the contract. */
function WhatIf({ v }: { v: Item }) {
  const price = steps(useQuery('price', '0'), -99), held = steps(useQuery('held', '0'), -100), owed = steps(useQuery('owed', '0'), -100);
  if (v.collateralPrice == null || v.synthPrice == null) return <p class="notice warn">Nothing can be tried out: {WHY}.</p>;
  const own = decimalsOf(v.collateralScaled), synth = decimalsOf(v.debtScaled);
  const n: Numbers = { collateral: changed(BigInt(v.collateral), held), debt: changed(BigInt(v.debt), owed), collateralPrice: changed(BigInt(v.collateralPrice), price), synthPrice: BigInt(v.synthPrice) };
  const ratio = ratioOf(n), at = liquidationPriceOf(n, BigInt(v.liqRatioBps));
  const shown = (name: string, raw: bigint | null, decimals: number | null) => ({ [name]: raw?.toString(), [`${name}Scaled`]: raw === null || decimals === null ? null : scale(raw, decimals) });
  const then: Item = { ...shown('price', n.collateralPrice, 7), ...shown('held', n.collateral, own), ...shown('owed', n.debt, synth), ...shown('at', at, 7) };
  const liquidated = ratio !== null && ratio < BigInt(v.liqRatioBps), enough = mayOwe(n, BigInt(v.minCollRatioBps));
  return (
    <>
      <Slider id="price" least={-99} label={`Price of ${v.collateralOracleAsset}`}><Amount of={then} name="price" as="ifPrice" digits={4} unit="USD" /></Slider>
      <Slider id="held" least={-100} label="Collateral"><Amount of={then} name="held" as="ifCollateral" unit={symbolOf(v, 'collateralToken')} /></Slider>
      <Slider id="owed" least={-100} label="Debt"><Amount of={then} name="owed" as="ifDebt" unit={v.synthTokenSymbol ?? v.market} /></Slider>
      <Facts rows={[
        ['Ratio', <Bps raw={ratio} name="ifRatioBps" why="no debt" />],
        ['May be liquidated', liquidated ? <Pill tone="bad">yes</Pill> : <Pill tone="good">no</Pill>],
        ['Liquidated at', <Amount of={then} name="at" as="ifLiquidationPrice" digits={4} unit="USD" why="no debt" />],
        ['Enough for new debt or a withdrawal', enough || (held >= 0 && owed <= 0) ? <Pill tone="good">yes</Pill> : <Pill tone="bad">no</Pill>]]} />
      {(price || held || owed) !== 0 && <p><button type="button" onClick={() => setQuery({ price: null, held: null, owed: null }, true)}>As it is</button></p>}
    </>
  );
}

function History({ v, args }: { v: Item; args: Record<string, string> }) {
  const list = useList(`/api/vaults/${encodeURIComponent(args.market)}/${encodeURIComponent(args.owner)}/history`, { limit: 100 }, ['synthetic_engine_']);
  // The last version holds until now.
  const rows = [...oldestFirst(list.items), ...(v.state === 'closed' ? [] : [v])], file = `${args.market}-${args.owner}`;
  return (
    <>
      <Card><Waiting answer={list}><TimePlot title="Collateral over time" units={symbolOf(v, 'collateralToken')} rows={rows} file={`${file}-collateral`} series={[{ name: 'Collateral', field: 'collateral', colour: 'accent', area: true, step: true }]} /></Waiting></Card>
      <Card><Waiting answer={list}><TimePlot title="Debt over time" units={v.synthTokenSymbol ?? args.market} rows={rows} file={`${file}-debt`} series={[{ name: 'Debt', field: 'debt', colour: 'second', area: true, step: true }]} /></Waiting></Card>
      <Card title="History" wide><Waiting answer={list}>
        <Table caption="History of the vault" file={`${file}-history`} items={list.items} list={list} columns={[
          { label: 'Time (UTC)', cell: (h) => <Time of={h} name="closedAt" />, text: (h) => h.closedAt },
          { label: 'Call', cell: (h) => (h.closed ? 'closed' : (h.function ?? '–').replace(/_/g, ' ')), text: (h) => h.function },
          { label: 'Collateral', right: true, cell: (h) => <Amount of={h} name="collateral" unit={h.collateralTokenSymbol} />, text: (h) => h.collateralScaled },
          { label: 'Debt', right: true, cell: (h) => <Amount of={h} name="debt" />, text: (h) => h.debtScaled },
          { label: 'Transaction', cell: (h) => <Tx of={h.txHash} />, text: (h) => h.txHash }]} />
      </Waiting></Card>
    </>
  );
}

export default function VaultPage({ args }: PageProps) {
  const answer = useApi(`/api/vaults/${encodeURIComponent(args.market)}/${encodeURIComponent(args.owner)}`, {}, ['synthetic_engine_', 'oracle_']);
  const v = answer.data;
  if (!v) return answer.error ? <Failed problem={answer.error} /> : <Waiting answer={answer}>{null}</Waiting>;
  const head = <p class="break">Vault of <Address of={args.owner} whole /> in <Market of={args.market} />. <A to="/vaults" query={{ market: args.market }}>All vaults of the market</A></p>;
  if (v.state === 'closed') return <>{head}<p class="notice">This vault is closed since <Time of={v} name="changedAt" />.</p><div class="grid"><History v={v} args={args} /></div></>;
  const own = symbolOf(v, 'collateralToken'), synth = v.synthTokenSymbol ?? v.market, loss = v.ifLiquidated;
  return (
    <>
      {head}
      <Waiting answer={answer}>
        <Kpis>
          <Kpi label="State" note={v.unpricedBecause ? v.unpricedBecause.replace(/_/g, ' ') : undefined}><State of={v.state} /></Kpi>
          <Kpi label="Collateral ratio" note={<>liquidated below <Bps of={v} name="liqRatioBps" /></>}><Bps of={v} name="ratioBps" why={v.debt === '0' ? 'no debt' : WHY} /></Kpi>
          <Kpi label={`Liquidated when ${v.collateralOracleAsset ?? 'the collateral'} is at`} note={<>now <Amount of={v} name="collateralPrice" digits={4} unit="USD" why="not fresh" /></>}><Amount of={v} name="liquidationPrice" digits={4} unit="USD" why={v.debt === '0' ? 'no debt' : WHY} /></Kpi>
          <Kpi label="Which is a fall of"><Bps of={v} name="distanceBps" why={v.debt === '0' ? 'no debt' : WHY} /></Kpi>
          <Kpi label="Place in the queue" note={<>of <Count of={v} name="queueLength" /> with debt</>}><Count of={v} name="queuePosition" /></Kpi>
          <Kpi label="Debt" note={<><Amount of={v} name="debtValue" why={WHY} /> USD</>}><Amount of={v} name="debt" unit={synth} /></Kpi>
          <Kpi label="Collateral" note={<><Amount of={v} name="collateralValue" why={WHY} /> USD to the engine</>}><Amount of={v} name="collateral" unit={own} /></Kpi>
          <Kpi label="Opened" note={<>changed <Time of={v} name="updatedAt" /></>}><Time of={v} name="openedAt" /></Kpi>
        </Kpis>
      </Waiting>
      {v.ratioBps != null && BigInt(v.ratioBps) >= 0n && BigInt(v.liqRatioBps) > 0n && BigInt(v.minCollRatioBps) > 0n && <Health ratio={BigInt(v.ratioBps)} limit={BigInt(v.liqRatioBps)} minimum={BigInt(v.minCollRatioBps)} />}
      <div class="grid">
        <Card title="What to add"><Facts about="remedy" rows={[
          ['Minimum of new debt', <Bps of={v} name="minCollRatioBps" />], ['To reach it', <Remedy of={v.toMinimum} v={v} about="toMinimum" there="it is above" />],
          ['To be safe from liquidation', <Remedy of={v.toSafety} v={v} about="toSafety" there="it is safe" />]]} />
          <p class="dim">By the engine's own test at the present prices. Prices move: more is safer.</p></Card>
        <Card title="If it is liquidated"><Facts about="loss" rows={[
          [`At a price of ${v.collateralOracleAsset ?? 'the collateral'}`, <Amount of={loss} name="collateralPrice" digits={4} unit="USD" />], ['Debt repaid by the liquidator', <Amount of={loss} name="debt" unit={synth} full />],
          ['Penalty', <Bps of={v} name="liqPenaltyBps" />], ['To the liquidator', <Amount of={loss} name="collateralToLiquidator" unit={own} full />],
          ['To the stability pool', <Amount of={loss} name="collateralToStabilityPool" unit={own} full />]]} />
          <p class="dim">The owner keeps what was borrowed and none of the collateral. A liquidator may also repay a part.</p></Card>
        <Card title="What if" wide><WhatIf v={v} /></Card>
        <History v={v} args={args} />
      </div>
    </>
  );
}
