// Signs a challenge (SEP-10) with the Freighter wallet, for /kyc. Loaded when the visitor asks for it. The challenge has
// sequence number 0, so no network accepts it as a transaction; the API verifies the signature, this module proves nothing.
import { getAddress, getNetworkDetails, isConnected, requestAccess, signTransaction } from '@stellar/freighter-api';

export type Signed =
  | { signed: string }
  | { signed?: undefined; fault: 'no_wallet' | 'refused' | 'other'; why?: string; address?: string };

const refused = (error: { message?: string } | undefined): Signed => ({ fault: 'refused', why: error?.message ?? '' });

export async function sign(transaction: string, networkPassphrase: string, address: string): Promise<Signed> {
  const connected = await isConnected();
  if (connected.error || !connected.isConnected) return { fault: 'no_wallet' };
  const access = await requestAccess();
  if (access.error) return refused(access.error);
  const chosen = await getAddress();
  if (chosen.error) return refused(chosen.error);
  if (chosen.address !== address) return { fault: 'other', address: chosen.address };
  const network = await getNetworkDetails();
  if (!network.error && network.networkPassphrase !== networkPassphrase) return { fault: 'refused', why: `its network is ${network.network}` };
  const answer = await signTransaction(transaction, { networkPassphrase, address });
  if (answer.error || !answer.signedTxXdr) return refused(answer.error);
  if (answer.signerAddress && answer.signerAddress !== address) return { fault: 'other', address: answer.signerAddress };
  return { signed: answer.signedTxXdr };
}
