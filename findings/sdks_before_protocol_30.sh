#!/usr/bin/env bash
# The newest SDKs of npm and PyPI cannot read one ledger header of protocol 30, whose XDR the crate stellar-xdr 30.0.0 has: an unknown
# union arm of the close time ends the decoding of the whole ledger, not of that field. Needs Node.js, npm, Python with venv, and network.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# A StellarValue of type STELLAR_VALUE_SIGNED_MS (3) and an SCAddress of type SC_ADDRESS_TYPE_MUXED_CONTRACT (5), both written by the crate
# stellar-xdr 30.0.0, and the strkey that the crate stellar-strkey 1.0.0 gives the address.
value=AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAAAAAAaw4OAAAAAAAAAAADAAABoi7msxUAAAAAISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0AAAAADYWJjAA==
address=AAAABQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJyg=
strkey=WAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4HZAEERCGJBFEYTSQAICAMCAKBQHBCXHC

echo '{"type":"module"}' >package.json
npm install --silent --no-audit --no-fund @stellar/stellar-sdk@17.2.0
cat >read.mjs <<'END'
import { createRequire } from 'node:module';
import { Address, xdr } from '@stellar/stellar-sdk';
const [value, address, strkey] = process.argv.slice(2);
const show = (name, read) => {
  try {
    console.log(`js ${name}: ${read()}`);
  } catch (error) {
    console.log(`js ${name}: throws ${error.message}`);
  }
};
console.log(`js version: ${createRequire(import.meta.url)('./node_modules/@stellar/stellar-sdk/package.json').version}`);
show('value', () => typeof xdr.StellarValue.fromXDR(Buffer.from(value, 'base64')));
show('address', () => typeof xdr.ScAddress.fromXDR(Buffer.from(address, 'base64')));
show('strkey', () => new Address(strkey).toString());
END
node read.mjs "$value" "$address" "$strkey" | tee seen

python3 -m venv env
env/bin/pip install --quiet stellar-sdk==16.1.1
cat >read.py <<'END'
import sys
from stellar_sdk import Address, __version__, xdr

value, address, strkey = sys.argv[1:]


def show(name, read):
    try:
        print(f"python {name}: {read()}")
    except ValueError as e:
        print(f"python {name}: raises {e}")


print(f"python version: {__version__}")
show("value", lambda: type(xdr.StellarValue.from_xdr(value)))
show("address", lambda: type(xdr.SCAddress.from_xdr(address)))
show("strkey", lambda: Address(strkey).address)
show("cost types", lambda: len(xdr.ContractCostType))
END
env/bin/python read.py "$value" "$address" "$strkey" | tee -a seen

for line in 'js value: throws StellarValue.ext.v: unknown enum value 3' 'js address: throws ScAddress.type: unknown enum value 5' 'js strkey: throws Unsupported address type' \
    'python value: raises 3 is not a valid StellarValueType' 'python address: raises 5 is not a valid SCAddressType' 'python strkey: raises Unsupported address type' 'python cost types: 86'; do
    grep -qF "$line" seen || { echo "changed: no longer \"$line\"" >&2; exit 1; }
done
