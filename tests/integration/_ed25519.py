"""Ed25519 as RFC 8032 defines it, slow but sufficient to act as an account, and Stellar's text form of keys."""
import base64
import functools
import hashlib
import struct

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
BY = 4 * pow(5, P - 2, P) % P
BX = 15112221349535400772501151409588531511454012693041857206046113283949847762202


def add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    m, n = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point=(BX, BY, 1, BX * BY % P)):
    result = (0, 1, 1, 0)
    while n:
        if n & 1:
            result = add(result, point)
        point, n = add(point, point), n >> 1
    return result


def packed(point):
    x, y, z, _ = point
    inverse = pow(z, P - 2, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


class Account:
    def __init__(self, seed):
        h = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(h[:32], "little") & ~7 & (1 << 254) - 1 | 1 << 254
        self.prefix, self.public = h[32:], packed(times(self.scalar))
        self.address = strkey(6 << 3, self.public)

    @functools.cache  # the same message has the same signature, and tests sign one again and again
    def sign(self, message):
        r = int.from_bytes(hashlib.sha512(self.prefix + message).digest(), "little") % L
        point = packed(times(r))
        k = int.from_bytes(hashlib.sha512(point + self.public + message).digest(), "little") % L
        return point + ((r + k * self.scalar) % L).to_bytes(32, "little")


def strkey(version, payload):
    body, crc = bytes([version]) + payload, 0
    for byte in body:
        crc ^= byte << 8
        for _ in range(8):
            crc = crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1
            crc &= 0xffff
    return base64.b32encode(body + struct.pack("<H", crc)).decode().rstrip("=")
