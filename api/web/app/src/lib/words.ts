/** What each kind of event says in words: one table, for lists of activity and for files. */
import { cut, percent } from './amount';
import type { Item } from './api';
import type { Names } from './names';
import { stamp } from './time';

/** A piece of a sentence: a text, or something with a page or exact digits of its own. */
export type Part = string | { text: string; to?: string; exact?: string; address?: string };

/** `{field}` and `{field:unit}` stand for the event's fields. A detail is told only where nothing else happened. */
interface Words { label: string; says: string | ((fields: Item) => string); detail?: boolean }

const w = (label: string, says: Words['says']): Words => ({ label, says });
const d = (label: string, says: Words['says']): Words => ({ label, says, detail: true });

const STATUS = ['unknown', 'pending', 'verified', 'suspended', 'sanctioned', 'expired'];
const SOURCES: Item = { swapfee: 'swap fees', stabfee: 'mint fees', liqfee: 'liquidation fees' };
const source = (f: Item) => (Object.hasOwn(SOURCES, f.source) ? SOURCES[f.source] : '{source}');

/** The first of a transaction's kinds in this order begins its sentence. */
const ACTIONS: Record<string, Words> = {
  synthetic_engine_liquidate: w('Liquidation', 'the vault of {owner} in {market} was liquidated, {collateralSeized:sent} of collateral seized'),
  liquidity_pool_swap: w('Swap', (f) => `{trader} swapped {amountIn:sold} for {amountOut:bought} in {pool}${f.partnerId === '0' ? '' : ' through partner {partnerId}'}`),
  liquidity_pool_add_liquidity: w('Liquidity added', '{provider} added {amountA:a} and {amountB:b} to {pool}'),
  liquidity_pool_remove_liquidity: w('Liquidity removed', '{provider} took {outA:a} and {outB:b} out of {pool}'),
  liquidity_pool_claim: w('Swap fees claimed', '{provider} claimed {claimA:a} and {claimB:b} of fees from {pool}'),
  synthetic_engine_open: w('Vault opened', '{owner} opened a vault in {market} with {collateralAmount:collateral} of collateral'),
  synthetic_engine_deposit: w('Collateral added', '{owner} added {amount:sent} of collateral to the vault in {market}'),
  synthetic_engine_mint: w('Minted', '{owner} minted {amount} {market}'),
  synthetic_engine_burn: w('Debt repaid', '{owner} repaid {amount} {market} of debt'),
  synthetic_engine_withdraw: w('Collateral taken', '{owner} took {amount:sent} of collateral out of the vault in {market}'),
  synthetic_engine_market_created: w('Market set up', 'market {market} was set up: {minCollRatioBps:bps} of collateral at least, liquidated below {liqRatioBps:bps}'),
  stability_pool_deposit: w('Stability deposit', '{depositor} deposited {amount:quote} into the stability pool'),
  stability_pool_withdraw: w('Stability withdrawal', '{depositor} withdrew {amount:quote} from the stability pool'),
  stability_pool_claim: w('Stability gain claimed', '{depositor} claimed {amount} of collateral from the stability pool'),
  compliance_registry_attest: w('Verified', (f) => `{subject} was verified${f.until ? ' until {until:time}' : ''} by {verifier}`),
  compliance_registry_revoke: w('Verification revoked', '{verifier} revoked the verification of {subject}'),
  compliance_registry_submit_attest: w('Attestation handed in', '{subject} handed in an attestation of {provider}'),
  compliance_registry_status_change: w('Status changed', '{account} changed from {oldStatus:status} to {newStatus:status}, reason {reason}'),
  compliance_registry_freeze: w('Account frozen', (f) => (f.reason === 'unfrz' ? '{account} was unfrozen' : '{account} was frozen, reason {reason}')),
  compliance_registry_travel: w('Travel-rule record', '{fromAddress} gave a travel-rule record of {amount} {asset} to {toAddress}'),
  compliance_registry_verifier_set: w('Verifier replaced', '{verifier} became the verifier'),
  compliance_registry_provider_reg: w('Provider registered', '{provider} registered the signer {signer}'),
  compliance_registry_block: w('Country blocked', 'the country with number {countryCode} was blocked'),
  dao_governance_executed: w('Proposal executed', 'proposal {proposalId} was executed'),
  dao_governance_cancelled: w('Proposal cancelled', 'proposal {proposalId} was cancelled'),
  dao_governance_proposed: w('Proposal made', '{proposer} made proposal {proposalId}'),
  dao_governance_voted: w('Vote', (f) => `{voter} voted ${f.support ? 'yes' : 'no'} on proposal {proposalId}`),
  dao_governance_msig_executed: w('Multisig executed', 'multisig transaction {txId} of proposal {proposalId} was executed'),
  dao_governance_msig_approved: w('Multisig decision', '{signer} approved or rejected multisig transaction {txId}'),
  dao_governance_msig_created: w('Multisig wallet or transaction', 'wallet {walletId}, where {threshold} of {signerCount} signers decide, was created or changed, or got a transaction'),
  partner_registry_register: w('Partner registered', '{owner} registered partner {partnerId}'),
  partner_registry_asset: w('Partner asset registered', '{partnerOwner} registered the asset {symbol} of partner {partnerId}'),
  partner_registry_live: w('Partner asset live', 'the asset {symbol} of partner {partnerId} went live'),
  partner_registry_deactivate: w('Partner deactivated', 'partner {partnerId} was deactivated'),
  partner_registry_claim: w('Partner paid', '{partnerOwner} claimed {claimable:quote} of partner revenue'),
  earnings_distributor_revenue_claimed: w('Earnings claimed', '{claimer} claimed {total:quote} of earnings'),
  earnings_distributor_epoch_closed: w('Epoch closed', 'epoch {epoch} of the earnings closed'),
  earnings_distributor_epoch_opened: w('Epoch opened', 'epoch {epoch} of the earnings opened'),
  oracle_provider: w('Price provider', (f) => (f.action === 'add' ? '{provider} became a price provider' : '{provider} is a price provider no longer')),
  synth_token_freeze: w('Token account frozen', (f) => `{account} was ${f.frozen ? 'frozen' : 'unfrozen'} in {itself}`),
  synth_token_clawback: w('Tokens clawed back', '{amount:itself} of {fromAddress} was taken back'),
  synth_token_approve: w('Token allowance', '{fromAddress} let {spender} spend {amount:itself}'),
  stellar_asset_clawback: w('Asset clawed back', '{amount:itself} of {fromAddress} was taken back'),
  stellar_asset_approve: w('Asset allowance', '{fromAddress} let {spender} spend {amount:itself}'),
  stellar_asset_set_authorized: w('Asset holder authorised', (f) => `{account} ${f.authorize ? 'may' : 'may not'} hold {itself}`),
  stellar_asset_set_admin: w('Asset administrator', '{newAdmin} became the administrator of {itself}'),
  oracle_price_aggregate: w('Price agreed', 'the price of {asset} was agreed at {medianPrice:usd}'),
  oracle_twap: w('Average price', 'the average price of {asset} became {twapPrice:usd}'),
};
for (const role of ['liquidity_pool', 'synthetic_engine', 'stability_pool', 'compliance_registry', 'partner_registry', 'earnings_distributor', 'oracle', 'dao_governance', 'synth_token'])
  ACTIONS[`${role}_executable_update`] = w(`Upgrade: ${role.replace(/_/g, ' ')}`, `the contract of the ${role.replace(/_/g, ' ')} was upgraded`);

