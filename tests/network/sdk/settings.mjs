// Prints a ConfigUpgradeSet (base64), for a vote on Soroban's settings.
//
//   node settings.mjs clusters=4 txcount=10 instructions=100000000
//
// clusters      ledgerMaxDependentTxClusters
// txcount       ledgerMaxTxCount
// instructions  ledgerMaxInstructions and txMaxInstructions. A cluster takes transactions up to that limit; a set gets another
//               cluster only when the first is full.
import { xdr, rpc } from './lib.mjs';

const wanted = Object.fromEntries(process.argv.slice(2).map((word) => word.split('=')));
async function current(id) {
  const key = xdr.LedgerKey.configSetting(new xdr.LedgerKeyConfigSetting({ configSettingId: xdr.ConfigSettingId[id]() })).toXDR('base64');
  const answer = await rpc('getLedgerEntries', { keys: [key] });
  return xdr.LedgerEntryData.fromXDR(answer.entries[0].xdr, 'base64').configSetting();
}
const entries = [];
if (wanted.instructions) {
  const entry = await current('configSettingContractComputeV0');
  const limit = xdr.Int64.fromString(wanted.instructions);
  entry.contractCompute().ledgerMaxInstructions(limit);
  entry.contractCompute().txMaxInstructions(limit);
  entries.push(entry);
}
if (wanted.txcount) {
  entries.push(xdr.ConfigSettingEntry.configSettingContractExecutionLanes(
    new xdr.ConfigSettingContractExecutionLanesV0({ ledgerMaxTxCount: Number(wanted.txcount) })));
}
if (wanted.clusters) {
  entries.push(xdr.ConfigSettingEntry.configSettingContractParallelComputeV0(
    new xdr.ConfigSettingContractParallelComputeV0({ ledgerMaxDependentTxClusters: Number(wanted.clusters) })));
}
entries.sort((a, b) => a.switch().value - b.switch().value);
console.log(new xdr.ConfigUpgradeSet({ updatedEntry: entries }).toXDR('base64'));
