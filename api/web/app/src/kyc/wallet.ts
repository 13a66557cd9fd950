// Signs a challenge (SEP-10) with a wallet of this browser, for /kyc. Loaded when the visitor asks for it. The challenge has
// sequence number 0, so no network accepts it as a transaction; the API verifies the signature, this module proves nothing.
// Of Stellar Wallets Kit it uses the modules of wallets that are browser extensions. It leaves out the kit's dialog, which
// puts pictures of another host into the page, which the policy refuses. It leaves out LOBSTR's module: its
// library is GPL-3.0. What is left out is not installed: package.json overrides it with an empty package.
import type { ModuleInterface } from '@creit.tech/stellar-wallets-kit/types';
import { FreighterModule } from '@creit.tech/stellar-wallets-kit/modules/freighter';
import { HanaModule } from '@creit.tech/stellar-wallets-kit/modules/hana';
import { KleverModule } from '@creit.tech/stellar-wallets-kit/modules/klever';
import { OneKeyModule } from '@creit.tech/stellar-wallets-kit/modules/onekey';
import { RabetModule } from '@creit.tech/stellar-wallets-kit/modules/rabet';

const wallets: ModuleInterface[] = [new FreighterModule(), new HanaModule(), new RabetModule(), new KleverModule(), new OneKeyModule()];
const ANSWER_MS = 3000; // an extension that is not there does not answer

export interface Wallet { id: string; name: string }
export type Signed =
  | { signed: string }
  | { signed?: undefined; fault: 'refused' | 'other'; why?: string; address?: string };

const isThere = (wallet: ModuleInterface) =>
  Promise.race([wallet.isAvailable().catch(() => false), new Promise<boolean>((no) => setTimeout(() => no(false), ANSWER_MS))]);

/** The wallets that this browser has. */
export async function found(): Promise<Wallet[]> {
  const there = await Promise.all(wallets.map(isThere));
  return wallets.filter((_, i) => there[i]).map((one) => ({ id: one.productId, name: one.productName }));
}

/** Signs with the wallet of that id, of `found`. */
export async function sign(id: string, transaction: string, networkPassphrase: string, address: string): Promise<Signed> {
  const wallet = wallets.find((one) => one.productId === id);
  try {
    if (!wallet) throw new Error('no such wallet');
    const chosen = await wallet.getAddress();
    if (chosen.address !== address) return { fault: 'other', address: chosen.address };
    const network = await wallet.getNetwork().catch(() => null); // some wallets do not say it
    if (network?.networkPassphrase && network.networkPassphrase !== networkPassphrase) return { fault: 'refused', why: `its network is ${network.network}` };
    const answer = await wallet.signTransaction(transaction, { networkPassphrase, address });
    if (answer.signerAddress && answer.signerAddress !== address) return { fault: 'other', address: answer.signerAddress };
    return answer.signedTxXdr ? { signed: answer.signedTxXdr } : { fault: 'refused', why: '' };
  } catch (error) {
    return { fault: 'refused', why: (error as { message?: string } | null)?.message ?? '' };
  }
}
