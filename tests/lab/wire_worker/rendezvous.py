# SPDX-License-Identifier: BSD-3-Clause
"""How the ranks of a job meet: what another rank than 0 does."""

import dataclasses
import hashlib
import os
import socket
import struct
import time

from calls import Job
from packets import number_of

_MAGIC, _VERSION = 0x54524942, 16
_WELCOME = struct.Struct(">IHH32s")
_HELLO = struct.Struct(">IHBBIIIHHIII16s16s8I28s")
_WORD = struct.Struct(">IHHI")
_AGREEMENT = struct.Struct(">I16sII")
_PEER = struct.Struct(">IHH28s")
assert [form.size for form in (_WELCOME, _HELLO, _WORD, _AGREEMENT, _PEER)] == [40, 128, 12, 28, 36]
_PROOF_BYTES = _NONCE_BYTES = 32

_SETTINGS = 8
_GREETING_NUMBER, _AGREEMENT_NUMBER, _OUTCOME_NUMBER, _CONCLUSION_NUMBER = range(4)
_RETRY_S = 0.02


@dataclasses.dataclass(frozen=True)
class Hello:
    rank: int
    world: int
    address: str
    ring_port: int
    payload_bytes: int
    window: int
    protocol: str
    fallback_is_error: bool = False
    job: int = 0
    port: int = 0
    settings: tuple[int, ...] = ()
    end: bytes = bytes(28)

    def encode(self) -> bytes:
        udp = 0
        name = self.protocol.encode()  # what was asked for, too
        settings = self.settings + (0,) * (_SETTINGS - len(self.settings))
        return _HELLO.pack(_MAGIC, _VERSION, udp, self.fallback_is_error, self.rank, self.world,
                           number_of(self.address), self.port, self.ring_port,
                           self.payload_bytes, self.window, self.job, name, name, *settings,
                           self.end)


class Proofs:
    """That who sent a message has the secret."""

    def __init__(self, secret: str, nonce_0: bytes, nonce: bytes):
        self._key = _hash(secret.encode()) if secret else b""
        self._nonces = nonce_0 + nonce

    def of(self, number: int, message: bytes) -> bytes:
        if not self._key:
            return bytes(_PROOF_BYTES)
        return _hash(struct.pack(">I", number) + self._nonces + _hash(message), self._key)

    def job_key(self, agreed: bytes) -> bytes:
        return _hash(agreed, self._key, len(agreed)) if self._key else agreed


def _hash(data: bytes, key: bytes = b"", size: int = 32) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=size).digest()


class Meeting:
    """With rank 0, from the greeting to the conclusion. `job` is what was agreed on, `ring` where each
    rank listens for the one before it: address and port."""

    def __init__(self, connection: socket.socket, hello: Hello, secret: str):
        self._connection = connection
        magic, version, has_secret, nonce_0 = _WELCOME.unpack(read(connection, _WELCOME.size))
        if (magic, version, has_secret) != (_MAGIC, _VERSION, bool(secret)):
            raise ValueError("this is no rendezvous of ours, or only one end has a secret")
        nonce = os.urandom(_NONCE_BYTES)
        self._proofs = Proofs(secret, nonce_0, nonce)
        said = hello.encode()
        connection.sendall(said + nonce + self._proofs.of(_GREETING_NUMBER, said))
        self._agree(self._read_word(_AGREEMENT_NUMBER), hello.rank)

    def _agree(self, body: bytes, rank: int) -> None:
        job, key, payload_bytes, window = _AGREEMENT.unpack_from(body)
        peers = list(_PEER.iter_unpack(body[_AGREEMENT.size:]))
        self.ring = [(address, port) for address, _, port, _ in peers]
        self.job = Job(job, self._proofs.job_key(key), rank,
                       [(address, port) for address, port, _, _ in peers], payload_bytes, window,
                       [end for _, _, _, end in peers])

    def conclude(self) -> None:
        """Once this rank has joined the ring: until all have."""
        word = _WORD.pack(_MAGIC, _VERSION, 0, 0)
        self._connection.sendall(word + self._proofs.of(_OUTCOME_NUMBER, word))
        self._read_word(_CONCLUSION_NUMBER)
        self._connection.close()

    def _read_word(self, number: int) -> bytes:
        head = read(self._connection, _WORD.size)
        magic, version, failed, length = _WORD.unpack(head)
        if (magic, version) != (_MAGIC, _VERSION):
            raise ValueError("this is no rendezvous of ours")
        body = read(self._connection, length)
        if read(self._connection, _PROOF_BYTES) != self._proofs.of(number, head + body):
            raise ValueError(f"rank 0 does not prove that it has the secret: {body!r}")
        if failed:
            raise ValueError(body.decode())
        return body


def meet(place: tuple[str, int], hello: Hello, secret: str, deadline: float) -> Meeting:
    while time.monotonic() < deadline:
        try:
            connection = socket.create_connection(place, timeout=deadline - time.monotonic())
            return Meeting(connection, hello, secret)
        except (ConnectionError, EOFError):
            time.sleep(_RETRY_S)  # nobody listens yet
    raise TimeoutError("not all ranks came")


def read(connection: socket.socket, count: int) -> bytes:
    """So many bytes, or EOFError."""
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data
