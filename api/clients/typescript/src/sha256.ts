// SHA-256 of a stream: Web Crypto hashes only bytes that are all there, and a bucket may have gigabytes.

function constants(count: number, power: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    let prime = true;
    for (let i = 2; i * i <= n; i++) prime = prime && n % i !== 0;
    if (prime) found.push((((n ** power) % 1) * 2 ** 32) | 0);
  }
  return found;
}

const ROUND = new Int32Array(constants(64, 1 / 3)); // fractions of the cube roots of the first primes
const START = constants(8, 1 / 2);

const turned = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

export class Sha256 {
  private readonly state = new Int32Array(START);
  private readonly words = new Int32Array(64);
  private readonly block = new Uint8Array(64);
  private have = 0;
  private total = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    this.total += bytes.length;
    while (at < bytes.length) {
      const n = Math.min(64 - this.have, bytes.length - at);
      this.block.set(bytes.subarray(at, at + n), this.have);
      this.have += n;
      at += n;
      if (this.have === 64) this.mix();
    }
  }

  digest(): Uint8Array {
    const bits = this.total * 8;
    this.block.fill(0, this.have);
    this.block[this.have] = 0x80;
    this.have++;
    if (this.have > 56) {
      this.mix();
      this.block.fill(0);
    }
    const tail = new DataView(this.block.buffer);
    tail.setUint32(56, Math.floor(bits / 2 ** 32));
    tail.setUint32(60, bits >>> 0);
    this.mix();
    const out = new DataView(new ArrayBuffer(32));
    this.state.forEach((word, i) => out.setInt32(4 * i, word));
    return new Uint8Array(out.buffer);
  }

  private mix(): void {
    const w = this.words;
    const view = new DataView(this.block.buffer);
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      w[i] = (w[i - 16]! + (turned(a, 7) ^ turned(a, 18) ^ (a >>> 3)) + w[i - 7]! + (turned(b, 17) ^ turned(b, 19) ^ (b >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i]! + w[i]!) | 0;
      const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    const mixed = [a, b, c, d, e, f, g, h];
    for (let i = 0; i < 8; i++) this.state[i] = (this.state[i]! + mixed[i]!) | 0; // an Int32Array wraps, so no carry is lost
    this.have = 0;
  }
}