const DETAILS: Record<string, Words> = {
  stability_pool_absorb: d('Debt absorbed', 'the stability pool absorbed {debtAbsorbed:quote} of debt for {collateralReward:sent} of collateral'),
  oracle_price_observation: d('Price reported', '{provider} reported {price:usd} for {asset}'),
  synth_token_mint: d('Tokens minted', '{amount:itself} was minted to {toAddress}'),
  synth_token_burn: d('Tokens burned', '{fromAddress} burned {amount:itself}'),
  synth_token_transfer: d('Token transfer', '{fromAddress} sent {amount:itself} to {toAddress}'),
  stellar_asset_mint: d('Asset issued', '{amount:itself} was issued to {toAddress}'),
  stellar_asset_burn: d('Asset returned', '{fromAddress} returned {amount:itself} to its issuer'),
  stellar_asset_transfer: d('Asset transfer', '{fromAddress} sent {amount:itself} to {toAddress}'),
  partner_registry_forward: d('Partner credited', 'partner {partnerId} was credited {amount:sent}'),
  earnings_distributor_partner_revenue_forwarded: d('Partner cut', (f) => `{partnerCut:sent} of ${source(f)} went to partner {partnerId}`),
  earnings_distributor_revenue_received: d('Fees received', (f) => `{amount:token} of ${source(f)} went to the earnings of epoch {epoch}`),
};

export const WORDS: Record<string, Words> = { ...ACTIONS, ...DETAILS };
const ORDER = new Map(Object.keys(WORDS).map((kind, i) => [kind, i]));

const assetCode = (asset: unknown) => (typeof asset !== 'string' ? null : asset === 'native' ? 'XLM' : asset.split(':')[0]);
const short = (address: string) => `${address.slice(0, 4)}…${address.slice(-4)}`;

