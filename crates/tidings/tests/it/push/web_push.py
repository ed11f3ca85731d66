"""The other end of Web Push for the test: keys of a browser, decryption and the check of VAPID.

It uses http_ece and cryptography, so that our own code is not its own judge.
"""
import base64
import json
import sys
import time

import http_ece
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def keys():
    private = ec.generate_private_key(ec.SECP256R1())
    point = private.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    number = private.private_numbers().private_value
    return {"p256dh": b64(point), "auth": b64(bytes(range(16))), "private": str(number)}


def check_vapid(header, origin, key):
    scheme, _, rest = header.partition(" ")
    assert scheme == "vapid", header
    fields = dict(part.strip().split("=", 1) for part in rest.split(","))
    assert fields["k"] == key, "the key is not the one that the page showed"
    signed, _, signature = fields["t"].rpartition(".")
    head, claims = (json.loads(unb64(part)) for part in signed.split("."))
    assert head["alg"] == "ES256", head
    assert claims["aud"] == origin, claims
    assert time.time() < claims["exp"] <= time.time() + 86400, claims
    assert claims["sub"].startswith(("mailto:", "https:")), claims
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), unb64(fields["k"]))
    raw = unb64(signature)
    der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    public.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))
    try:
        public.verify(der, signed.encode() + b"x", ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return
    raise AssertionError("any text passes the check")


def read(said):
    check_vapid(said["authorization"], said["origin"], said["key"])
    private = ec.derive_private_key(int(said["private"]), ec.SECP256R1())
    text = http_ece.decrypt(
        bytes.fromhex(said["body"]), private_key=private, auth_secret=unb64(said["auth"]),
        version="aes128gcm")
    return json.loads(text)


print(json.dumps(keys() if sys.argv[1] == "keys" else read(json.load(sys.stdin))))