/** What an amount of an event is counted in; '' where neither the event nor its transaction tells. */
function unitOf(unit: string, e: Item, field: string, all: Item[], names: Names): string {
  const f = e.fields, token = (address: string) => names.tokens.get(address) ?? '';
  const [a, b] = names.pools.get(f.pool) ?? ['', ''];
  switch (unit) {
    case 'a': return a;
    case 'b': return b;
    case 'sold': return f.aToB ? a : b;
    case 'bought': return f.aToB ? b : a;
    case 'quote': return 'USDC';
    case 'usd': return 'USD';
    case 'token': return token(f.token);
    case 'collateral': return token(f.collateralToken);
    case 'itself': return token(e.contract) || (e.kind.startsWith('stellar_asset') ? assetCode(f.asset) ?? '' : '');
    case 'sent': { // the token that moved in the same transaction
      const moved = all.find((one) => /_transfer$/.test(one.kind ?? '') && one.fields?.amount === f[field]);
      return moved ? unitOf('itself', moved, 'amount', all, names) : '';
    }
    default: return '';
  }
}

const PAGES: Record<string, (value: string) => string> = {
  pool: (v) => `/pools/${encodeURIComponent(v)}`, market: (v) => `/markets/${encodeURIComponent(v)}`, proposalId: (v) => `/governance?proposal=${encodeURIComponent(v)}`,
  txId: (v) => `/governance?multisig=${encodeURIComponent(v)}`, partnerId: (v) => `/partners/${encodeURIComponent(v)}`, epoch: (v) => `/earnings?epoch=${encodeURIComponent(v)}`,
};

function partOf(field: string, unit: string, e: Item, all: Item[], names: Names): Part {
  const f = e.fields, value = f[field];
  if (field === 'itself') return names.tokens.get(e.contract) ?? assetCode(f.asset) ?? short(e.contract);
  if (value == null) return 'an unknown one';
  if (unit === 'bps') return percent(value);
  if (unit === 'status') return STATUS[value] ?? String(value);
  if (unit === 'time') return stamp(value).slice(0, 10);
  if (`${field}Scaled` in f) {
    const of = unitOf(unit, e, field, all, names), scaled = f[`${field}Scaled`];
    return { text: `${scaled == null ? `${value} raw units` : cut(scaled, unit === 'usd' ? 4 : 2, 2)}${of && ` ${of}`}`, exact: scaled == null ? value : `${scaled}${of && ` ${of}`}` };
  }
  if (/^[GC][A-Z2-7]{55}$/.test(value)) return { text: short(value), to: `/address/${value}`, address: value };
  const page = PAGES[field];
  return page ? { text: String(value), to: page(String(value)) } : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function partsOf(template: string, e: Item, all: Item[], names: Names): Part[] {
  return template.split(/(\{[^}]*\})/).filter(Boolean).map((piece) => {
    const found = /^\{(\w+):?(\w*)\}$/.exec(piece);
    return found ? partOf(found[1], found[2], e, all, names) : piece;
  });
}

/**
 * A transaction's events in one sentence; null if no kind among them has words. Each kind is told once, at most three of
 * them, and the first event that happened stands for those of its kind.
 */
export function sentenceOf(events: Item[], names: Names): Part[] | null {
  const known = events.filter((e) => e.kind in WORDS && e.fields);
  const actions = known.filter((e) => !WORDS[e.kind].detail), from = actions.length ? actions : known;
  const kinds = [...new Set(from.map((e): string => e.kind))].sort((a, b) => (ORDER.get(a) as number) - (ORDER.get(b) as number));
  const parts: Part[] = [];
  let who: unknown;
  for (const kind of actions.length ? kinds.slice(0, 3) : kinds.slice(0, 1)) {
    const same = from.filter((e) => e.kind === kind), e = same[same.length - 1]; // the newest is the first of a list
    const { says } = WORDS[kind];
    const template = typeof says === 'string' ? says : says(e.fields);
    const begins = /^\{(\w+)\} /.exec(template), actor = begins && e.fields[begins[1]];
    const again = parts.length > 0 && actor != null && actor === who;
    if (parts.length) parts.push('; ');
    parts.push(...partsOf(again && begins ? template.slice(begins[0].length) : template, e, events, names));
    if (same.length > 1) parts.push(` (and ${same.length - 1} more)`);
    who = actor;
  }
  if (typeof parts[0] === 'string') parts[0] = parts[0].charAt(0).toUpperCase() + parts[0].slice(1);
  return parts.length ? parts : null;
}

export const plain = (parts: Part[]) => parts.map((part) => (typeof part === 'string' ? part : part.address ?? part.exact ?? part.text)).join('');
